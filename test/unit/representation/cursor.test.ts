import { describe, expect, test } from 'vitest';
import { cutPage, numberPlace, readCursor, timePlace } from '../../../src/representation/cursor.ts';

const cursorOf = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a page', () => {
  const page = (count: number, limit: number) => {
    const rows = Array.from({ length: count }, (_, place) => place + 1);
    const { shown, next } = cutPage(rows, limit, (row) => [row]);
    const place = next === null ? null : readCursor(next, numberPlace);
    return [shown.length, place];
  };

  test('has a next page only if another row was read', () => {
    expect(page(0, 3)).toEqual([0, null]);
    expect(page(2, 3)).toEqual([2, null]);
    expect(page(3, 3)).toEqual([3, null]);
    expect(page(4, 3)).toEqual([3, { outcome: 'read', place: [3] }]);
  });
});

describe('a cursor', () => {
  const TIME = '2026-11-21T10:00:00.000Z';

  test('decodes to the position that it encodes, and to none if it is missing', () => {
    expect(readCursor(cursorOf([TIME, 'order:ord_1']), timePlace)).toEqual({
      outcome: 'read',
      place: [TIME, 'order:ord_1'],
    });
    expect(readCursor(undefined, timePlace)).toEqual({ outcome: 'read', place: undefined });
  });

  test.each([
    ['a NUL, which the database holds in no text', cursorOf([TIME, 'ord\u0000'])],
    ['a year that the database does not know', cursorOf(['0000-01-01T00:00:00Z', 'ord'])],
    ['a time that is none', cursorOf(['yesterday', 'ord'])],
    ['no key', cursorOf([TIME, ''])],
    ['a key without end', cursorOf([TIME, 'x'.repeat(301)])],
    ['one part too many', cursorOf([TIME, 'ord', 1])],
    ['another list’s place', cursorOf([5])],
    ['no JSON', Buffer.from('[').toString('base64url')],
    ['nothing', ''],
  ])('that somebody built is refused: %s', (_what, cursor) => {
    expect(readCursor(cursor, timePlace)).toMatchObject({ outcome: 'invalid' });
  });
});
