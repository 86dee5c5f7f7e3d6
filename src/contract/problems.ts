/**
 * Describes what is wrong with a request: IR_01 for a missing field, IR_04 for an invalid one.
 * service-interface.md §7.4.
 *
 * A message names fields and limits and never repeats a value, which may be a card number.
 */
import type { z } from 'zod';

const ORDER_CONTENTS = "the order's contents are sent as order_details";

/** Field names that the contract forbids, with the reason. service-interface.md §4.3.1 and §4.8. */
export const FORBIDDEN_NAMES: ReadonlyMap<string, string> = new Map([
  ['items', ORDER_CONTENTS],
  ['line_items', ORDER_CONTENTS],
  ['cart_items', ORDER_CONTENTS],
  ['payout_link', 'it can be set only when the payout is created'],
]);

/** One problem of a request. */
export interface RequestProblem {
  readonly code: 'IR_01' | 'IR_04';
  /** The path, for example `billing.address.zip`; empty for the request as a whole. */
  readonly field: string;
  readonly message: string;
}

/** Returns every problem of `input`, missing fields first; empty if it is valid. */
export function problemsOf(schema: z.ZodType, input: unknown): readonly RequestProblem[] {
  const result = schema.safeParse(input);
  if (result.success) return [];
  const problems = result.error.issues.flatMap((issue) => readIssue(issue, input));
  return problems.toSorted((a, b) => (a.code < b.code ? -1 : a.code > b.code ? 1 : 0));
}

function readIssue(issue: z.core.$ZodIssue, input: unknown): readonly RequestProblem[] {
  const field = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const unknown = field === '' ? key : `${field}.${key}`;
      return { code: 'IR_04', field: unknown, message: hintAgainst(key, unknown) };
    });
  }
  const declaredMissing = issue.code === 'custom' && issue.params?.missing === true;
  if (declaredMissing || isAbsent(input, issue.path)) {
    const why = declaredMissing ? issue.message : 'required';
    return [{ code: 'IR_01', field, message: `${nameOf(field)}: ${why}` }];
  }
  return [{ code: 'IR_04', field, message: `${nameOf(field)}: ${issue.message}` }];
}

function hintAgainst(key: string, field: string): string {
  const reason = FORBIDDEN_NAMES.get(key);
  return reason === undefined
    ? `${field}: not a field of this request`
    : `${field}: not a field; ${reason}`;
}

function nameOf(field: string): string {
  return field === '' ? 'request' : field;
}

function isAbsent(input: unknown, path: readonly PropertyKey[]): boolean {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return false;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value === undefined;
}
