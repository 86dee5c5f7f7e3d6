/** Endpoints that capture and cancel an authorization. */
import { z } from 'zod';
import {
  type AuthorizationParts,
  type CapturedOrCanceled,
  captureOrCancelAs,
  inspectHold,
} from '../../actions/captureOrCancel.ts';
import type { Actor } from '../../audit/domain/actor.ts';
import type { PolicyAction } from '../../authorizations/domain/reminders.ts';
import { formatMoney } from '../../contract/money.ts';
import { notDoneText, RETRIEVE_FIRST } from '../../representation/notDone.ts';
import { defineEndpoint, type Outcome } from '../endpoint.ts';
import { NO_SERVICE_KEY, notDoneOutcome, notRetrieved } from '../notDone.ts';
import { amount, currency, id, reasonGiven } from '../schemas.ts';

const DESCRIPTION =
  'Tallyhook retrieves the payment first and afterwards. The request is refused with 409 unless exactly ' +
  '`expected_amount` can be captured, so repeating it never moves money twice. The audit log has an entry ' +
  'before the request to the service and one after it. 503: nothing was done, and it is safe to try again. ' +
  '504: the outcome is unknown; get the payment with `refresh=1` before you decide.';

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
    status: z
      .string()
      .nullable()
      .describe('Status at the service afterwards; null if it could not be retrieved.'),
    attempt: z.int().min(1).describe('Number of the attempt in the audit log.'),
  })
  .meta({ id: 'AuthorizationResult' });

const params = z.strictObject({ payment_id: id });
const statuses = [404, 409, 504] as const;

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
  statuses,
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
  statuses,
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
  const { action, paymentId, expected_amount: expectedMinor, currency: expected, reason } = wanted;
  if (!parts) return NO_SERVICE_KEY;
  if (wanted.amount !== undefined && wanted.amount > expectedMinor) {
    const message = 'The body is invalid: amount: must be at most expected_amount.';
    return { outcome: 'invalid', message };
  }
  const inspected = await inspectHold(parts, paymentId);
  switch (inspected.outcome) {
    case 'not_retrieved':
      return notRetrieved(paymentId, inspected);
    case 'not_held': {
      const status = inspected.status ?? 'unknown';
      const message = `${paymentId} cannot be captured or canceled: its status at the service is ${status}.`;
      return { outcome: 'conflict', message };
    }
    case 'held': {
      const { hold } = inspected;
      if (hold.capturableMinor !== expectedMinor || hold.currency !== expected) {
        const now = formatMoney(hold.capturableMinor, hold.currency ?? expected);
        const message = `${now} of ${paymentId} can be captured, not ${formatMoney(expectedMinor, expected)}. Nothing was done.`;
        return { outcome: 'conflict', message };
      }
      const input = { action, paymentId, hold, amountMinor: wanted.amount, reason };
      return toOutcome(wanted, await captureOrCancelAs(parts, actor, input));
    }
  }
}

function toOutcome(
  { action, paymentId, amount: amountMinor, expected_amount, currency: of }: Wanted,
  { result: sent, refreshed, hold, attempt }: CapturedOrCanceled,
): Outcome<z.input<typeof result>> {
  switch (sent.outcome) {
    case 'done': {
      const status = refreshed.outcome === 'applied' ? (hold?.status ?? null) : null;
      const moved = { amount: amountMinor ?? expected_amount, currency: of };
      return {
        outcome: 'ok',
        body: { payment_id: paymentId, action, ...moved, status, attempt },
      };
    }
    default: {
      const message = notDoneText(sent, { attempt, next: RETRIEVE_FIRST });
      return notDoneOutcome(sent.outcome, message);
    }
  }
}
