/** Calls about API keys. service-interface.md §4.2. */
import type { Page } from '../contract/lists.ts';
import type {
  CreateApiKeyRequest,
  ListApiKeysQuery,
  UpdateApiKeyRequest,
} from '../contract/requests/apiKeys.ts';
import type { ApiKey, CreatedApiKey, RevokedApiKey } from '../contract/resources/apiKey.ts';
import type { Calls } from './calls.ts';
import type { CallOptions } from './send.ts';

/** Every method throws PaymentServiceError. What changes a key is never sent twice. */
export interface ApiKeyCalls {
  /**
   * Creates a secret key. The answer is the only one that holds it: a key whose answer was lost is
   * found in the list, of no use, and to be revoked.
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
  /** Reads what is told about a key, which is never the key itself. */
  retrieve: (merchantId: string, keyId: string, options?: CallOptions) => Promise<ApiKey>;
  /** Changes name, description or expiration. What is not sent stays. */
  update: (
    key: { readonly merchantId: string; readonly keyId: string },
    request: UpdateApiKeyRequest,
    options?: CallOptions,
  ) => Promise<ApiKey>;
  /** From then on the key is refused with AU_02. */
  revoke: (merchantId: string, keyId: string, options?: CallOptions) => Promise<RevokedApiKey>;
}

export function createApiKeyCalls({ one, page }: Calls): ApiKeyCalls {
  const of = (merchant_id: string) => ({ params: { merchant_id } });
  const on = (merchant_id: string, key_id: string) => ({ params: { merchant_id, key_id } });
  return {
    create: (merchantId, body, options) =>
      one('createApiKey', { ...of(merchantId), body }, options),
    list: (merchantId, query = {}, options) =>
      page('listApiKeys', { ...of(merchantId), query }, options),
    retrieve: (merchantId, keyId, options) => one('retrieveApiKey', on(merchantId, keyId), options),
    update: ({ merchantId, keyId }, body, options) =>
      one('updateApiKey', { ...on(merchantId, keyId), body }, options),
    revoke: (merchantId, keyId, options) => one('revokeApiKey', on(merchantId, keyId), options),
  };
}
