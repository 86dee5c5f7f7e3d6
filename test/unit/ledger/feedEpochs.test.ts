import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FeedEpoch, positionOf, spansOf } from '../../../src/ledger/domain/feedEpochs.ts';

const after = (number: number, ...epochs: readonly FeedEpoch[]) =>
  positionOf(
    number,
    epochs.filter(({ firstNumber }) => firstNumber > number),
  );
const SECOND = { firstNumber: 5_000_000, continuesAfter: 100 };
const THIRD = { firstNumber: 9_000_000, continuesAfter: 5_000_020 };

test.each([
  [
    'a number of the last epoch',
    after(9_000_003, SECOND, THIRD),
    { outcome: 'known', next: 9_000_004 },
  ],
  ['a number that every server has', after(99, SECOND, THIRD), { outcome: 'known', next: 100 }],
  [
    'the last one before an epoch',
    after(100, SECOND, THIRD),
    { outcome: 'known', next: 5_000_000 },
  ],
  ['an undone number', after(101, SECOND), { outcome: 'undone', continueAfter: 100 }],
  [
    'one that is undone twice',
    after(101, SECOND, THIRD),
    { outcome: 'undone', continueAfter: 100 },
  ],
  [
    'one of the second epoch',
    after(5_000_021, SECOND, THIRD),
    { outcome: 'undone', continueAfter: 5_000_020 },
  ],
  [
    'an epoch without changes',
    after(100, SECOND, { ...THIRD, continuesAfter: 100 }),
    { outcome: 'known', next: 9_000_000 },
  ],
  [
    'a number of an epoch that this server never had',
    after(4_000_000, SECOND),
    { outcome: 'undone', continueAfter: 0 },
  ],
])('%s', (_, position, expected) => {
  expect(position).toEqual(expected);
});

/** A server with a history, of which a standby has a part when it takes over; and so on. */
const histories = fc.array(fc.tuple(fc.nat({ max: 30 }), fc.nat({ max: 10 })), { maxLength: 6 });

test('a reader of any history continues after what the server has of it', () => {
  fc.assert(
    fc.property(histories, fc.nat({ max: 200 }), (steps, place) => {
      let numbers: number[] = [];
      const epochs: FeedEpoch[] = [];
      const read: number[] = [];
      let next = 1;
      for (const [written, lost] of steps) {
        for (let n = 0; n < written; n += 1) numbers.push(next + n);
        read.push(...numbers.filter((number) => !read.includes(number)));
        numbers = numbers.slice(0, Math.max(0, numbers.length - lost));
        next = 1_000 * (epochs.length + 1);
        epochs.push({ firstNumber: next, continuesAfter: numbers.at(-1) ?? 0 });
      }
      const position = read[place % Math.max(1, read.length)] ?? 0;
      const found = after(position, ...epochs);
      const isKept = position === 0 || numbers.includes(position);
      expect(found.outcome).toBe(isKept ? 'known' : 'undone');
      if (found.outcome !== 'undone') return;
      // Nothing between is left, and nothing that is left is skipped.
      const kept = [0, ...numbers].filter((number) => number < position);
      expect(found.continueAfter).toBe(Math.max(...kept));
    }),
  );
});

test.each([
  ['no epoch', { after: 5, until: 90 }, [[5, 90]]],
  [
    'all epochs',
    { after: 5, until: 9_000_007 },
    [
      [5, 100],
      [4_999_999, 5_000_020],
      [8_999_999, 9_000_007],
    ],
  ],
  ['the end of one', { after: 100, until: 5_000_003 }, [[4_999_999, 5_000_003]]],
  ['the last one', { after: 9_000_001, until: 9_000_007 }, [[9_000_001, 9_000_007]]],
  ['nothing', { after: 9, until: 9 }, []],
] as const)('the spans with changes in %s', (_, span, expected) => {
  const found = spansOf(span, [{ firstNumber: 1, continuesAfter: 0 }, SECOND, THIRD]);
  expect(found.map(({ after: first, until }) => [first, until])).toEqual(expected);
});
