/**
 * A mistake that a maintainer could make, and the tests that must notice it.
 *
 * 1. It breaks one guarantee, which its text states as it should be.
 * 2. Its `code` occurs exactly once in its file. When the code has changed, the mistake is written again for
 *    the code of today: it never silently disappears.
 * 3. A test must run and fail. A file that does not load notices any mistake, and proves nothing.
 */
export interface Mistake {
  readonly guarantee: string;
  /** From the root of the checkout. */
  readonly file: string;
  readonly code: string;
  readonly mistaken: string;
  /** The cheapest test file that must notice it. */
  readonly test: string;
  /** Of the tests in that file, those that must notice it: a regular expression over their names. */
  readonly named?: string;
}

/** Mistakes in one part of the program. */
export interface Area {
  readonly name: string;
  readonly mistakes: readonly Mistake[];
}

/** Why a mistake cannot be put into a source (rule 2); undefined where it can. */
export function problemOf({ file, code, mistaken }: Mistake, source: string): string | undefined {
  const count = source.split(code).length - 1;
  if (code === mistaken) return `${file}: the mistake changes nothing`;
  if (count === 1) return undefined;
  return count === 0
    ? `${file}: the code has changed; write the mistake again. It lacks: ${code}`
    : `${file}: the mistake fits ${count} places; name more of its code: ${code}`;
}

/** The source with the mistake in it. */
export function withMistake({ code, mistaken }: Mistake, source: string): string {
  return source.replace(code, () => mistaken);
}
