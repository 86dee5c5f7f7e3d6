/**
 * Fields that several resources share, for reading.
 *
 * Reading is lenient. The document says that responses do not always carry every field, and services
 * of this family send null for what they do not have, so every field but the resource's own id may
 * be missing or null. Statuses, currencies and times are plain text: statuses.ts, money.ts and the
 * readers judge them, because one odd value must not make a whole resource unreadable.
 */
import { z } from 'zod';

/** The id under which a resource is known. Interface document, section Resources and their fields. */
export const id = z.string().min(1);

/** Free text, a code, or a word of an open set. */
export const text = z.string().nullish();

/** A whole number that is no amount. */
export const integer = z.int().nullish();

export const flag = z.boolean().nullish();

/**
 * Minor units of the currency beside it, as a safe integer.
 * Interface document, section What the service does, convention 3.
 */
export const amountMinor = z.int().nullish();

/** ISO 8601. Interface document, section What the service does, convention 3. */
export const timestamp = z.string().nullish();

/** The merchant's own key-value pairs. Interface document, section Resources, "Payment". */
export const metadata = z.record(z.string(), z.unknown()).nullish();

/** Interface document, section Resources, "Nested objects used on payments", `billing`. */
export const billingSchema = z.looseObject({
  address: z
    .looseObject({
      line1: text,
      line2: text,
      city: text,
      state: text,
      zip: text,
      /** ISO 3166, two letters. */
      country: text,
      first_name: text,
      last_name: text,
    })
    .nullish(),
  phone: z.looseObject({ number: text, country_code: text }).nullish(),
  /** Named for payouts only. */
  email: text,
});
export type Billing = z.infer<typeof billingSchema>;

/** Customer details inside another resource. Interface document, section Resources, "Payout". */
export const customerDetailsSchema = z.looseObject({
  id: text,
  name: text,
  email: text,
  phone: text,
  phone_country_code: text,
});
export type CustomerDetails = z.infer<typeof customerDetailsSchema>;
