/** Schemas that several endpoints share. */
import { z } from 'zod';
import { parseId } from '../contract/identifiers.ts';
import { isMonth, isTimeZone } from '../ledger/domain/period.ts';
import { parseInstantMicros } from '../ledger/domain/time.ts';
import { ORDER_NAMES } from '../ledger/read/orders.ts';
import { currency, time } from '../webhooks/fields.ts';

export {
  amount,
  currency,
  difference,
  namedBy,
  openFindings,
  orderStatus,
  reason,
  resourceKind,
  resourceStatus,
  time,
  uncertainties,
} from '../webhooks/fields.ts';

const PAGE_LIMIT = { min: 1, default: 50, max: 100 } as const;

/** Converts digits to a number and leaves everything else, so that '' and ' 5' are refused. */
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
    .describe('Maximum number of rows.'),
);

export const after = digits(
  z
    .int('must be the number of a change, or 0 for the beginning')
    .min(0)
    .default(0)
    .describe('Number of the last change that you processed; 0 for the beginning.'),
);

export const number = digits(z.int('must be a whole number').min(1));

/** How many days up to today. */
export const daysBack = digits(
  z.int('must be a whole number from 1 to 90').min(1).max(90).default(30).describe('Up to today.'),
);

export const cursor = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,1000}$/, 'must be the next_cursor of an earlier response')
  .optional()
  .describe('`next_cursor` of the previous page. Opaque: its format may change.');

export const nextCursor = z
  .string()
  .nullable()
  .describe('Send it as `cursor` to get the next page; null on the last page.');

/** The description of a list that searches (platform/db/search.ts). */
export const SEARCHED =
  'A filter reads 10,000 rows at most: a page can be short, or empty, although `next_cursor` is set. ' +
  'Continue with it until it is null.';

/** An id from a caller. */
export const id = z
  .string()
  .min(1)
  .max(255)
  .refine((value) => parseId(value) !== undefined, {
    message: 'must be 1 to 255 printable characters without leading or trailing white space',
  });

/** Why somebody acts, for the audit log. */
export const reasonGiven = z.string().trim().min(1).max(500);

export const orderBy = z
  .enum(ORDER_NAMES)
  .optional()
  .describe(
    "What the id is: the shop's order id, or the id of a payment. Without it, any order id or the id of a " +
      'payment, refund or dispute is accepted, an order id first.',
  );

export const attemptNumber = z.int().min(1).describe('Number of the attempt in the audit log.');

export const statusAfterwards = z
  .string()
  .nullable()
  .describe('Status at the service afterwards; null if it could not be retrieved.');

export const month = z
  .string()
  .refine(isMonth, 'must be a month such as 2026-10')
  .describe('A month such as `2026-10`.');

export const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'must be the name of a time zone such as Europe/Berlin')
  .describe('The name of a time zone such as `Europe/Berlin`, in which months and days begin.');

/** Filters that lists of orders and of resources share. */
export const listFilters = {
  currency: currency.optional(),
  min_amount: digits(z.int().min(0).optional()).describe('Minor units, included.'),
  max_amount: digits(z.int().min(0).optional()).describe('Minor units, included.'),
  from: listTime('Only rows of this time or later. UTC.'),
  to: listTime('Only rows before this time. UTC.'),
  open_finding: flag('Only rows with an open finding.'),
  uncertain: flag('Only rows with a state that needs a retrieve.'),
  totals: flag('Adds `totals`: the count and the sums of the filter.'),
};

export function listTime(description: string) {
  return time
    .refine((text) => parseInstantMicros(text) !== undefined, 'must be a time since 1970')
    .optional()
    .describe(description);
}

export function flag(description: string) {
  return z.literal('1').optional().describe(description);
}

export const listCount = z
  .int()
  .min(0)
  .describe('How many rows match; the number of those counted if `complete` is false.');

export const listComplete = z
  .boolean()
  .describe(
    'False if there are more rows than were counted: only the newest 5,000 resources or transfers, or 1,000 orders, are searched, and the sums are those of the counted ones.',
  );
