/**
 * The client for administering the account. It is separate from the shop's client, so that a shop
 * never holds a key that can create keys. service-interface.md §5.2.
 */
import { type ApiKeyCalls, createApiKeyCalls } from './apiKeys.ts';
import { createCalls } from './calls.ts';
import { type ClientOptions, readAdminSettings } from './settings.ts';

/** Every call throws PaymentServiceError and nothing else. */
export interface AdminClient {
  readonly apiKeys: ApiKeyCalls;
}

/**
 * Creates a client with an administrative key, `admin_…`, as `apiKey`.
 * @throws TypeError for a URL that is neither https nor this machine, another kind of key, or an
 * invalid retry option.
 */
export function createAdminClient(options: ClientOptions): AdminClient {
  return { apiKeys: createApiKeyCalls(createCalls(readAdminSettings(options))) };
}
