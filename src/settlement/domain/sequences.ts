/**
 * Which statements of a file follow each other. Terms: a *sequence* has statements of one currency, each of which
 * begins with the balance with which the one before it ends.
 *
 * 1. The entries of a sequence are different bookings, however alike they are. An entry of another sequence may be
 *    the same booking: a file that was put together from overlapping downloads has statements more than once.
 * 2. No two statements of a sequence begin with the same balance. An account that is emptied every day comes back
 *    to it: then only the day of an entry shows whether it was read before.
 *    So of three statements of one day, from 100 to 150, back to 100 and to 150 again, the third is not counted after
 *    the first: an equal arrival without a reference of the bank is taken for that of the first. Nothing in such a file
 *    distinguishes it from one that has the first statement twice.
 * 3. Pages of one statement belong to its sequence, and a statement without entries to none.
 */

export interface Sequences {
  /**
   * Called at the first entry of a statement.
   * @param openingMinor undefined: it states none, and follows no other one
   * @returns the number of its sequence
   */
  readonly begin: (currency: string, openingMinor: number | undefined) => number;
  /** Called at the end of a statement or page with a sequence. */
  readonly end: (currency: string, closingMinor: number | undefined) => void;
}

interface Sequence {
  readonly number: number;
  readonly openings: Set<number>;
  closingMinor: number | undefined;
}

export function createSequences(): Sequences {
  const latest = new Map<string, Sequence>();
  let count = 0;
  const beginNew = (currency: string): Sequence => {
    count += 1;
    const sequence = { number: count, openings: new Set<number>(), closingMinor: undefined };
    latest.set(currency, sequence);
    return sequence;
  };
  return {
    begin: (currency, openingMinor) => {
      if (openingMinor === undefined) return beginNew(currency).number;
      const before = latest.get(currency);
      const isNext = before?.closingMinor === openingMinor && !before.openings.has(openingMinor);
      const sequence = isNext ? before : beginNew(currency);
      sequence.openings.add(openingMinor);
      return sequence.number;
    },
    end: (currency, closingMinor) => {
      const sequence = latest.get(currency);
      if (sequence) sequence.closingMinor = closingMinor;
    },
  };
}
