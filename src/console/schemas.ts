/** Schemas that several endpoints share. */
import { z } from 'zod';
import { parseId } from '../contract/identifiers.ts';
import { STATUSES } from '../contract/statuses.ts';
import { REGISTERED } from '../ledger/domain/expectation.ts';
import { ORDER_STATUSES } from '../ledger/domain/order.ts';
import { ORDER_NAMES } from '../ledger/read/orders.ts';

const PAGE_LIMIT = { min: 1, default: 50, max: 100 } as const;

/** Digits as a number, everything else as it came: '' and ' 5' are not numbers here. */
function digits<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value),
    schema,
  );
}

export const limit = digits(
  z
    .int(`must be a whole number from ${PAGE_LIMIT.min} to ${PAGE_LIMIT.max}`)
    .min(PAGE_LIMIT.min)
    .max(PAGE_LIMIT.max)
    .default(PAGE_LIMIT.default)
    .describe('Most rows to answer with.'),
);

export const after = digits(
  z
    .int('must be the number of a change, 0 for the beginning')
    .min(0)
    .default(0)
    .describe('The number of the last change that was read; 0 for the beginning.'),
);

export const number = digits(z.int('must be a whole number').min(1));

export const cursor = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,1000}$/, 'must be the next_cursor of an earlier answer')
  .optional()
  .describe('`next_cursor` of the page before. Opaque: its content may change.');

export const nextCursor = z
  .string()
  .nullable()
  .describe('Give it as `cursor` for the next page; null when this is the last one.');

/** An id from outside: text that can name something. */
export const id = z
  .string()
  .min(1)
  .max(255)
  .refine((value) => parseId(value) !== undefined, {
    message: 'must be 1 to 255 printable characters without white space at its ends',
  });

export const orderBy = z
  .enum(ORDER_NAMES)
  .optional()
  .describe(
    "What the id is: the shop's order id, or the id of a payment that names no order. " +
      "Where it is left out the shop's order comes first.",
  );

export const namedBy = z
  .enum(ORDER_NAMES)
  .describe("`order`: the shop's order id names it; `payment`: its payment, which names no order.");

export const amount = z.int().min(0).describe('Minor units of the currency beside it.');
export const difference = z
  .int()
  .describe('Minor units of the currency beside it; may be negative.');
export const currency = z
  .string()
  .regex(/^[A-Z]{3}$/)
  .describe('ISO 4217.');
export const time = z.iso.datetime().describe('UTC.');

export const orderStatus = z
  .enum([...ORDER_STATUSES, REGISTERED])
  .describe(
    'The first that applies, over all currencies. `registered`: the shop registered it and nothing ' +
      'was heard of it; `moved`: its payments now name another order.',
  );

export const resourceKind = z.enum(['payment', 'refund', 'dispute', 'payout']);

export const resourceStatus = z
  .string()
  .nullable()
  .describe(
    `The service's own word, null while nothing was seen. Payments: ${STATUSES.payment.join(', ')}. ` +
      `Refunds: ${STATUSES.refund.join(', ')}. Disputes: ${STATUSES.dispute.join(', ')}. ` +
      'Others are possible: the service may add some.',
  );

export const reason = z
  .string()
  .nullable()
  .describe(
    "Why it failed, was canceled or, of a dispute, was opened: the service's codes and texts in one " +
      'line, without card numbers. Null where the state needs none or the service gave none.',
  );

export const uncertainties = z
  .array(z.string())
  .describe('Why the service is to be asked again before this can be trusted. Usually empty.');

export const openFindings = z.array(z.string()).describe('Classes of findings open about it.');
