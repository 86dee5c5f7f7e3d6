/** What the process that runs the tests is given, and what it reports. */
import { readFileSync } from 'node:fs';

/** A line of the results. */
export type Result =
  | { readonly kind: 'killed'; readonly mutant: number; readonly test: string }
  /** The test did not end with this mutant, and its process was ended. */
  | { readonly kind: 'stalled'; readonly mutant: number; readonly test: string }
  /** What the tests of a file pass, and what loading modules for it passes. */
  | {
      readonly kind: 'passed';
      readonly file: string;
      readonly tests: readonly number[];
      readonly load: readonly number[];
    }
  /** A test that does not pass a second time: its results do not count. */
  | { readonly kind: 'unrepeatable'; readonly test: string; readonly why: string };

/** Which tests are near a module of rules: they import it, or pass a mutant of it or of its importers. */
export interface Near {
  readonly file: string;
  readonly tests: readonly string[];
  readonly ids: readonly (readonly [first: number, end: number])[];
}

/** Whether a test noticed a mutant. */
export function isKill(
  result: Result,
): result is Extract<Result, { readonly kind: 'killed' | 'stalled' }> {
  return result.kind === 'killed' || result.kind === 'stalled';
}

export function readResults(file: string): readonly Result[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Result => JSON.parse(line));
}
