/** Which faults are on, and which habits of the family. All are off at first. */
import { z } from 'zod';

/** A share of cases, from 0 (never) to 1 (always). */
const rate = z.number().min(0).max(1).default(0);
const DAY_MS = 24 * 60 * 60 * 1000;
const durationMs = z
  .int()
  .min(0)
  .max(30 * DAY_MS);

/** Fields that bodies of some services lack: `version` stands for `modified_at`. */
export const OMITTABLE_FIELDS = ['created', 'version'] as const;
const omitFields = z.array(z.enum(OMITTABLE_FIELDS)).default([]);

/** What can go wrong with a webhook. Rates are judged for each event by itself. */
const webhookFaults = z.strictObject({
  /** Never sent, and never sent again: the service believes that it was. */
  drop: rate,
  /** Sent twice, byte for byte. */
  duplicate: rate,
  /** First sent after a random part of `delay_ms`. */
  delay: rate,
  delay_ms: durationMs.default(5_000),
  /** Held back for `reorder_ms`, so that later events of the object overtake it. */
  reorder: rate,
  reorder_ms: durationMs.default(2_000),
  /** First sent with a signature that does not fit; the retry has the right one. */
  corrupt_signature: rate,
  /** Sent once more after `late_copy_ms`, when the object has long moved on. */
  late_copy: rate,
  late_copy_ms: durationMs.default(60 * 60 * 1000),
  /** Followed by another body under the same event id, rightly signed. */
  changed_copy: rate,
  /** An object gives rise to one event of each type, ever: the next change of the type stays untold. */
  one_event_per_type: z.boolean().default(false),
  /** The object has five fields: its ids, its status, amount and currency. */
  thin: rate,
  /** The object lacks these fields. */
  omit_fields: omitFields,
});

/** What can go wrong with one request. The first entry that fits a request and its random is used. */
const requestFault = z.strictObject({
  fault: z.enum([
    /** 429 with RL_01, the budget shown as used up until the window ends. */
    'rate_limit',
    /** `status` with an error envelope; nothing was done. */
    'server_error',
    /** 422 with `code`, of a processor that refuses before anything is attempted; nothing was done. */
    'processing_error',
    /** The connection is closed before anything is done. */
    'cut_before',
    /** Everything is done; the connection is closed instead of an answer. */
    'cut_after',
    /** Everything is done; no answer comes until `hold_ms` have passed, then the connection closes. */
    'timeout_after',
    /** 200 with a page of HTML; nothing was done. */
    'garbage',
    /** A redirect to another address; nothing was done. */
    'redirect',
    /** 400 with an error code that no document names; nothing was done. */
    'unknown_code',
    /** The answer has fields that no document names. */
    'extra_fields',
    /** The answer lacks the fields of `fields`. */
    'missing_fields',
  ]),
  rate: z.number().min(0).max(1).default(1),
  /** How often at most; no limit unless given. */
  times: z.int().min(1).optional(),
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE']).optional(),
  /** Beginning of the path, for example `/payments`. */
  path: z.string().startsWith('/').default('/'),
  status: z.union([z.literal(500), z.literal(502), z.literal(503)]).default(503),
  code: z.enum(['PE_01', 'PE_02', 'PE_03']).default('PE_01'),
  hold_ms: z.int().min(0).max(120_000).default(30_000),
  fields: z.array(z.string()).default([]),
});

export const LIST_ENVELOPES = ['count', 'has_more', 'size', 'array'] as const;

const listFaults = z.strictObject({
  /** Share of pages that lack some of their last rows although more follow. */
  short_pages: rate,
  sort: z.enum(['created', 'modified']).default('created'),
  /** Rows of one time come in another order in each request. */
  unstable_ties: z.boolean().default(false),
  /** Rows have five fields: id, status, amount, currency and created. */
  thin: z.boolean().default(false),
  /** Rows lack these fields. */
  omit_fields: omitFields,
  /** Lists show everything as it was this long ago. */
  replica_lag_ms: durationMs.default(0),
  /** Names of filters that have no effect. */
  ignored_filters: z.array(z.string()).default([]),
  envelope: z.enum(LIST_ENVELOPES).optional(),
  /** Times of new resources and changes are cut to a multiple of this: equal times. */
  tick_ms: z.int().min(1).max(60_000).default(1),
});

const retrieveFaults = z.strictObject({
  /** Retrieves show everything as it was this long ago; what is newer is not found. */
  lag_ms: durationMs.default(0),
  /** Bodies lack these fields. */
  omit_fields: omitFields,
});

/** How payments go. Rates are judged for each payment by itself. */
const paymentFaults = z.strictObject({
  /** What would be approved or declined at once is `processing` first, and decided later. */
  processing_first: rate,
  processing_ms: durationMs.default(5 * 60 * 1000),
  /** A surcharge comes on top: `net_amount` is `amount` and the surcharge, and is what is received. */
  surcharge: rate,
  surcharge_percent: z.int().min(1).max(100).default(3),
  /** While `processing`, the full amount is shown as `amount_received`; once `failed`, null. */
  early_received: rate,
});

const MAX_CLOCK_OFFSET_MS = 10 * 365 * DAY_MS;

export const faultsSchema = z.strictObject({
  /** Decides every random that the faults throw. */
  seed: z.int().default(1),
  webhooks: webhookFaults.prefault({}),
  requests: z.array(requestFault).max(50).default([]),
  lists: listFaults.prefault({}),
  retrieves: retrieveFaults.prefault({}),
  payments: paymentFaults.prefault({}),
  /** By how much the service's clock is off: every time that it stamps, shows, or dates answers with. */
  clock_offset_ms: z.int().min(-MAX_CLOCK_OFFSET_MS).max(MAX_CLOCK_OFFSET_MS).default(0),
  /** Disputes have their amount as text, as services of the family send it. */
  dispute_amount_as_text: z.boolean().default(false),
  /** Requests are judged by the contract to the letter: unknown fields, nulls and spellings are refused. */
  strict_requests: z.boolean().default(false),
  /** HTTP status of HE_01, which the contract leaves open. */
  he_01_status: z.union([z.literal(400), z.literal(409), z.literal(422)]).default(409),
});

export type Faults = z.infer<typeof faultsSchema>;
export type FaultsInput = z.input<typeof faultsSchema>;
export type WebhookFaults = Faults['webhooks'];
export type RequestFault = Faults['requests'][number];
export type ListFaults = Faults['lists'];
export type OmittableField = (typeof OMITTABLE_FIELDS)[number];

export const NO_FAULTS: Faults = faultsSchema.parse({});
