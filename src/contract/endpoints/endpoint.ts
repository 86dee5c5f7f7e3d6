/**
 * One row of the endpoint table, and what all rows share. The client, the sandbox and the OpenAPI
 * document are built from the rows. service-interface.md §4.
 */
import { z } from 'zod';
import { SECRET_KEY_KINDS } from '../authentication.ts';
import type { ErrorCode } from '../errors.ts';
import type { FamilyErrorCode } from '../familyErrors.ts';
import type { ApiKeyKind } from '../limits.ts';
import { pathId } from '../requests/fields.ts';

/** An error that an endpoint can return. */
export interface EndpointError {
  readonly status: 400 | 401 | 403 | 404 | 409 | 422 | 429 | 500 | 502 | 503;
  readonly code: ErrorCode | FamilyErrorCode;
  readonly when: string;
}

/**
 * Whether a request may be retried after its response was lost.
 * - `safe`: a retry changes nothing.
 * - `keyed`: a retry is safe if the body has `key`: it is rejected with HE_01, and the resource is
 *   retrieved instead. service-interface.md §4.3.1.
 * - `findable`: never retried; if the body has `key`, a retrieve shows whether it was created.
 * - `once`: never retried.
 */
export type Repetition =
  | { readonly kind: 'safe' }
  | { readonly kind: 'keyed' | 'findable'; readonly key: string }
  | { readonly kind: 'once' };

/** One endpoint. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `:name` marks a parameter. */
  readonly path: string;
  readonly summary: string;
  readonly params: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Undefined for an endpoint without a body. */
  readonly body?: z.ZodType;
  /** The encoding of the body; JSON by default. */
  readonly encoding?: 'multipart';
  /** The response, with the fields that the contract shows. */
  readonly response: z.ZodType;
  /** For lists, one row. Parse a page with readPage, in any envelope. */
  readonly item?: z.ZodType;
  /** The status of a success; readers accept any 2xx. */
  readonly success: 200;
  readonly errors: readonly EndpointError[];
  readonly repetition: Repetition;
  /** Kinds of keys that may call it. */
  readonly keys: readonly ApiKeyKind[];
}

export const SAFE = { kind: 'safe' } as const;
export const ONCE = { kind: 'once' } as const;

/** Secret keys only; the contract leaves permissions open. service-interface.md §5.5. */
export const SECRET_KEYS: readonly ApiKeyKind[] = SECRET_KEY_KINDS;

/**
 * The contract requires an administrative key to create keys, the family for every call about keys.
 */
export const ADMIN_KEYS: readonly ApiKeyKind[] = ['admin'];

export const noParams = z.strictObject({});
export const merchantParams = z.strictObject({ merchant_id: pathId });
export const apiKeyParams = z.strictObject({ merchant_id: pathId, key_id: pathId });
export const paymentLinkParams = z.strictObject({ payment_link_id: pathId });
export const customerParams = z.strictObject({ customer_id: pathId });
export const paymentParams = z.strictObject({ payment_id: pathId });
export const refundParams = z.strictObject({ refund_id: pathId });
export const disputeParams = z.strictObject({ dispute_id: pathId });
export const payoutParams = z.strictObject({ payout_id: pathId });

/** Errors of every endpoint. service-interface.md §5.3, §7.2, §7.4 and §8.2. */
export const COMMON_ERRORS = [
  { status: 400, code: 'IR_01', when: 'A required field is missing.' },
  { status: 400, code: 'IR_04', when: 'A field has an invalid value or is unknown.' },
  { status: 401, code: 'AU_01', when: 'The key is missing or not valid.' },
  { status: 401, code: 'AU_02', when: 'The key was revoked.' },
  { status: 403, code: 'IR_22', when: 'The key lacks the permission.' },
  { status: 429, code: 'RL_01', when: 'Too many requests: wait until X-RateLimit-Reset.' },
  { status: 500, code: 'HE_00', when: 'Internal error.' },
  { status: 502, code: 'CE_01', when: 'The processor is unavailable.' },
  { status: 503, code: 'HE_00', when: 'Temporary outage.' },
] as const satisfies readonly EndpointError[];

/** IR_05 with HTTP 404. service-interface.md §7.4. */
export function notFound(what: string): EndpointError {
  return { status: 404, code: 'IR_05', when: `No ${what} with this id exists.` };
}
