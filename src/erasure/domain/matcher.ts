/**
 * Finds many values in texts, in one pass over each text.
 *
 * 1. Upper and lower case do not matter.
 * 2. A value is found in every form in which it may be stored: as it is, escaped as in JSON, and escaped
 *    as in a URL. Accented letters are found composed and decomposed.
 * 3. A value is found as a word: "Ann Lee" is not found in "Joann Lee".
 *
 * A regular expression with thousands of alternatives tries each of them at every character. Here a
 * table of three characters rules out almost all positions first.
 */

/** Values with what the caller wants to know of them. */
export interface Matcher<Owner> {
  /** What the values found in a text belong to, and each value as it was given. */
  find(text: string): readonly Match<Owner>[];
}

export interface Match<Owner> {
  readonly value: string;
  readonly owner: Owner;
}

/** Shorter values are in too many texts to be searched for. */
export const MIN_VALUE_LENGTH = 3;

const TABLE_SIZE = 1 << 18;

export function createMatcher<Owner>(values: Iterable<Match<Owner>>): Matcher<Owner> {
  const byForm = new Map<string, Match<Owner>[]>();
  for (const match of values) {
    for (const form of formsOf(match.value)) {
      const matches = byForm.get(form);
      if (matches) matches.push(match);
      else byForm.set(form, [match]);
    }
  }
  const lengthsAt = lengthsByStart(byForm.keys());
  return {
    find: (text) => {
      const lower = text.toLowerCase();
      const found = new Set<Match<Owner>>();
      for (let at = 0; at + MIN_VALUE_LENGTH <= lower.length; at += 1) {
        for (const length of lengthsAt(lower, at)) {
          const matches = byForm.get(lower.slice(at, at + length));
          if (matches === undefined || !isWord(lower, at, length)) continue;
          for (const match of matches) found.add(match);
        }
      }
      return [...found];
    },
  };
}

const NONE: readonly number[] = [];

/**
 * The lengths of the values that may begin at a place of a text. Ids begin alike, so one lookup for each
 * length is quicker than a comparison with each value.
 */
function lengthsByStart(forms: Iterable<string>): (text: string, at: number) => Iterable<number> {
  const isStart = new Uint8Array(TABLE_SIZE);
  const lengths = new Map<number, Set<number>>();
  for (const form of forms) {
    const start = startOf(form, 0);
    isStart[start % TABLE_SIZE] = 1;
    lengths.set(start, (lengths.get(start) ?? new Set()).add(form.length));
  }
  return (text, at) => {
    const start = startOf(text, at);
    return isStart[start % TABLE_SIZE] === 0 ? NONE : (lengths.get(start) ?? NONE);
  };
}

function startOf(text: string, at: number): number {
  return (
    (text.charCodeAt(at) * 65_599 + text.charCodeAt(at + 1)) * 65_599 + text.charCodeAt(at + 2)
  );
}

/** The forms of a value in lower case; none of a value that is too short. */
export function formsOf(value: string): readonly string[] {
  const trimmed = value.trim();
  if (trimmed.length < MIN_VALUE_LENGTH) return [];
  const forms = [trimmed.normalize('NFC'), trimmed.normalize('NFD')].flatMap((form) => [
    form,
    JSON.stringify(form).slice(1, -1),
    asciiJson(form),
    encodeURIComponent(form.toWellFormed()),
    encodeURIComponent(form.toWellFormed()).replaceAll('%20', '+'),
  ]);
  return [...new Set(forms.map((form) => form.toLowerCase()))];
}

/** As a program writes JSON that escapes everything but ASCII. */
function asciiJson(text: string): string {
  return JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}

const WORD = /[\p{L}\p{N}]/u;

/** Whether no letter or digit continues the value on either side. */
function isWord(text: string, at: number, length: number): boolean {
  const before = text.slice(Math.max(0, at - 3), at);
  const isOpen = WORD.test(text.charAt(at)) && WORD.test(before.slice(-1)) && !isEscape(before);
  const last = text.charAt(at + length - 1);
  return !isOpen && !(WORD.test(last) && WORD.test(text.charAt(at + length)));
}

/** The letter or digit before a value may end an escape: `\n` in JSON, `%20` in a URL. */
function isEscape(before: string): boolean {
  return /\\[bfnrt]$|%[0-9a-f]{2}$/.test(before);
}

/** What is left in the place of a value. */
export const ERASED = '[erased]';

/** Replaces values in every form in which they are found. */
export function eraseValues(text: string, values: readonly string[]): string {
  // A long value may contain a short one.
  const forms = [...new Set(values.flatMap(formsOf))].toSorted((a, b) => b.length - a.length);
  return forms.reduce((rest, form) => rest.replaceAll(wordPattern(form), ERASED), text);
}

function wordPattern(form: string): RegExp {
  const escaped = form.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const before = WORD.test(form.charAt(0))
    ? '(?:(?<![\\p{L}\\p{N}])|(?<=\\\\[bfnrt])|(?<=%[0-9a-fA-F]{2}))'
    : '';
  const after = WORD.test(form.slice(-1)) ? '(?![\\p{L}\\p{N}])' : '';
  return new RegExp(`${before}${escaped}${after}`, 'giu');
}

/** Replaces values in the texts of a JSON document, and leaves everything else as it is. */
export function eraseInJson(document: unknown, values: readonly string[]): unknown {
  if (typeof document === 'string') return eraseValues(document, values);
  if (Array.isArray(document)) return document.map((item) => eraseInJson(item, values));
  if (typeof document !== 'object' || document === null) return document;
  return Object.fromEntries(
    Object.entries(document).map(([name, item]) => [name, eraseInJson(item, values)]),
  );
}
