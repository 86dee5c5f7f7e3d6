/**
 * One row of the table of endpoints, and what all rows share. Client, sandbox and the OpenAPI
 * document are all made from the rows. service-interface.md §4.
 */
import { z } from 'zod';
import { SECRET_KEY_KINDS } from '../authentication.ts';
import type { ErrorCode } from '../errors.ts';
import type { FamilyErrorCode } from '../familyErrors.ts';
import type { ApiKeyKind } from '../limits.ts';
import { pathId } from '../requests/fields.ts';

/** What an endpoint can refuse with. */
export interface EndpointError {
  readonly status: 400 | 401 | 403 | 404 | 409 | 422 | 429 | 500 | 502 | 503;
  readonly code: ErrorCode | FamilyErrorCode;
  readonly when: string;
}

/**
 * What may be done after an answer was lost.
 * - `safe`: repeating changes nothing more than once.
 * - `keyed`: repeating is safe where the body carries `key`; the repetition is then refused with
 *   HE_01, and the resource is read. service-interface.md §4.3.1.
 * - `findable`: never repeated; where the body carries `key`, reading tells what became of it.
 * - `once`: never repeated.
 */
export type Repetition =
  | { readonly kind: 'safe' }
  | { readonly kind: 'keyed' | 'findable'; readonly key: string }
  | { readonly kind: 'once' };

/** One endpoint. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `:name` marks a parameter, as in the contract. */
  readonly path: string;
  readonly summary: string;
  readonly params: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Undefined for an endpoint that takes none. */
  readonly body?: z.ZodType;
  /** How the body is sent; as JSON unless this says otherwise. */
  readonly encoding?: 'multipart';
  /** What it answers with, in the form the contract shows. */
  readonly response: z.ZodType;
  /** For lists, one row of it: a page is read with readPage, whatever its envelope. */
  readonly item?: z.ZodType;
  /** The status of an answer that is no error; readers take any 2xx. */
  readonly success: 200;
  readonly errors: readonly EndpointError[];
  readonly repetition: Repetition;
  /** Kinds of keys that may use it. */
  readonly keys: readonly ApiKeyKind[];
}

export const SAFE = { kind: 'safe' } as const;
export const ONCE = { kind: 'once' } as const;

/** Secret keys only. service-interface.md §5.5. */
export const SECRET_KEYS: readonly ApiKeyKind[] = SECRET_KEY_KINDS;

/** The contract names the administrative key for creating keys; the family, for all about keys. */
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

/**
 * What every endpoint can refuse with. service-interface.md §7.2, §7.4, §8.2 and §5.3.
 */
export const COMMON_ERRORS = [
  { status: 400, code: 'IR_01', when: 'A required field is missing.' },
  { status: 400, code: 'IR_04', when: 'A field has an invalid value, or is not a field.' },
  { status: 401, code: 'AU_01', when: 'The key is missing or not valid.' },
  { status: 401, code: 'AU_02', when: 'The key was revoked.' },
  { status: 403, code: 'IR_22', when: 'The key may not do this.' },
  { status: 429, code: 'RL_01', when: 'Too many requests: wait until X-RateLimit-Reset.' },
  { status: 500, code: 'HE_00', when: 'Internal error.' },
  { status: 502, code: 'CE_01', when: 'The processor is unavailable.' },
  { status: 503, code: 'HE_00', when: 'Temporary outage.' },
] as const satisfies readonly EndpointError[];

/** service-interface.md §7: IR_05 with HTTP 404. */
export function notFound(what: string): EndpointError {
  return { status: 404, code: 'IR_05', when: `No ${what} with this id exists.` };
}
