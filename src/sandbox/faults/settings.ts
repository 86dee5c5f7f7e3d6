/** The settings of all faults, and of the ways in which services of this family differ. All are off by default. */
import { z } from 'zod';
import { PAGE_SIZE } from '../../contract/index.ts';
import { DAY_MS } from '../../platform/time.ts';
import { accept, type Decision, rejectValue } from '../domain/decision.ts';

/** An object that names its fields when it gets another one. */
function faultObject<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? `${keys.join(', ')}: no such field; use ${Object.keys(shape).join(', ')}`
        : undefined,
  });
}

/** A share of cases, from 0 (never) to 1 (always). */
const rate = z.number().min(0).max(1).default(0);
const durationMs = z
  .int()
  .min(0)
  .max(30 * DAY_MS);

/** Fields that bodies of some services do not have: `version` means `modified_at`. */
export const OMITTABLE_FIELDS = ['created', 'version'] as const;
const omitFields = z.array(z.enum(OMITTABLE_FIELDS)).default([]);
/** Names of fields that a body has as null. */
const nullFields = z.array(z.string()).default([]);

/** Faults of webhooks. Each event is decided on its own. */
const webhookFaults = faultObject({
  /** Never sent and never retried. */
  drop: rate,
  /** Sent twice, byte for byte. */
  duplicate: rate,
  /** First sent after a random part of `delay_ms`. */
  delay: rate,
  delay_ms: durationMs.default(5_000),
  /** Held back for `reorder_ms`, so that later events of the object overtake it. */
  reorder: rate,
  reorder_ms: durationMs.default(2_000),
  /** The first attempt has an invalid signature; retries have a valid one. */
  corrupt_signature: rate,
  /** Sent once more after `late_copy_ms`, when the object has changed since. */
  late_copy: rate,
  late_copy_ms: durationMs.default(60 * 60 * 1000),
  /** Followed by a different body under the same event id, with a valid signature. */
  changed_copy: rate,
  /** An object causes one event of each type, ever: later changes of the same type send none. */
  one_event_per_type: z.boolean().default(false),
  /** The object has five fields: its ids, its status, amount and currency. */
  short_objects: rate,
  /** Fields that the object does not have. */
  omit_fields: omitFields,
  /** Fields that the object has as null. */
  null_fields: nullFields,
  /** Refunds, disputes and payouts name their own id `id`, as in the second version of the family's API. */
  plain_ids: rate,
  /** The event has a type that the contract does not name. */
  unknown_types: rate,
});

/** Faults of requests. The first entry that matches a request and is chosen at its `rate` applies. */
const requestFault = faultObject({
  fault: z.enum([
    /** 429 with RL_01; the headers show that nothing is left of the budget. */
    'rate_limit',
    /** 429 with RL_01 and `Retry-After`, without the headers of the rate limit; the request had no effect. */
    'retry_after',
    /** `status` with an error envelope; the request had no effect. */
    'server_error',
    /** 403 with IR_22: the key may not make this request. */
    'forbidden',
    /**
     * 422 with `code`, of a processor that rejects before it attempts anything, or is unavailable (CE_01), or of
     * a service that another request keeps from it (HE_00); the request had no effect.
     */
    'processing_error',
    /** The connection is closed before the request has an effect. */
    'cut_before',
    /** The change is committed; the connection is closed without a response. */
    'cut_after',
    /** The change is committed; no response is sent, and the connection closes after `hold_ms`. */
    'timeout_after',
    /** The change is committed; the response is sent after `hold_ms`, so that webhooks overtake it. */
    'slow',
    /** 200 with an HTML page; the request had no effect. */
    'garbage',
    /** A redirect to another URL; the request had no effect. */
    'redirect',
    /** 400 with an undocumented error code; the request had no effect. */
    'unknown_code',
    /** The response has undocumented fields. */
    'extra_fields',
    /** The response is without the fields named in `fields`. */
    'missing_fields',
    /** The change is committed; the response is 200 without a body. */
    'empty_body',
    /** The change is committed; the response is of another resource: its ids are not those of the request. */
    'mixed_up',
  ]),
  rate: z.number().min(0).max(1).default(1),
  /** How often at most; unlimited by default. */
  times: z.int().min(1).optional(),
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE']).optional(),
  /** A prefix of the path, for example `/payments`. */
  path: z.string().startsWith('/').default('/'),
  status: z.union([z.literal(500), z.literal(502), z.literal(503)]).default(503),
  code: z.enum(['PE_01', 'PE_02', 'PE_03', 'CE_01', 'HE_00']).default('PE_01'),
  hold_ms: z.int().min(0).max(120_000).default(30_000),
  fields: z.array(z.string()).default([]),
});

export const LIST_ENVELOPES = ['count', 'has_more', 'size', 'array'] as const;

const listFaults = faultObject({
  /** Share of pages from which rows are missing although more follow. */
  short_pages: rate,
  sort: z.enum(['created', 'modified']).default('created'),
  /** Rows with the same time come in a different order in each request. */
  unstable_ties: z.boolean().default(false),
  /** Rows have five fields: id, status, amount, currency and created. */
  short_rows: z.boolean().default(false),
  /** Fields that rows do not have. */
  omit_fields: omitFields,
  /** Fields that rows have as null. */
  null_fields: nullFields,
  /** Lists show the state of this long ago. */
  replica_lag_ms: durationMs.default(0),
  /** Names of filters that have no effect. */
  ignored_filters: z.array(z.string()).default([]),
  envelope: z.enum(LIST_ENVELOPES).optional(),
  /** A larger `limit` is rejected with 422 and IR_06. */
  max_limit: z.int().min(1).max(PAGE_SIZE.max).default(PAGE_SIZE.max),
  /** Times of new resources and changes are rounded down to a multiple of this, so that many are equal. */
  tick_ms: z.int().min(1).max(60_000).default(1),
});

const retrieveFaults = faultObject({
  /** Retrieves show the state of this long ago; what is newer is not found. */
  lag_ms: durationMs.default(0),
  /** Fields that bodies do not have. */
  omit_fields: omitFields,
  /** Fields that bodies have as null. */
  null_fields: nullFields,
});

/** Forms of the arrays that a payment carries besides its own fields. */
export const NESTED_FORMS = ['null', 'empty', 'filled'] as const;

/** Faults of payments. Each payment is decided on its own. */
const paymentFaults = faultObject({
  /** Payments that would be approved or declined at once are `processing` first and decided later. */
  processing_first: rate,
  processing_ms: durationMs.default(5 * 60 * 1000),
  /** Adds a surcharge: `net_amount` is `amount` plus the surcharge, and is what is received. */
  surcharge: rate,
  surcharge_percent: z.int().min(1).max(100).default(3),
  /** `amount_received` shows the full amount while `processing`, and null once `failed`. */
  early_received: rate,
  /** `amount_received` is null once `succeeded`, in every body. */
  no_received: rate,
  /** A payment of which a part was captured stays `requires_capture` while more can be captured. */
  no_part_status: rate,
  /** A manual payment is authorized in part: `authorized_percent` of it can be captured, and no more. */
  partial_authorization: rate,
  authorized_percent: z.int().min(1).max(99).default(70),
  /** An authorization that was not captured in time ends `cancelled`, as processors report it. */
  lapse_cancels: rate,
  /** `requires_action` is `requires_customer_action`. */
  customer_action: rate,
  /** `processing` is `pending`, a status that the contract does not have. */
  unknown_status: rate,
  /** `amount_capturable` shows the full amount once `failed`. */
  failed_capturable: rate,
  /** `refunds`, `disputes`, `attempts` and `captures`, in this form; `payment_method_data` is text. */
  nested: z.enum(NESTED_FORMS).optional(),
});

/** Faults of refunds. Each refund is decided on its own. */
const refundFaults = faultObject({
  /** Instant refunds are `pending` first and decided later. */
  pending_first: rate,
  pending_ms: durationMs.default(60 * 60 * 1000),
});

const errorFaults = faultObject({
  /** Errors have no `type`. */
  without_type: z.boolean().default(false),
  /** Errors have the family's statuses, codes and types where they differ from the contract's. */
  family: z.boolean().default(false),
});

const MAX_CLOCK_OFFSET_MS = 10 * 365 * DAY_MS;

export const faultsSchema = faultObject({
  /** Decides every random choice of the faults. */
  seed: z.int().default(1),
  webhooks: webhookFaults.prefault({}),
  requests: z.array(requestFault).max(50).default([]),
  lists: listFaults.prefault({}),
  retrieves: retrieveFaults.prefault({}),
  payments: paymentFaults.prefault({}),
  refunds: refundFaults.prefault({}),
  errors: errorFaults.prefault({}),
  /** Offset of the service's clock: of the times that it writes and shows, and of the `Date` header. */
  clock_offset_ms: z.int().min(-MAX_CLOCK_OFFSET_MS).max(MAX_CLOCK_OFFSET_MS).default(0),
  /** Disputes have their amount as text, as services of this family send it. */
  dispute_amount_as_text: z.boolean().default(false),
  /** Resources have the family's fields instead of the contract's: other names of times, and none where it has none. */
  family_fields: z.boolean().default(false),
  /** Responses about evidence are the family's: the dispute, a list of files, and an empty body. */
  family_evidence: z.boolean().default(false),
  /** Responses have no headers of the rate limit. */
  no_rate_headers: z.boolean().default(false),
  /** Requests must match the contract exactly: unknown fields, nulls and other spellings are rejected. */
  strict_requests: z.boolean().default(false),
  /** HTTP status of HE_01, which the contract leaves open. */
  he_01_status: z.union([z.literal(400), z.literal(409), z.literal(422)]).default(409),
});

export type Faults = z.infer<typeof faultsSchema>;
export type FaultsInput = z.input<typeof faultsSchema>;
export type WebhookFaults = Faults['webhooks'];
export type RequestFault = Faults['requests'][number];
export type ListFaults = Faults['lists'];
export type ErrorFaults = Faults['errors'];
export type NestedForm = (typeof NESTED_FORMS)[number];
export type OmittableField = (typeof OMITTABLE_FIELDS)[number];

export const NO_FAULTS: Faults = faultsSchema.parse({});

/** Reads faults that a person wrote. A rejection names each fault and field, and what is allowed there. */
export function readFaults(input: unknown): Decision<Faults> {
  const read = faultsSchema.safeParse(input);
  if (read.success) return accept(read.data);
  const problems = read.error.issues.map(
    ({ path, message }) => `${z.core.toDotPath(['faults', ...path])}: ${message}`,
  );
  return rejectValue(problems.join('\n'));
}

/** @throws RangeError as `readFaults` rejects */
export function mustReadFaults(input: unknown): Faults {
  const read = readFaults(input);
  if (read.rejection) throw new RangeError(read.rejection.message);
  return read.value;
}
