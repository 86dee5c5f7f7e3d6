/** Sends errors in the contract's envelope. */
import type { Response } from 'express';
import {
  ERROR_CODES,
  type ErrorCode,
  type ErrorType,
  errorEnvelope,
  FAMILY_ERROR_CODES,
  type FamilyErrorCode,
} from '../../contract/index.ts';
import type { Rejection } from '../domain/decision.ts';

/** HE_00 and HE_01 have no type in the contract; a rejected request is an `invalid_request`. */
const TYPES: Readonly<
  Record<ErrorCode | FamilyErrorCode, { readonly type: ErrorType | undefined }>
> = { ...ERROR_CODES, ...FAMILY_ERROR_CODES };

export function sendRejection(response: Response, { status, code, message }: Rejection): void {
  const type = TYPES[code].type ?? 'invalid_request';
  response.status(status).json(errorEnvelope(type, code, message));
}

/** An error of the service itself: `api_error`. service-interface.md §7.3. */
export function sendServiceError(
  response: Response,
  status: 500 | 502 | 503,
  message: string,
): void {
  const [type, code] =
    status === 502 ? (['connector_error', 'CE_01'] as const) : (['api_error', 'HE_00'] as const);
  response.status(status).json(errorEnvelope(type, code, message));
}
