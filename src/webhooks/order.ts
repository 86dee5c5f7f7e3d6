/** An order as the admin API and order webhooks show it. */
import { z } from 'zod';
import {
  amount,
  currency,
  decline,
  difference,
  namedBy,
  openFindings,
  orderStatus,
  reason,
  resourceKind,
  resourceStatus,
  time,
  uncertainties,
} from './fields.ts';
import { COMPARISONS } from './orderStatuses.ts';

const orderTotals = z
  .strictObject({
    currency,
    status: orderStatus.describe('The first that applies to the parts in this currency.'),
    amount_authorized: amount.describe('Held and still capturable.'),
    amount_captured: amount.describe('Captured and not voided.'),
    amount_refunded: amount,
    amount_refund_pending: amount,
    amount_disputed: amount.describe('In open disputes.'),
    amount_charged_back: amount.describe('Lost to disputes.'),
  })
  .meta({ id: 'OrderTotals' });

const expected = z
  .strictObject({
    currency,
    amount,
    comparison: z
      .enum(COMPARISONS)
      .describe(
        'The captured amount in this currency, before refunds, against the expected one. ' +
          '`other_currency`: nothing was captured in this currency, and something in another.',
      ),
    difference: difference.describe('Captured minus expected; negative if something is missing.'),
    registered_at: time,
    registered_by: z.string().describe("Name of the caller's token."),
  })
  .meta({ id: 'Expected' });

/** Fields of an order. */
export const orderFields = {
  order_id: z.string(),
  order_key: z.string().describe('Unlike the id, unique.'),
  named_by: namedBy,
  status: orderStatus,
  moved_to: z.array(z.string()).describe('Keys of the orders that its payments now belong to.'),
  totals: z.array(orderTotals).describe('One entry per currency.'),
  expected: expected.nullable().describe('What the shop registered, if anything.'),
  first_seen_at: time,
  updated_at: time,
};

/** A payment, refund or dispute of an order. */
export const orderPart = z
  .strictObject({
    kind: resourceKind,
    id: z.string(),
    status: resourceStatus,
    stage: z.string().nullable().describe('Disputes only.'),
    currency: currency.nullable(),
    amount: amount.nullable(),
    amount_authorized: amount.nullable().describe('Payments only: the largest hold.'),
    amount_captured: amount.nullable().describe('Payments only.'),
    decline: decline.nullable().describe('Failed payments only.'),
    reason,
    uncertainties,
    open_findings: openFindings,
    created_at: time.nullable().describe("The service's own time."),
    deadline_at: time
      .nullable()
      .describe('Payments: when the hold expires. Disputes: when evidence is due.'),
  })
  .meta({ id: 'OrderPart' });

/** What an order with its parts has beside its fields. */
export const partFields = {
  parts: z.array(orderPart).describe('Payments first.'),
  parts_complete: z
    .boolean()
    .describe('False if only the first 1,000 parts are listed; `/parts` has all of them.'),
};
