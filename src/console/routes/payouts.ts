/** Endpoints that pay a failed payout again, cancel a payout, or send its money. */
import { z } from 'zod';
import { type ActedOnPayout, actOnPayoutAs, type PayoutAction } from '../../actions/actOnPayout.ts';
import { type RetriedAs, retryPayoutAs } from '../../actions/retryPayout.ts';
import { accountDetailsRequest } from '../../contract/requests/payoutMethod.ts';
import { notActedOnPayoutText, notRetriedText } from '../../representation/payoutText.ts';
import { defineEndpoint, type Outcome } from '../endpoint.ts';
import { NO_SERVICE_KEY, NOT_DONE_STATUSES, notDoneOutcome } from '../notDone.ts';
import { amount, attemptNumber, currency, id, reasonGiven, statusAfterwards } from '../schemas.ts';

const seenFields = {
  expected_amount: amount.min(1).describe('The amount, as you saw it, in minor units.'),
  currency,
  reason: reasonGiven.describe('Why; for the audit log.'),
};
const params = z.strictObject({ payout_id: id });
const query = z.strictObject({});

const retried = z
  .strictObject({
    payout_id: z.string().describe('The payout that failed.'),
    new_payout_id: z.string(),
    status: statusAfterwards,
    attempt: attemptNumber,
  })
  .meta({ id: 'RetriedPayout' });

export const retryPayout = defineEndpoint({
  id: 'retryPayout',
  method: 'post',
  path: '/api/v1/payouts/{payout_id}/retry',
  permission: 'move_money',
  summary: 'Pay a failed payout again, by a new payout',
  description:
    'The new payout has the reference again_ and the id of the first one, which makes it the only one: a payout is ' +
    'paid again once, and if the new one fails, that one is paid again. It goes to the stored account of the first ' +
    'payout, or to payout_method_data, which is sent to the service and stored nowhere in Tallyhook. Card numbers ' +
    'are not accepted. 409: nothing was sent. 503: nothing was sent, and it is safe to try again. 504: the outcome ' +
    'is unknown; the same request finds out, and for an hour it sends nothing.',
  params,
  query,
  body: z.strictObject({
    ...seenFields,
    payout_method_data: accountDetailsRequest
      .optional()
      .describe('Details of the account. Absent: the stored account of the first payout.'),
  }),
  response: retried,
  statuses: NOT_DONE_STATUSES,
  handle: async ({ payouts }, { params: { payout_id: payoutId }, body, actor }) => {
    if (!payouts) return NO_SERVICE_KEY;
    const { expected_amount: amountMinor, currency: of, reason, payout_method_data: given } = body;
    const details = given && withoutUndefined(given);
    const input = { payoutId, amountMinor, currency: of, reason, details };
    return retriedOutcome(payoutId, await retryPayoutAs(payouts, actor, input));
  },
});

function withoutUndefined<T extends object>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function retriedOutcome(payoutId: string, given: RetriedAs): Outcome<z.input<typeof retried>> {
  switch (given.outcome) {
    case 'done': {
      const { payoutId: newId, status: now, attempt: number } = given;
      return {
        outcome: 'ok',
        body: { payout_id: payoutId, new_payout_id: newId, status: now, attempt: number },
      };
    }
    case 'failed':
    case 'refused':
    case 'unknown':
      return notDoneOutcome(given.outcome, notRetriedText(payoutId, given));
    default:
      return { outcome: 'conflict', message: notRetriedText(payoutId, given) };
  }
}

const acted = z
  .strictObject({ payout_id: z.string(), status: statusAfterwards, attempt: attemptNumber })
  .meta({ id: 'PayoutResult' });

const SAFETY =
  'Tallyhook retrieves the payout first and afterwards. The request is refused with 409 unless amount, currency and ' +
  'status are as stated and the status allows it, or while another attempt has no result. The audit log has an entry ' +
  'before the request to the service and one after it. 503: nothing was done, and it is safe to try again. 504: the ' +
  'outcome is unknown.';

function actionEndpoint(action: PayoutAction, summary: string) {
  return defineEndpoint({
    id: `${action}Payout`,
    method: 'post',
    path: `/api/v1/payouts/{payout_id}/${action}`,
    permission: 'move_money',
    summary,
    description: SAFETY,
    params,
    query,
    body: z.strictObject({
      ...seenFields,
      status: z.string().min(1).max(100).describe('The status, as you saw it.'),
    }),
    response: acted,
    statuses: NOT_DONE_STATUSES,
    handle: async ({ payouts }, { params: { payout_id: payoutId }, body, actor }) => {
      if (!payouts) return NO_SERVICE_KEY;
      const { expected_amount: amountMinor, currency: of, status: seen, reason } = body;
      const input = { payoutId, amountMinor, currency: of, status: seen, reason, action };
      return actedOutcome({ payoutId, action }, await actOnPayoutAs(payouts, actor, input));
    },
  });
}

export const cancelPayout = actionEndpoint('cancel', 'Cancel a payout that has not arrived');
export const fulfillPayout = actionEndpoint('fulfill', 'Send the money of a confirmed payout');

function actedOutcome(
  what: { readonly payoutId: string; readonly action: PayoutAction },
  given: ActedOnPayout,
): Outcome<z.input<typeof acted>> {
  switch (given.outcome) {
    case 'done': {
      const { status: now, attempt: number } = given;
      return { outcome: 'ok', body: { payout_id: what.payoutId, status: now, attempt: number } };
    }
    case 'changed':
    case 'claimed':
      return { outcome: 'conflict', message: notActedOnPayoutText(what, given) };
    default:
      return notDoneOutcome(given.outcome, notActedOnPayoutText(what, given));
  }
}
