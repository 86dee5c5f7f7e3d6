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

const TABLE_BITS = 18;
const TABLE_SIZE = 1 << TABLE_BITS;

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
  const addAt = (found: Set<Match<Owner>>, text: string, at: number): void => {
    const lengths = lengthsAt(text, at);
    if (lengths.length === 0 || continuesWord(text, at)) return;
    for (const length of lengths) {
      const matches = byForm.get(text.slice(at, at + length));
      if (matches === undefined || isContinued(text, at + length)) continue;
      for (const match of matches) found.add(match);
    }
  };
  return {
    find: (text) => {
      const lower = text.toLowerCase();
      const found = new Set<Match<Owner>>();
      for (let at = 0; at + MIN_VALUE_LENGTH <= lower.length; at += 1) addAt(found, lower, at);
      return [...found];
    },
  };
}

const NONE: readonly number[] = [];

/**
 * The lengths of the values that may begin at a place of a text. Ids begin alike, so one lookup for each
 * length is quicker than a comparison with each value.
 */
function lengthsByStart(forms: Iterable<string>): (text: string, at: number) => readonly number[] {
  const isStart = new Uint8Array(TABLE_SIZE);
  const lengths = new Map<string, number[]>();
  for (const form of forms) {
    isStart[slotOf(form, 0)] = 1;
    const start = form.slice(0, MIN_VALUE_LENGTH);
    const known = lengths.get(start);
    if (known === undefined) lengths.set(start, [form.length]);
    else if (!known.includes(form.length)) known.push(form.length);
  }
  return (text, at) =>
    isStart[slotOf(text, at)] === 0
      ? NONE
      : (lengths.get(text.slice(at, at + MIN_VALUE_LENGTH)) ?? NONE);
}

/** Where the three characters are in the table. Integers only: this runs for every character of a database. */
function slotOf(text: string, at: number): number {
  const mixed =
    Math.imul(text.charCodeAt(at), 0x9e3779b1) ^
    Math.imul(text.charCodeAt(at + 1), 0x85ebca6b) ^
    Math.imul(text.charCodeAt(at + 2), 0xc2b2ae35);
  return mixed >>> (32 - TABLE_BITS);
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

/** Whether a text in lower case has a letter or digit at a place. Before and behind it there is none. */
function isWordAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code >= 128) return WORD.test(text.charAt(at));
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
}

/** Whether the letter or digit at a place belongs to a word that begins before it. */
function continuesWord(text: string, at: number): boolean {
  if (!isWordAt(text, at - 1) || !isWordAt(text, at)) return false;
  return !isEscape(text.slice(Math.max(0, at - 3), at));
}

/** Whether the word before a place goes on there. */
function isContinued(text: string, at: number): boolean {
  return isWordAt(text, at - 1) && isWordAt(text, at);
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
  // What a pattern with the flag u lets one escape; it refuses others, such as the hyphen.
  const escaped = form.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
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
