/** Routes for API keys. service-interface.md §4.2 and §4.10. */
import { API_KEY_PREFIXES } from '../../contract/index.ts';
import { type ApiKeyState, changeApiKey } from '../domain/apiKey.ts';
import { accept, type Decision, rejectUnknown } from '../domain/decision.ts';
import { isoTime } from '../domain/time.ts';
import { hashKey } from '../http/authenticate.ts';
import { randomId } from '../ids.ts';
import type { Account } from '../services.ts';
import type { Handlers } from './handler.ts';
import { unknownMerchant } from './merchants.ts';
import { pageBounds, pageOf } from './pageOf.ts';

type ApiKeys = 'createApiKey' | 'listApiKeys' | 'retrieveApiKey' | 'updateApiKey' | 'revokeApiKey';

/** As services of this family generate them. */
const KEY_LENGTH = 64;
const SHOWN_LENGTH = 12;

export const API_KEY_HANDLERS: Handlers<ApiKeys> = {
  createApiKey: async ({ params, input }, { account, store, shownClock }) => {
    if (!isOurs(account, params)) return unknownMerchant(params);
    const apiKey = randomId(API_KEY_PREFIXES.sandboxSecret, KEY_LENGTH);
    const nowMs = shownClock.nowMs();
    const blank: ApiKeyState = {
      key_id: randomId(API_KEY_PREFIXES.sandboxSecret),
      name: input.name,
      description: null,
      prefix: apiKey.slice(0, SHOWN_LENGTH),
      created: isoTime(nowMs),
      expiration: null,
    };
    const created = changeApiKey(blank, input, nowMs);
    if (created.rejection) return created;
    await store.insertApiKey(created.value, hashKey(apiKey));
    return accept({ ...show(account, created.value), api_key: apiKey });
  },

  listApiKeys: async ({ params, input }, { account, store }) => {
    if (!isOurs(account, params)) return unknownMerchant(params);
    const bounds = pageBounds(input);
    const rows = await store.listApiKeys(bounds);
    const shown = rows.map((row) => show(account, row));
    return pageOf(shown, await store.countApiKeys(), bounds.offset);
  },

  retrieveApiKey: async ({ params }, { account, store }) => {
    const found = isOurs(account, params) ? await store.readApiKey(params.key_id) : undefined;
    return found ? accept(show(account, found)) : unknownKey(params.key_id);
  },

  updateApiKey: ({ params, input }, { account, store, shownClock }) =>
    store.transaction(async (tx): Promise<Decision<object>> => {
      const state = isOurs(account, params) ? await tx.lockApiKey(params.key_id) : undefined;
      if (state === undefined) return unknownKey(params.key_id);
      const changed = changeApiKey(state, input, shownClock.nowMs());
      if (changed.rejection) return changed;
      await tx.updateApiKey(changed.value);
      return accept(show(account, changed.value));
    }),

  revokeApiKey: async ({ params }, { account, store, shownClock }) => {
    const { merchant_id, key_id } = params;
    const at = isoTime(shownClock.nowMs());
    const isRevoked = isOurs(account, params) && (await store.revokeApiKey(key_id, at));
    return isRevoked ? accept({ merchant_id, key_id, revoked: true }) : unknownKey(key_id);
  },
};

interface MerchantParams {
  readonly merchant_id: string;
}

function isOurs(account: Account, params: MerchantParams): boolean {
  return params.merchant_id === account.merchantId;
}

function show(account: Account, state: ApiKeyState): object {
  return { ...state, merchant_id: account.merchantId };
}

function unknownKey(keyId: string): Decision<never> {
  return rejectUnknown(`No API key has the id ${keyId}`);
}
