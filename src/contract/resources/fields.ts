/**
 * Fields that several resources share, for reading.
 *
 * 1. Responses do not always carry every field, and services of this family send null for what they
 *    do not have: every field but the resource's own id may be missing or null.
 * 2. Statuses, currencies and times are plain text; statuses.ts, money.ts and the readers validate
 *    them.
 * 3. Two things make a resource unreadable: no id, or an invalid amount or currency. Any other
 *    invalid field counts as missing, a list as a whole, so that no other field can hide what
 *    happened to the money.
 */
import { z } from 'zod';

/** A field that may be missing, null or invalid (rule 3). */
export function lenient<T extends z.ZodType>(form: T) {
  const field: z.ZodOptional<z.ZodNullable<T>> = form.nullable().optional();
  return z.catch(field, undefined);
}

/** The id of a resource. service-interface.md §2. */
export const id = z.string().min(1);

/** Free text, a code, or a value of an open set. */
export const text = lenient(z.string());

/** An integer that is not an amount. */
export const integer = lenient(z.int());

export const flag = lenient(z.boolean());

/** Minor units of the currency beside it, as a safe integer. service-interface.md §1.4. */
export const amountMinor = z.int().nullish();

/** An ISO 4217 code. service-interface.md §1.4. */
export const currency = z.string().nullish();

/** ISO 8601. service-interface.md §1.4. */
export const timestamp = lenient(z.string());

/** The merchant's own key-value pairs. service-interface.md §2.1. */
export const metadata = lenient(z.record(z.string(), z.unknown()));

/** An address, of a billing or a customer. service-interface.md §2.2 and §2.4. */
export const address = lenient(
  z.looseObject({
    line1: text,
    line2: text,
    city: text,
    state: text,
    zip: text,
    /** Two letters of ISO 3166. */
    country: text,
    first_name: text,
    last_name: text,
  }),
);

/** Billing details. service-interface.md §2.2. */
export const billingSchema = z.looseObject({
  address,
  phone: lenient(z.looseObject({ number: text, country_code: text })),
  /** Payouts only. */
  email: text,
});
/** Customer details inside another resource. service-interface.md §2.7. */
export const customerDetailsSchema = z.looseObject({
  id: text,
  name: text,
  email: text,
  phone: text,
  phone_country_code: text,
});
