import { expect, test } from 'vitest';
import { keysetPages, keysetRows, linkedPages } from '../../../src/platform/keyset.ts';

async function all<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
}

test.each([0, 1, 2, 3, 4, 5])(
  'a list of %i rows is read as pages of two, none of them empty',
  async (count) => {
    const rows = Array.from({ length: count }, (_, place) => place + 1);
    const readAfter = (after = 0, limit: number) =>
      Promise.resolve(rows.filter((row) => row > after).slice(0, limit));
    const pages = await all(keysetPages<number>(2, readAfter));
    expect(pages.map(({ length }) => length)).toEqual(
      [0, 2, 4].filter((start) => start < count).map((start) => Math.min(2, count - start)),
    );
    expect(pages.flat()).toEqual(rows);
    expect(await all(keysetRows<number>(2, readAfter))).toEqual(rows);
  },
);

test('a list is read on behind a page that found nothing in the rows that it searched', async () => {
  const pages = new Map([
    [0, { rows: ['a'], next: 1 }],
    [1, { rows: [], next: 2 }],
    [2, { rows: ['b'], next: undefined }],
  ]);
  const readPage = (after = 0) =>
    Promise.resolve(pages.get(after) ?? { rows: [], next: undefined });
  expect(await all(linkedPages(undefined, readPage))).toEqual([['a'], ['b']]);
});
