/**
 * The form of the transition tables. Each row is a single direct transition; which statuses can
 * follow each other over time is a separate table of the ledger (src/ledger/domain/transitions.ts).
 */
import type { ErrorCode } from '../../../src/contract/errors.ts';
import type { FamilyErrorCode } from '../../../src/contract/familyErrors.ts';

/** Before a resource exists. */
export const NEW = 'new';

/** From any of `from` to one of `to`; `when` names the condition that selects among several rows. */
export interface Transition<By extends string, Status extends string> {
  /** An operation, named after its endpoint, or something that happens at the service. */
  readonly by: By;
  readonly from: readonly (Status | typeof NEW)[];
  readonly to: readonly Status[];
  readonly when?: string;
}

/** The error for an operation in a status that does not allow it. */
export interface StateRefusal {
  readonly httpStatus: 400 | 409 | 422;
  readonly code: ErrorCode | FamilyErrorCode;
}

/** The usual error of an operation, and the statuses with a different one. */
export interface StateRefusals<Status extends string> {
  readonly usual: StateRefusal;
  readonly special?: { readonly from: readonly Status[]; readonly refusal: StateRefusal };
}

/** Whether a status allows an operation, and the error if it does not. */
export type StateCheck =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly refusal: StateRefusal };

/** Checks `operation` in `status` against the tables of one resource. */
export function checkState(
  transitions: readonly Transition<string, string>[],
  refusals: StateRefusals<string>,
  operation: string,
  status: string,
): StateCheck {
  if (transitions.some(({ by, from }) => by === operation && from.includes(status))) {
    return { allowed: true };
  }
  const { usual, special } = refusals;
  return { allowed: false, refusal: special?.from.includes(status) ? special.refusal : usual };
}
