/**
 * Fields that several requests share, for writing.
 *
 * Writing is strict, the opposite of resources/fields.ts: a request with a field that the contract
 * does not name, or with a value outside its limits, is refused before it is sent and by who
 * receives it. An optional field is left out, never sent empty: services of this family refuse an
 * empty string without creating anything.
 */
import { z } from 'zod';
import { parseId } from '../identifiers.ts';
import {
  CUSTOMER_ID_MAX_LENGTH,
  METADATA_LIMITS,
  PAGE_SIZE,
  PAYMENT_ID_PATTERN,
} from '../limits.ts';
import { CURRENCIES } from '../money.ts';

/** Free text or a word of an open set; never empty. */
export const text = z.string().min(1);

/** Anything that JSON carries. */
export const jsonValue = z.json();

/** Minor units, more than nothing. service-interface.md §1.4. */
export const amountMinor = z.int().min(1);

/** service-interface.md §1.4: ISO 4217. */
export const currency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'expected three capital letters (ISO 4217)')
  .refine((code) => CURRENCIES.has(code), 'expected a currency of ISO 4217');

/**
 * A set of words of which the contract shows some and leaves the rest open: those known, and any
 * other text.
 */
export function openSet<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.union([z.enum(words), text]);
}

/** An object whose fields the contract does not name. */
export const openObject = z.record(z.string(), jsonValue);

/** ISO 3166, two letters. service-interface.md §2.2, `billing`. */
export const country = z.string().regex(/^[A-Z]{2}$/, 'expected two capital letters (ISO 3166)');

export const email = z.email({ pattern: z.regexes.unicodeEmail });

/**
 * Where the customer comes back to. Only what a browser can be sent to: a page that redirects must
 * not be made to run a script.
 */
export const returnUrl = z.url({
  protocol: /^https?$/,
  error: 'expected an http or https address',
});

/** ISO 8601, a date or a time. service-interface.md §1.4. */
export const timestamp = z.union([z.iso.datetime({ offset: true, local: true }), z.iso.date()], {
  error: 'expected an ISO 8601 date or time',
});

/**
 * Ids that would lead elsewhere in a path: what it would resolve, and the routes of lists. Whoever
 * could choose one could never read what it names.
 */
const ELSEWHERE: ReadonlySet<string> = new Set(['.', '..', 'list']);

const leadsToItself = (id: string): boolean => !ELSEWHERE.has(id);
const canStandInPath = (id: string): boolean => parseId(id) !== undefined && leadsToItself(id);
const NOT_ELSEWHERE = `not ${[...ELSEWHERE].map((id) => `"${id}"`).join(', ')}`;

/** An id that a merchant may choose. service-interface.md §8.1, `payment_id`. */
export const chosenId = z
  .string()
  .regex(PAYMENT_ID_PATTERN, 'expected 1 to 64 letters, digits, "_" or "-"')
  .refine(leadsToItself, `expected ${NOT_ELSEWHERE}`);

/**
 * An id in a path. It may come from a webhook, or have been chosen long ago, so it is any that can be
 * printed and leads to itself. service-interface.md §1.5.
 */
export const pathId = z
  .string()
  .refine(canStandInPath, `expected 1 to 255 printable characters, and ${NOT_ELSEWHERE}`)
  .meta({ minLength: 1, maxLength: 255 });

/** A refund's id, of which the contract gives no form: whatever can be read again. */
export const refundId = z
  .string()
  .refine(canStandInPath, `expected 1 to 255 printable characters, and ${NOT_ELSEWHERE}`)
  .meta({ minLength: 1, maxLength: 255 });

/** The length is all that the contract says of it; the rest lets it be read again. Section Limits. */
export const customerId = z
  .string()
  .max(CUSTOMER_ID_MAX_LENGTH)
  .refine(canStandInPath, `expected printable characters, and ${NOT_ELSEWHERE}`)
  .meta({ minLength: 1 });

/** Order references of the merchant's. service-interface.md §4.3.1. */
export const metadata = z.record(z.string().min(1), jsonValue);

const { maxPairs, maxKeyLength, maxValueLength } = METADATA_LIMITS;

/** service-interface.md §8.1: named for customers and payouts. */
export const limitedMetadata = z
  .record(
    z.string().min(1).max(maxKeyLength),
    z.union([z.string().max(maxValueLength), z.number(), z.boolean()]),
  )
  .refine((pairs) => Object.keys(pairs).length <= maxPairs, `expected at most ${maxPairs} pairs`)
  .meta({ maxProperties: maxPairs });

/** service-interface.md §8.1. */
export const pageFields = {
  limit: z.int().min(PAGE_SIZE.min).max(PAGE_SIZE.max).optional(),
  offset: z.int().min(0).optional(),
};

/** The fields that an object sends: one that is undefined is left out of JSON. */
export function sentFields(value: object): readonly string[] {
  return Object.entries(value).flatMap(([field, sent]) => (sent === undefined ? [] : [field]));
}

/**
 * For an object of which exactly one field is sent.
 * @returns the schema with that rule, in words and for a document.
 */
export function exactlyOne<T extends z.ZodObject>(schema: T): T {
  return schema
    .refine((value) => sentFields(value as object).length === 1, {
      error: `expected exactly one of ${Object.keys(schema.shape).join(', ')}`,
    })
    .meta({ minProperties: 1, maxProperties: 1 }) as T;
}

/** Reports fields that must be there as missing ones, so that readers answer IR_01 and not IR_04. */
export function reportMissing(
  context: z.core.ParsePayload,
  missing: readonly { readonly field: string; readonly why: string }[],
): void {
  for (const { field, why } of missing) {
    context.issues.push({
      code: 'custom',
      input: context.value,
      path: [field],
      message: why,
      params: { missing: true },
    });
  }
}
