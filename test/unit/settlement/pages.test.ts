/** Pages of camt.053 statements. Numbers are the rules of src/settlement/domain/pages.ts. */
import { describe, expect, test } from 'vitest';
import {
  createPages,
  type PageNumber,
  type PageSums,
  pageNumberOf,
} from '../../../src/settlement/domain/pages.ts';
import { problemOf } from '../../support/problemOf.ts';

const PLACE = { line: 9, column: 3 };

type Page = readonly [page: PageNumber | undefined, sums: Partial<PageSums>];

const own = (number: number, isLast = false): PageNumber => ({ number, isLast, isOwn: true });
const ofMessage = (number: number): PageNumber => ({ number, isLast: false, isOwn: false });

/** Reads pages, each with an entry unless its sum is zero. @returns their sequences */
function read(pages: readonly Page[], reader = createPages()): readonly number[] {
  return pages.flatMap(([page, fields]) => {
    const sums: PageSums = {
      sequence: undefined,
      currency: 'EUR',
      openingMinor: undefined,
      closingMinor: undefined,
      interimMinor: [],
      entriesMinor: 0n,
      ...fields,
    };
    const sequence = sums.entriesMinor === 0n ? undefined : reader.begin(page, sums);
    reader.end(page, { ...sums, sequence }, PLACE);
    return sequence ?? [];
  });
}
const problem = (pages: readonly Page[]) => problemOf(() => read(pages));

test('1: a statement without pages leads from its opening to its closing balance', () => {
  const statement = { openingMinor: 100, closingMinor: 150, entriesMinor: 50n };
  const reader = createPages();
  expect(read([[undefined, statement]], reader)).toEqual([1]);
  expect(reader.isContinued()).toBe(false);
  expect(problem([[undefined, { ...statement, entriesMinor: 40n }]])).toMatch(
    /do not lead to the closing balance: 0\.10 EUR is missing/,
  );
});

describe('2: pages follow each other', () => {
  const first: Page = [own(1), { openingMinor: 100, interimMinor: [150], entriesMinor: 50n }];

  test('by their numbers', () => {
    expect(problem([first, [own(3, true), {}]])).toBe(
      'line 9, column 3: this is page 3 of a statement, and page 2 of the one before it is missing. Download the file again',
    );
  });

  test('and before the last one no other statement begins', () => {
    const other: Page = [undefined, { openingMinor: 150, closingMinor: 150 }];
    expect(problem([first, other])).toContain('page 2 of the one before it is missing');
  });

  test.each<[string, Partial<PageSums>]>([
    ['by the balance between them', { interimMinor: [150, 180] }],
    ['by their numbers alone, where one states one of two balances', { interimMinor: [180] }],
    ['by their numbers alone, where one states none', {}],
  ])('%s', (_name, sums) => {
    const second: Page = [own(2), { ...sums, entriesMinor: 30n }];
    const last: Page = [own(3, true), { closingMinor: 190, entriesMinor: 10n }];
    expect(read([first, second, last])).toEqual([1, 1, 1]);
    expect(problem([first, [own(2), { interimMinor: [151, 181], entriesMinor: 30n }]])).toMatch(
      /ends with 1\.50 EUR, and this one begins with 1\.51 EUR/,
    );
  });

  test('and one statement another, also if its first page has no entry', () => {
    const before: Page = [undefined, { openingMinor: 100, closingMinor: 150, entriesMinor: 50n }];
    const empty: Page = [own(1), { openingMinor: 150 }];
    const last: Page = [own(2, true), { closingMinor: 160, entriesMinor: 10n }];
    expect(read([before, empty, last])).toEqual([1, 1]);
  });
});

test('4: the numbers of a message do not show which of its statements is continued', () => {
  const one: Page = [ofMessage(1), { openingMinor: 100, interimMinor: [150], entriesMinor: 50n }];
  const other: Page = [ofMessage(1), { openingMinor: 900, interimMinor: [950], entriesMinor: 50n }];
  expect(read([one, other])).toEqual([1, 2]);
  const further: Page = [ofMessage(5), { entriesMinor: 10n }];
  expect(read([[own(1), { openingMinor: 100, entriesMinor: 50n }], further])).toEqual([1, 2]);
});

describe('the number of a page', () => {
  test.each([
    ['1', 'true', 1, true],
    ['2', '1', 2, true],
    ['3', 'false', 3, false],
    ['99999', '0', 99_999, false],
  ])('%j and %j', (number, last, expected, isLast) => {
    expect(pageNumberOf(number, last, PLACE)).toEqual({ number: expected, isLast });
  });

  test.each([
    ['0', 'true'],
    ['', 'true'],
    ['x', 'true'],
    ['1.5', 'true'],
    ['123456', 'true'],
    [undefined, 'true'],
    ['1', 'yes'],
    ['1', undefined],
  ])('is refused if it cannot be read: %j and %j', (number, last) => {
    expect(problemOf(() => pageNumberOf(number, last, PLACE))).toBe(
      'line 9, column 3: a page has no readable number, or does not state whether it is the last',
    );
  });
});
