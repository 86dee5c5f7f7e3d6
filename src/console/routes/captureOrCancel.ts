/** Endpoints that capture and cancel an authorization. */
import { z } from 'zod';
import {
  type AuthorizationParts,
  type CapturedOrCanceled,
  captureOrCancelAs,
  inspectHold,
  isSameHold,
} from '../../actions/captureOrCancel.ts';
import type { Actor } from '../../audit/domain/actor.ts';
import type { PolicyAction } from '../../authorizations/domain/reminders.ts';
import { changedHoldText, notCapturedText } from '../../representation/notDone.ts';
import { defineEndpoint, type Outcome } from '../endpoint.ts';
import { NO_SERVICE_KEY, NOT_DONE_STATUSES, notDoneOutcome, notRetrieved } from '../notDone.ts';
import { amount, attemptNumber, currency, id, reasonGiven, statusAfterwards } from '../schemas.ts';

const DESCRIPTION =
  'Tallyhook retrieves the payment first and afterwards. The request is refused with 409 unless exactly ' +
  '`expected_amount` can be captured, or while another attempt to capture or cancel has no result, so ' +
  'repeating it never moves money twice. The audit log has an entry before the request to the service and ' +
  'one after it. 503: nothing was done, and it is safe to try again. 504: the outcome is unknown; get the ' +
  'payment with `refresh=1` before you decide. For ten minutes after a capture of unknown outcome, the capture of ' +
  'a part is refused with 409 while as much can be captured as before.';

const decided = {
  expected_amount: amount.min(1).describe('What can be captured, as you saw it, in minor units.'),
  currency,
  reason: reasonGiven.describe('Why; recorded with the name of the token.'),
};

const result = z
  .strictObject({
    payment_id: z.string(),
    action: z.enum(['capture', 'cancel']),
    amount: amount.describe('What was captured or released.'),
    currency,
    status: statusAfterwards,
    attempt: attemptNumber,
  })
  .meta({ id: 'AuthorizationResult' });

const params = z.strictObject({ payment_id: id });

export const captureAuthorization = defineEndpoint({
  id: 'captureAuthorization',
  method: 'post',
  path: '/api/v1/authorizations/{payment_id}/capture',
  permission: 'move_money',
  summary: 'Capture an authorization, in full or in part',
  description: DESCRIPTION,
  params,
  query: z.strictObject({}),
  body: z.strictObject({
    ...decided,
    amount: amount
      .min(1)
      .optional()
      .describe('What to capture, at most `expected_amount`; all of it when left out.'),
  }),
  response: result,
  statuses: NOT_DONE_STATUSES,
  handle: ({ authorizations }, { params: { payment_id: paymentId }, body, actor }) =>
    act(authorizations, actor, { ...body, action: 'capture', paymentId }),
});

export const cancelAuthorization = defineEndpoint({
  id: 'cancelAuthorization',
  method: 'post',
  path: '/api/v1/authorizations/{payment_id}/cancel',
  permission: 'move_money',
  summary: 'Cancel an authorization, which releases the hold',
  description: `${DESCRIPTION} The service receives the reason, too.`,
  params,
  query: z.strictObject({}),
  body: z.strictObject(decided),
  response: result,
  statuses: NOT_DONE_STATUSES,
  handle: ({ authorizations }, { params: { payment_id: paymentId }, body, actor }) =>
    act(authorizations, actor, { ...body, action: 'cancel', paymentId }),
});

interface Wanted {
  readonly action: PolicyAction;
  readonly paymentId: string;
  readonly expected_amount: number;
  readonly currency: string;
  readonly amount?: number | undefined;
  readonly reason: string;
}

async function act(
  parts: AuthorizationParts | undefined,
  actor: Actor,
  wanted: Wanted,
): Promise<Outcome<z.input<typeof result>>> {
  const { action, paymentId, expected_amount: capturableMinor, currency: of, reason } = wanted;
  if (!parts) return NO_SERVICE_KEY;
  if (wanted.amount !== undefined && wanted.amount > capturableMinor) {
    const message = 'The body is invalid: amount: must be at most expected_amount.';
    return { outcome: 'invalid', message };
  }
  const now = await inspectHold(parts, paymentId);
  if (now.outcome === 'not_retrieved') return notRetrieved(paymentId, now);
  const seen = { paymentId, capturableMinor, currency: of };
  if (!isSameHold(now, seen)) return { outcome: 'conflict', message: changedHoldText(seen, now) };
  const input = { action, paymentId, hold: now.hold, amountMinor: wanted.amount, reason };
  return toOutcome(wanted, await captureOrCancelAs(parts, actor, input));
}

function toOutcome(
  {
    action,
    paymentId,
    amount: amountMinor,
    expected_amount: capturableMinor,
    currency: of,
  }: Wanted,
  given: CapturedOrCanceled,
): Outcome<z.input<typeof result>> {
  const seen = { paymentId, capturableMinor, currency: of };
  switch (given.outcome) {
    case 'done': {
      const { status, attempt } = given;
      const moved = { amount: amountMinor ?? capturableMinor, currency: of, status, attempt };
      return { outcome: 'ok', body: { payment_id: paymentId, action, ...moved } };
    }
    case 'claimed':
    case 'changed':
    case 'busy':
    case 'uncertain':
      return { outcome: 'conflict', message: notCapturedText(seen, given) };
    default:
      return notDoneOutcome(given.outcome, notCapturedText(seen, given));
  }
}
