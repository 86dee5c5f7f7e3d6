/** Billing and browser details of the customer in requests. service-interface.md §2.2. */
import { z } from 'zod';
import { country, email, text } from './fields.ts';

const addressShape = {
  line1: text,
  line2: text.optional(),
  city: text,
  state: text,
  zip: text,
  country,
  first_name: text,
  last_name: text,
};

const phone = z.strictObject({
  number: text,
  /** With a leading +, for example `+49`. */
  country_code: text,
});

/** Billing details of a payment. service-interface.md §2.2. */
export const billingRequest = z.strictObject({ address: z.strictObject(addressShape), phone });
export type BillingRequest = z.input<typeof billingRequest>;

/** Billing details of a payout, all optional. service-interface.md §4.8. */
export const payoutBillingRequest = z.strictObject({
  address: z.strictObject(addressShape).partial().optional(),
  phone: phone.optional(),
  email: email.optional(),
});

/** Details of the customer's browser. service-interface.md §2.2. */
export const browserInfoRequest = z.strictObject({
  ip_address: text.optional(),
  user_agent: text.optional(),
  accept_header: text.optional(),
  accept_language: text.optional(),
  language: text.optional(),
  color_depth: z.int().min(0).optional(),
  /** Pixels. */
  screen_height: z.int().min(0).optional(),
  /** Pixels. */
  screen_width: z.int().min(0).optional(),
  /** Minutes from UTC, positive or negative. */
  time_zone: z.int().optional(),
  java_enabled: z.boolean().optional(),
  java_script_enabled: z.boolean().optional(),
  os_type: text.optional(),
  os_version: text.optional(),
  device_model: text.optional(),
  referer: text.optional(),
});
