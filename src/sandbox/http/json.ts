/**
 * Reads a JSON body, or says what is wrong with it. Refused are also texts that PostgreSQL cannot
 * store, and depths that would exhaust the stack of whoever walks through the value.
 */
import { type Decision, rejectValue } from '../domain/decision.ts';

const MAX_DEPTH = 64;

/** No body at all counts as an empty object: every field of some requests is optional. */
export function readJson(text: string): Decision<unknown> {
  if (text.trim() === '') return { state: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return rejectValue('request: not valid JSON');
  }
  const problem = problemOf(value, 0);
  return problem === undefined ? { state: value } : rejectValue(`request: ${problem}`);
}

/** Whether text can be stored. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function problemOf(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') {
    return isStorable(value) ? undefined : 'holds text with a NUL or half a character';
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`;
  for (const [key, inner] of Object.entries(value)) {
    const problem = problemOf(key, depth) ?? problemOf(inner, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
