/**
 * Parses a JSON body. It also rejects text that PostgreSQL cannot store, and nesting so deep that
 * recursive code would exhaust the stack.
 */
import { type Decision, rejectValue } from '../domain/decision.ts';

const MAX_DEPTH = 64;

/** An empty body counts as an empty object: some requests have optional fields only. */
export function readJson(text: string): Decision<unknown> {
  if (text.trim() === '') return { value: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return rejectValue('request: not valid JSON');
  }
  const problem = problemOf(value, 0);
  return problem === undefined ? { value } : rejectValue(`request: ${problem}`);
}

/** Whether text can be stored. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function problemOf(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') {
    return isStorable(value) ? undefined : 'contains text with a NUL or an unpaired surrogate';
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`;
  for (const [key, inner] of Object.entries(value)) {
    const problem = problemOf(key, depth) ?? problemOf(inner, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
