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
import { type ErrorFaults, NO_FAULTS } from '../faults/settings.ts';

/** HE_00 and HE_01 have no type in the contract; a rejected request is an `invalid_request`. */
const TYPES: Readonly<
  Record<ErrorCode | FamilyErrorCode, { readonly type: ErrorType | undefined }>
> = { ...ERROR_CODES, ...FAMILY_ERROR_CODES };

/** What responses of the service carry in Express's `locals`. Those of control routes and pages do not. */
export interface ServiceLocals {
  /** The form of errors. Without it they have the contract's. */
  errorForm?: ErrorFaults;
}

export function sendRejection(response: Response, { status, code, message }: Rejection): void {
  const type = TYPES[code].type ?? 'invalid_request';
  sendError(response, status, { type, code, message });
}

/** The family's status and code of an error for which the contract has others. */
const FAMILY_ERRORS: Readonly<Record<string, { readonly status?: number; readonly code: string }>> =
  {
    AU_01: { code: 'IR_01' },
    AU_02: { code: 'IR_01' },
    IR_01: { code: 'IR_04' },
    IR_04: { status: 422, code: 'IR_06' },
    IR_05: { code: 'HE_02' },
    IR_14: { status: 400, code: 'IR_14' },
  };

/** The family's types by HTTP status; what it rejects is an `invalid_request`. */
const FAMILY_TYPES: Readonly<Record<number, string>> = { 500: 'api', 502: 'connector', 503: 'api' };

interface ServiceError {
  readonly type: ErrorType;
  readonly code: ErrorCode | FamilyErrorCode;
  readonly message: string;
}

function sendError(
  response: Response,
  status: number,
  { type, code, message }: ServiceError,
): void {
  const { errorForm = NO_FAULTS.errors }: ServiceLocals = response.locals;
  const { family, without_type: isBare } = errorForm;
  const { status: familyStatus = status, code: familyCode = code } = FAMILY_ERRORS[code] ?? {};
  const form = family
    ? { type: FAMILY_TYPES[status] ?? 'invalid_request', code: familyCode, message }
    : errorEnvelope(type, code, message).error;
  const error = isBare ? { code: form.code, message } : form;
  response.status(family ? familyStatus : status).json({ error });
}

/** An error of the service itself: `api_error`. service-interface.md §7.3. */
export function sendServiceError(
  response: Response,
  status: 500 | 502 | 503,
  message: string,
): void {
  const [type, code] =
    status === 502 ? (['connector_error', 'CE_01'] as const) : (['api_error', 'HE_00'] as const);
  sendError(response, status, { type, code, message });
}
