/** Routes for payouts. service-interface.md §4.8 and §4.10. */

import { createCustomer } from '../domain/customer.ts';
import { accept, type Decision, rejectUnknown, rejectValue } from '../domain/decision.ts';
import {
  cancelPayout,
  confirmPayout,
  createPayout,
  fulfillPayout,
  type PayoutState,
  replacePayout,
} from '../domain/payout.ts';
import { responseView } from '../faults/views.ts';
import { randomId } from '../ids.ts';
import type { ResourceTransaction } from '../resourceWriter.ts';
import type { Services } from '../services.ts';
import { alreadyExists } from './existing.ts';
import type { Handlers } from './handler.ts';
import { listPage } from './list.ts';
import { PAYOUT_LINK_PATH } from './pageUrls.ts';
import { retrieve } from './retrieve.ts';

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
    const { account, resources, baseUrl } = services;
    const { profile_id: profileId = account.profileId } = input;
    if (profileId !== account.profileId) return unknownProfile();
    const payoutId = randomId('payout_');
    return await resources.write(async (transaction) => {
      const created = createPayout(input, {
        payoutId,
        merchantId: account.merchantId,
        profileId,
        clientSecret: randomId(`${payoutId}_secret_`),
        customerId: randomId('cus_'),
        linkUrl: `${baseUrl()}${PAYOUT_LINK_PATH}/${payoutId}`,
        nowMs: transaction.nowMs,
      });
      if (created.rejection) return created;
      const attached = await attachCustomer(transaction, created.value);
      if (attached.rejection) return attached;
      const made = await transaction.insert({ kind: 'payout', state: created.value });
      return made
        ? accept({
            ...responseView(made, services.faults.context()),
            client_secret: made.state.hidden.client_secret,
          })
        : alreadyExists(services, `A payout with payout_id ${payoutId} exists already`);
    });
  },

  updatePayout: async ({ params, input }, services) => {
    const { profileId } = services.account;
    if ((input.profile_id ?? profileId) !== profileId) return unknownProfile();
    return await changePayout(services, params.payout_id, async (state, nowMs, transaction) => {
      const updated = replacePayout(state, input, nowMs);
      const namesCustomer = (input.customer?.id ?? input.customer_id) !== undefined;
      if (updated.rejection || !namesCustomer) return updated;
      return await attachCustomer(transaction, updated.value);
    });
  },

  confirmPayout: ({ params, input }, services) =>
    changePayout(services, params.payout_id, (state, nowMs) => confirmPayout(state, input, nowMs)),

  fulfillPayout: ({ params }, services) => changePayout(services, params.payout_id, fulfillPayout),

  cancelPayout: ({ params }, services) => changePayout(services, params.payout_id, cancelPayout),

  retrievePayout: async ({ params }, services) =>
    (await retrieve(services, 'payout', params.payout_id)) ?? unknownPayout(params.payout_id),

  listPayouts: ({ input }, services) => listPage(services, { kind: 'payout', ...input }),
};

/**
 * Attaches the customer that a payout names, or creates one from the payout's fields.
 * service-interface.md §4.8.
 */
async function attachCustomer(
  transaction: ResourceTransaction,
  state: PayoutState,
): Promise<Decision<PayoutState>> {
  const { customer_id: id, name, email, phone, phone_country_code } = state;
  const fields = { name, email, phone, phone_country_code };
  const isNew = await transaction.insertCustomer(createCustomer(id, fields, transaction.nowMs));
  if (isNew || (await transaction.customer(id)) !== undefined) return accept(state);
  return rejectValue('customer_id: this customer was deleted');
}

type Rule = (
  state: PayoutState,
  nowMs: number,
  transaction: ResourceTransaction,
) => Decision<PayoutState> | Promise<Decision<PayoutState>>;

/** Applies a rule to a payout under its lock. */
export function changePayout(
  { resources, faults }: Services,
  payoutId: string,
  rule: Rule,
): Promise<Decision<object>> {
  return resources.write(async (transaction) => {
    const state = await transaction.lock('payout', payoutId);
    if (state === undefined) return unknownPayout(payoutId);
    const changed = await rule(state, transaction.nowMs, transaction);
    if (changed.rejection) return changed;
    const saved = await transaction.save({ kind: 'payout', state: changed.value });
    return accept(responseView(saved, faults.context()));
  });
}

export function unknownPayout(payoutId: string): Decision<never> {
  return rejectUnknown(`No payout has the id ${payoutId}`);
}

function unknownProfile(): Decision<never> {
  return rejectValue('profile_id: not a business profile of this account');
}
