/**
 * What a person may have meant by an id that does not exist. Pure.
 *
 * 1. Most wrong ids differ from the right one in one place: a letter that is missing, too many, another, or
 *    swapped with its neighbor. `spellings` lists all of them, so that an index finds the one that exists.
 * 2. Others lack their end, because a copy was cut. Those begin alike, so they are neighbors in an index.
 * 3. A suggestion is no guess: if several ids are equally near, as in a sequence of numbers, there is none.
 */
import { editDistance } from '../platform/editDistance.ts';

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789_-'];
/** Longer ones are not typed by hand, and have too many spellings. */
const LONGEST = 64;
/** A shorter part is the beginning of too many ids. */
const SHORTEST_PART = 6;
/** The most places in which a neighbor may differ. */
const MOST_EDITS = 2;

/** Every id that differs in one place (1), and the id in lower and upper case. */
export function spellings(id: string): readonly string[] {
  if (id.length > LONGEST) return [];
  const letters = id === id.toLowerCase() ? LETTERS : [...LETTERS, ...capitals()];
  const found = new Set([id.toLowerCase(), id.toUpperCase()]);
  for (let place = 0; place <= id.length; place += 1) {
    const [before, after] = [id.slice(0, place), id.slice(place)];
    for (const letter of letters) {
      found.add(before + letter + after);
      if (after !== '') found.add(before + letter + after.slice(1));
    }
    found.add(before + after.slice(1));
    found.add(before + after.charAt(1) + after.charAt(0) + after.slice(2));
  }
  found.delete(id);
  found.delete('');
  return [...found];
}

function capitals(): readonly string[] {
  return LETTERS.filter((letter) => /[a-z]/.test(letter)).map((letter) => letter.toUpperCase());
}

/** The one of these that is nearest; undefined if none is near, or several are equally near (3). */
export function nearest(id: string, existing: readonly string[]): string | undefined {
  const ranked = [...new Set(existing)]
    .map((one) => ({ one, edits: distance(id, one) }))
    .filter(({ edits }) => edits <= MOST_EDITS)
    .toSorted((a, b) => a.edits - b.edits);
  const [first, second] = ranked;
  return first && first.edits !== second?.edits ? first.one : undefined;
}

/** A cut copy counts as one edit, however much it lacks. */
function distance(id: string, existing: string): number {
  if (existing.toLowerCase() === id.toLowerCase()) return 0;
  const isCut = existing.startsWith(id) && id.length >= SHORTEST_PART;
  return isCut ? 1 : editDistance(id, existing);
}
