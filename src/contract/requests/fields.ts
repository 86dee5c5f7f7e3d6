/**
 * Fields that several requests share, for writing.
 *
 * Writing is strict, unlike reading (resources/fields.ts): a request with an unknown field, or with
 * a value outside its limits, is rejected before it is sent and by whoever receives it. An optional
 * field is left out and never sent empty: services of this family reject an empty string.
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

/** Free text, or a value of an open set; never empty. */
export const text = z.string().min(1);

/** Any JSON value. */
export const jsonValue = z.json();

/** Minor units, at least 1. service-interface.md §1.4. */
export const amountMinor = z
  .int('expected a whole number of minor units, such as 6540 for 65.40 USD')
  .min(1, 'expected at least 1 minor unit');

/**
 * The currency in the filter of a list. Any three letters: resources keep a currency that ISO 4217 no
 * longer lists, and what is read from them must be found again.
 */
export const currencyFilter = z
  .string()
  .regex(/^[A-Z]{3}$/, 'expected three capital letters (ISO 4217)');

/** An ISO 4217 code. service-interface.md §1.4. */
export const currency = currencyFilter.refine(
  (code) => CURRENCIES.has(code),
  'expected a currency of ISO 4217',
);

/** A set of values of which the contract shows some: the known values, and any other text. */
export function openSet<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.union([z.enum(words), text]);
}

/** An object of which the contract names no fields. */
export const openObject = z.record(z.string(), jsonValue);

/** Two letters of ISO 3166. service-interface.md §2.2. */
export const country = z.string().regex(/^[A-Z]{2}$/, 'expected two capital letters (ISO 3166)');

export const email = z.email({ pattern: z.regexes.unicodeEmail });

/** Where the customer returns to. Only http and https: a redirect must not run a script. */
export const returnUrl = z.url({
  protocol: /^https?$/,
  error: 'expected an http or https URL',
});

/** An ISO 8601 date or time. service-interface.md §1.4. */
export const timestamp = z.union([z.iso.datetime({ offset: true, local: true }), z.iso.date()], {
  error: 'expected an ISO 8601 date or time',
});

/**
 * Ids that a URL path would resolve differently, and the routes of lists. A resource with such an
 * id could never be retrieved.
 */
const ELSEWHERE: ReadonlySet<string> = new Set(['.', '..', 'list']);

const leadsToItself = (id: string): boolean => !ELSEWHERE.has(id);
const canStandInPath = (id: string): boolean => parseId(id) !== undefined && leadsToItself(id);
const NOT_ELSEWHERE = `not ${[...ELSEWHERE].map((id) => `"${id}"`).join(', ')}`;

/** A payment id that a merchant may choose. service-interface.md §8.1. */
export const chosenId = z
  .string()
  .regex(PAYMENT_ID_PATTERN, 'expected 1 to 64 letters, digits, "_" or "-"')
  .refine(leadsToItself, `expected ${NOT_ELSEWHERE}`);

/**
 * An id in a path. It may come from a webhook or from an older version, so any printable id that
 * can be retrieved is valid. service-interface.md §1.5.
 */
export const pathId = z
  .string()
  .refine(canStandInPath, `expected 1 to 255 printable characters, and ${NOT_ELSEWHERE}`)
  .meta({ minLength: 1, maxLength: 255 });

/** A refund id. The contract does not limit it, so any id that can be retrieved is valid. */
export const refundId = z
  .string()
  .refine(canStandInPath, `expected 1 to 255 printable characters, and ${NOT_ELSEWHERE}`)
  .meta({ minLength: 1, maxLength: 255 });

/**
 * The contract limits the length only. Other characters are valid as long as the customer can be
 * retrieved. service-interface.md §8.1.
 */
export const customerId = z
  .string()
  .max(CUSTOMER_ID_MAX_LENGTH)
  .refine(canStandInPath, `expected printable characters, and ${NOT_ELSEWHERE}`)
  .meta({ minLength: 1 });

/** The merchant's references to the order. service-interface.md §4.3.1. */
export const metadata = z.record(z.string().min(1), jsonValue);

const { maxPairs, maxKeyLength, maxValueLength } = METADATA_LIMITS;

/** Metadata of customers and payouts. service-interface.md §8.1. */
export const limitedMetadata = z
  .record(
    z.string().min(1).max(maxKeyLength),
    z.union([z.string().max(maxValueLength), z.number(), z.boolean()]),
  )
  .refine((pairs) => Object.keys(pairs).length <= maxPairs, `expected at most ${maxPairs} pairs`)
  .meta({ maxProperties: maxPairs });

/** The page of a list. service-interface.md §8.1. */
export const pageFields = {
  limit: z.int().min(PAGE_SIZE.min).max(PAGE_SIZE.max).optional(),
  offset: z.int().min(0).optional(),
};

/** The fields of an object that are sent: undefined ones are left out of JSON. */
export function sentFields(value: object): readonly string[] {
  return Object.entries(value).flatMap(([field, sent]) => (sent === undefined ? [] : [field]));
}

/**
 * For an object of which exactly one field is sent.
 * @returns the schema with that rule, for validation and for JSON Schema
 */
export function exactlyOne<T extends z.ZodObject>(schema: T): T {
  return schema
    .refine((value) => sentFields(value as object).length === 1, {
      error: `expected exactly one of ${Object.keys(schema.shape).join(', ')}`,
    })
    .meta({ minProperties: 1, maxProperties: 1 }) as T;
}

/** Reports required fields as missing, so that the error is IR_01 and not IR_04. */
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
