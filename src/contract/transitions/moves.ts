/**
 * How the tables of transitions are written. A move is direct: which statuses can follow which over
 * time is another question, which the ledger answers with a table of its own.
 * Interface document, section States and transitions.
 */
import type { ErrorCode } from '../errors.ts';
import type { FamilyErrorCode } from '../familyErrors.ts';

/** Before a resource exists. */
export const NEW = 'new';

/** From any of `from` to one of `to`; what decides among several is said in `when`. */
export interface Move<By extends string, Status extends string> {
  /** An operation, named like its endpoint, or something that happens at the service. */
  readonly by: By;
  readonly from: readonly (Status | typeof NEW)[];
  readonly to: readonly Status[];
  readonly when?: string;
}

/** How an operation is refused in a status that it may not start from. */
export interface StateRefusal {
  readonly httpStatus: 400 | 409 | 422;
  readonly code: ErrorCode | FamilyErrorCode;
}

/** The refusal of one operation, and the statuses in which it is another one. */
export interface StateRefusals<Status extends string> {
  readonly usual: StateRefusal;
  readonly special?: { readonly from: readonly Status[]; readonly refusal: StateRefusal };
}

/** Whether an operation may start, and if not, how it is refused. */
export type Judgement =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly refusal: StateRefusal };

/** Judges `operation` in `status` by one resource's tables. */
export function judge(
  moves: readonly Move<string, string>[],
  refusals: StateRefusals<string>,
  operation: string,
  status: string,
): Judgement {
  if (moves.some(({ by, from }) => by === operation && from.includes(status))) {
    return { allowed: true };
  }
  const { usual, special } = refusals;
  return { allowed: false, refusal: special?.from.includes(status) ? special.refusal : usual };
}
