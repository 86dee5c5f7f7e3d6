/**
 * The list of banned words, and where a text uses one.
 *
 * A line of the list is one of these:
 *   PATTERN -> WHAT TO USE   a regular expression that ignores case
 *   ~ PATH                   a file, or a folder with all below it, that is exempt
 *   # COMMENT
 *
 * Names match, too: `dueAt` and `due_at` are read as "due At" and "due at".
 */

interface Ban {
  readonly pattern: RegExp;
  readonly use: string;
}

export interface BannedWords {
  readonly bans: readonly Ban[];
  readonly exempt: readonly string[];
}

/** One use of a banned word. */
export interface BannedUse {
  readonly line: number;
  readonly word: string;
  readonly use: string;
}

/** @throws Error when a line has none of the forms above */
export function readBannedWords(text: string): BannedWords {
  const lines = text.split('\n').map((line) => line.trim());
  const entries = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const isExemption = (line: string) => line.startsWith('~');
  return {
    bans: entries.filter((line) => !isExemption(line)).map(readBan),
    exempt: entries.filter(isExemption).map((line) => line.slice(1).trim().replace(/\/$/, '')),
  };
}

function readBan(line: string): Ban {
  const [, pattern, use] = /^(.+?)\s+->\s+(.+)$/.exec(line) ?? [];
  if (pattern === undefined || use === undefined) {
    throw new Error(`"${line}" is no line of banned words. Write: PATTERN -> WHAT TO USE`);
  }
  return { pattern: new RegExp(pattern, 'gi'), use };
}

export function isExempt(path: string, { exempt }: BannedWords): boolean {
  return exempt.some((one) => path === one || path.startsWith(`${one}/`));
}

export function findBannedUses(text: string, { bans }: BannedWords): readonly BannedUse[] {
  return text.split('\n').flatMap((line, index) => {
    const words = separateWords(line);
    return bans.flatMap(({ pattern, use }) =>
      [...words.matchAll(pattern)].map(([word]) => ({ line: index + 1, word, use })),
    );
  });
}

function separateWords(line: string): string {
  return line.replaceAll('_', ' ').replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ');
}
