/**
 * Errors of requests that attempted no payment: the envelope, its types and codes, and the HTTP
 * statuses. A payment that was attempted and declined is not an error: it comes with HTTP 200 and a
 * `unified_code`, see declines.ts. service-interface.md §7.
 */
import { z } from 'zod';
import type { FamilyErrorCode } from './familyErrors.ts';
import { text } from './resources/fields.ts';

/**
 * Parses the error envelope leniently: unknown types and codes are accepted, and so are extra keys,
 * because some services of this family add details to the three fields. service-interface.md §7.1.
 */
export const errorEnvelopeSchema = z.looseObject({
  error: z.looseObject({ type: z.string(), code: z.string(), message: z.string() }),
});
export type ErrorEnvelope = z.infer<typeof errorEnvelopeSchema>;

/**
 * The body of a 4xx or 5xx. The contract leaves the type of HE_01 and HE_00 open, so only the code is
 * required: nothing else shows that a payment exists. service-interface.md §7.4.
 */
const errorBodySchema = z.looseObject({
  error: z.looseObject({ code: z.string().min(1), message: text }),
});

/** Reads the body of a 4xx or 5xx; undefined if it has no error code. */
export function readError(
  body: unknown,
): { readonly code: string; readonly message: string } | undefined {
  const error = errorBodySchema.safeParse(body).data?.error;
  return error && { code: error.code, message: error.message ?? '' };
}

/**
 * The types of errors; the last one appears in the list of codes only. service-interface.md §7.3.
 */
export const ERROR_TYPES = [
  'authentication_error',
  'invalid_request',
  'processing_error',
  'rate_limit_error',
  'api_error',
  'connector_error',
] as const;
export type ErrorType = (typeof ERROR_TYPES)[number];

/** One row of the list of codes; `type` is undefined where the contract leaves it open. */
export interface ErrorCodeEntry {
  readonly type: ErrorType | undefined;
  readonly meaning: string;
}

/**
 * The error codes. The HTTP status of HE_01 is open and differs within the family, so readers
 * decide by the code and never by that status. For unlisted codes the HTTP status decides.
 * service-interface.md §7.4.
 */
export const ERROR_CODES = {
  AU_01: { type: 'authentication_error', meaning: 'Invalid API key' },
  AU_02: { type: 'authentication_error', meaning: 'API key revoked' },
  IR_01: { type: 'invalid_request', meaning: 'Missing required field' },
  IR_04: { type: 'invalid_request', meaning: 'Invalid field value' },
  IR_05: { type: 'invalid_request', meaning: 'Resource not found' },
  PE_01: { type: 'processing_error', meaning: 'Card declined' },
  PE_02: { type: 'processing_error', meaning: 'Insufficient funds' },
  PE_03: { type: 'processing_error', meaning: 'Expired card' },
  CE_01: { type: 'connector_error', meaning: 'Processor unavailable' },
  RL_01: { type: 'rate_limit_error', meaning: 'Rate limit exceeded' },
  HE_01: {
    type: undefined,
    meaning: 'A payment with this payment_id already exists: retrieve it instead of failing',
  },
  HE_00: {
    type: undefined,
    meaning: 'The API rejected the request; the contract leaves the cause open',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
export type ErrorCode = keyof typeof ERROR_CODES;

/** The HTTP statuses. service-interface.md §7.2. */
export const HTTP_STATUSES = {
  200: 'Succeeded',
  201: 'Created',
  400: 'Invalid parameters or missing fields',
  401: 'Invalid or missing API key',
  403: 'Insufficient permissions',
  404: 'Resource does not exist',
  409: 'Already exists or action conflicts',
  422: 'Understood but cannot be processed',
  429: 'Rate limit exceeded',
  500: 'Internal error',
  502: 'Upstream error',
  503: 'Temporary outage',
} as const satisfies Record<number, string>;

/**
 * Builds an error envelope. Reading is lenient, writing is strict: only types and codes of the
 * contract are sent. service-interface.md §7.1.
 */
export function errorEnvelope(
  type: ErrorType,
  code: ErrorCode | FamilyErrorCode,
  message: string,
): ErrorEnvelope {
  return { error: { type, code, message } };
}
