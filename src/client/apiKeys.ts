/** API key calls. service-interface.md §4.2. */
import type { Page } from '../contract/lists.ts';
import type {
  CreateApiKeyRequest,
  ListApiKeysQuery,
  UpdateApiKeyRequest,
} from '../contract/requests/apiKeys.ts';
import type { ApiKey, CreatedApiKey, RevokedApiKey } from '../contract/resources/apiKey.ts';
import type { Calls } from './calls.ts';
import type { CallOptions } from './send.ts';

/** Every method throws PaymentServiceError. A change of a key is never sent twice. */
export interface ApiKeyCalls {
  /**
   * Creates a secret key. Only this response contains it. If the response is lost, find the key in
   * the list and revoke it: nobody can read it anymore.
   */
  create: (
    merchantId: string,
    request: CreateApiKeyRequest,
    options?: CallOptions,
  ) => Promise<CreatedApiKey>;
  /** One page, newest first. */
  list: (
    merchantId: string,
    query?: ListApiKeysQuery,
    options?: CallOptions,
  ) => Promise<Page<ApiKey>>;
  /** Retrieves a key's metadata, never the key itself. */
  retrieve: (merchantId: string, keyId: string, options?: CallOptions) => Promise<ApiKey>;
  /** Updates name, description or expiration. Fields that are not sent stay as they are. */
  update: (
    key: { readonly merchantId: string; readonly keyId: string },
    request: UpdateApiKeyRequest,
    options?: CallOptions,
  ) => Promise<ApiKey>;
  /**
   * Revokes a key. From then on the service rejects it with AU_02. Undefined where the service sends no
   * result.
   */
  revoke: (
    merchantId: string,
    keyId: string,
    options?: CallOptions,
  ) => Promise<RevokedApiKey | undefined>;
}

export function createApiKeyCalls({ call, page }: Calls): ApiKeyCalls {
  const of = (merchant_id: string) => ({ params: { merchant_id } });
  const on = (merchant_id: string, key_id: string) => ({ params: { merchant_id, key_id } });
  return {
    create: (merchantId, body, options) =>
      call('createApiKey', { ...of(merchantId), body }, options),
    list: (merchantId, query = {}, options) =>
      page('listApiKeys', { ...of(merchantId), query }, options),
    retrieve: (merchantId, keyId, options) =>
      call('retrieveApiKey', on(merchantId, keyId), options),
    update: ({ merchantId, keyId }, body, options) =>
      call('updateApiKey', { ...on(merchantId, keyId), body }, options),
    revoke: (merchantId, keyId, options) => call('revokeApiKey', on(merchantId, keyId), options),
  };
}
