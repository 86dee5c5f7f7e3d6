/** Endpoints of API keys. service-interface.md §4.2 and §4.10. */
import { listOf } from '../lists.ts';
import * as requests from '../requests/apiKeys.ts';
import { apiKeySchema, createdApiKeySchema, revokedApiKeySchema } from '../resources/apiKey.ts';
import {
  ADMIN_KEYS,
  apiKeyParams,
  type Endpoint,
  merchantParams,
  notFound,
  ONCE,
  SAFE,
} from './endpoint.ts';

const base = { success: 200, keys: ADMIN_KEYS } as const;
const ofMerchant = { ...base, params: merchantParams };
const onKey = { ...base, params: apiKeyParams };
const noMerchant = notFound('merchant');
const missing = notFound('API key');
const past = { status: 400, code: 'IR_04', when: 'expiration has passed.' } as const;

export const API_KEY_ENDPOINTS = {
  createApiKey: {
    ...ofMerchant,
    method: 'POST',
    path: '/api_keys/:merchant_id',
    summary: 'Create an API key, which is returned only once',
    body: requests.createApiKeyRequest,
    response: createdApiKeySchema,
    errors: [past, noMerchant],
    repetition: ONCE,
  },
  listApiKeys: {
    ...ofMerchant,
    method: 'GET',
    path: '/api_keys/:merchant_id/list',
    summary: 'List the API keys that are not revoked, newest first',
    query: requests.listApiKeysQuery,
    response: listOf(apiKeySchema),
    item: apiKeySchema,
    errors: [noMerchant],
    repetition: SAFE,
  },
  retrieveApiKey: {
    ...onKey,
    method: 'GET',
    path: '/api_keys/:merchant_id/:key_id',
    summary: 'Retrieve an API key without the key itself',
    response: apiKeySchema,
    errors: [missing],
    repetition: SAFE,
  },
  updateApiKey: {
    ...onKey,
    method: 'POST',
    path: '/api_keys/:merchant_id/:key_id',
    summary: "Update an API key's name, description or expiration",
    body: requests.updateApiKeyRequest,
    response: apiKeySchema,
    errors: [past, missing],
    repetition: ONCE,
  },
  revokeApiKey: {
    ...onKey,
    method: 'DELETE',
    path: '/api_keys/:merchant_id/:key_id',
    summary: 'Revoke an API key permanently',
    /** The contract leaves it open, so a service may send no body. */
    response: revokedApiKeySchema.optional(),
    errors: [missing],
    repetition: ONCE,
  },
} as const satisfies Record<string, Endpoint>;
