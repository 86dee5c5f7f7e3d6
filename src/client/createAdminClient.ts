/**
 * The client of who administers the account. It is another one than the shop's, so that a shop never
 * holds a key that can make keys. service-interface.md §5.2.
 */
import { type ApiKeyCalls, createApiKeyCalls } from './apiKeys.ts';
import { createCalls } from './calls.ts';
import { type ClientOptions, readAdminSettings } from './settings.ts';

/** Every call throws PaymentServiceError and nothing else. */
export interface AdminClient {
  readonly apiKeys: ApiKeyCalls;
}

/**
 * Makes a client with an administrative key, `admin_…`, as `apiKey`.
 * @throws TypeError for an address that is neither https nor this machine, another kind of key, or a
 * retry option that is no number.
 */
export function createAdminClient(options: ClientOptions): AdminClient {
  return { apiKeys: createApiKeyCalls(createCalls(readAdminSettings(options))) };
}
