/** What a rule decides: a new state of a resource, or why there is none. */
import type { ErrorCode, FamilyErrorCode } from '../../contract/index.ts';

/** The HTTP statuses that a refusal can have; service-interface.md §7.2. */
export type RefusalStatus = 400 | 401 | 403 | 404 | 409 | 422 | 429;

/** Why a request was not done, in the contract's words. */
export interface Refusal {
  readonly status: RefusalStatus;
  readonly code: ErrorCode | FamilyErrorCode;
  readonly message: string;
}

export type Decision<State> =
  | { readonly state: State; readonly refusal?: undefined }
  | { readonly refusal: Refusal; readonly state?: undefined };

export function accept<State>(state: State): Decision<State> {
  return { state };
}

/** A value that the endpoint's schema allows but this resource does not. */
export function refuseValue(message: string): { readonly refusal: Refusal } {
  return { refusal: { status: 400, code: 'IR_04', message } };
}

export function refuseMissing(message: string): { readonly refusal: Refusal } {
  return { refusal: { status: 400, code: 'IR_01', message } };
}

export function refuseUnknown(message: string): { readonly refusal: Refusal } {
  return { refusal: { status: 404, code: 'IR_05', message } };
}

/** The resource's status does not allow it; the contract's tables of refusals say how it is refused. */
export function refuseState(
  status: 400 | 409 | 422,
  code: FamilyErrorCode,
  message: string,
): { readonly refusal: Refusal } {
  return { refusal: { status, code, message } };
}
