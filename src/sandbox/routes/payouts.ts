/** Interface document, section Endpoints, "Payouts" and "Other routes". */
import { accept, type Decision, refuseUnknown, refuseValue } from '../domain/decision.ts';
import {
  cancelPayout,
  confirmPayout,
  createPayout,
  fulfillPayout,
  type PayoutState,
  updatePayout,
} from '../domain/payout.ts';
import { show, showWithSecret } from '../domain/resource.ts';
import { randomId } from '../ids.ts';
import type { Services } from '../services.ts';
import { readResource } from '../store/resources.ts';
import type { Handlers } from './handler.ts';
import { listPage } from './list.ts';

type Payouts =
  | 'createPayout'
  | 'updatePayout'
  | 'confirmPayout'
  | 'fulfillPayout'
  | 'cancelPayout'
  | 'retrievePayout'
  | 'listPayouts';

export const PAYOUT_HANDLERS: Handlers<Payouts> = {
  createPayout: async ({ input }, services) => {
    const { account, books, baseUrl } = services;
    const { profile_id: profileId = account.profileId } = input;
    if (profileId !== account.profileId) return unknownProfile();
    const payoutId = randomId('payout_');
    return await books.write(async (entry) => {
      const created = createPayout(input, {
        payoutId,
        merchantId: account.merchantId,
        profileId,
        clientSecret: randomId(`${payoutId}_secret_`),
        customerId: randomId('cus_'),
        linkUrl: `${baseUrl()}/_sandbox/payout_link/${payoutId}`,
        nowMs: entry.nowMs,
      });
      if (created.refusal) return created;
      const resource = { kind: 'payout', state: created.state } as const;
      await entry.insert(resource);
      return accept(showWithSecret(resource));
    });
  },

  updatePayout: async ({ params, input }, services) => {
    const { profileId } = services.account;
    if ((input.profile_id ?? profileId) !== profileId) return unknownProfile();
    return await changePayout(services, params.payout_id, (state, nowMs) =>
      updatePayout(state, input, nowMs),
    );
  },

  confirmPayout: ({ params, input }, services) =>
    changePayout(services, params.payout_id, (state, nowMs) => confirmPayout(state, input, nowMs)),

  fulfillPayout: ({ params }, services) => changePayout(services, params.payout_id, fulfillPayout),

  cancelPayout: ({ params }, services) => changePayout(services, params.payout_id, cancelPayout),

  retrievePayout: async ({ params }, { db }) => {
    const found = await readResource(db, 'payout', params.payout_id);
    return found ? accept(show(found)) : unknownPayout(params.payout_id);
  },

  listPayouts: ({ input }, services) => listPage(services, { kind: 'payout', ...input }),
};

/** Applies a rule to a payout under its lock. */
export function changePayout(
  { books }: Services,
  payoutId: string,
  rule: (state: PayoutState, nowMs: number) => Decision<PayoutState>,
): Promise<Decision<object>> {
  return books.write(async (entry) => {
    const state = await entry.lock('payout', payoutId);
    if (state === undefined) return unknownPayout(payoutId);
    const changed = rule(state, entry.nowMs);
    if (changed.refusal) return changed;
    const resource = { kind: 'payout', state: changed.state } as const;
    await entry.save(resource);
    return accept(show(resource));
  });
}

function unknownPayout(payoutId: string): Decision<never> {
  return refuseUnknown(`No payout has the id ${payoutId}`);
}

function unknownProfile(): Decision<never> {
  return refuseValue('profile_id: names no business profile of this account');
}
