/** What a rule decides: a value, such as the new state of a resource, or why there is none. */
import type { ErrorCode, FamilyErrorCode } from '../../contract/index.ts';

/** The HTTP statuses that a rejection can have; service-interface.md §7.2. */
export type RejectionStatus = 400 | 401 | 403 | 404 | 409 | 422 | 429;

/** Why a request was rejected, as an error of the contract. */
export interface Rejection {
  readonly status: RejectionStatus;
  readonly code: ErrorCode | FamilyErrorCode;
  readonly message: string;
}

export type Decision<Value> =
  | { readonly value: Value; readonly rejection?: undefined }
  | { readonly rejection: Rejection; readonly value?: undefined };

export function accept<Value>(value: Value): Decision<Value> {
  return { value };
}

/** A value that the endpoint's schema allows but this resource does not. */
export function rejectValue(message: string): { readonly rejection: Rejection } {
  return { rejection: { status: 400, code: 'IR_04', message } };
}

export function rejectMissing(message: string): { readonly rejection: Rejection } {
  return { rejection: { status: 400, code: 'IR_01', message } };
}

export function rejectUnknown(message: string): { readonly rejection: Rejection } {
  return { rejection: { status: 404, code: 'IR_05', message } };
}

/** The resource's status does not allow the request; the contract decides the HTTP status and code. */
export function rejectState(
  status: 400 | 409 | 422,
  code: FamilyErrorCode,
  message: string,
): { readonly rejection: Rejection } {
  return { rejection: { status, code, message } };
}
