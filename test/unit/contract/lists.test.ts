import { describe, expect, it } from 'vitest';
import {
  listDisputesQuery,
  listPaymentsRequest,
  problemsOf,
  readPage,
  readQuery,
  refundSchema,
  writeQuery,
} from '../../../src/contract/index.ts';

const rows = [{ refund_id: 'r1', news: 1 }, { refund_id: 'r2' }];

describe('a page of a list', () => {
  it.each([
    ['payment lists', { count: 2, total_count: 7, data: rows }, 7, undefined],
    ['other lists', { data: rows, total_count: 7, has_more: true }, 7, true],
    ['a bare array', rows, undefined, undefined],
    ['size and data', { size: 2, data: rows }, undefined, undefined],
    ['nulls', { data: rows, total_count: null, has_more: null }, undefined, undefined],
  ])('is read from the envelope of %s', (_, body, totalCount, hasMore) => {
    expect(readPage(refundSchema, body)).toEqual({
      items: rows,
      unreadable: [],
      totalCount,
      hasMore,
    });
  });

  it.each([[null], ['[]'], [{}], [{ data: {} }]])('is not read from %j', (body) => {
    expect(() => readPage(refundSchema, body)).toThrow();
  });

  it('separates unreadable rows, so that they hide no others', () => {
    const odd = [{ refund_id: 1 }, { refund_id: 'r3', amount: 65.4 }, null];
    const { items, unreadable } = readPage(refundSchema, [
      odd[0],
      rows[0],
      odd[1],
      rows[1],
      odd[2],
    ]);
    expect(items).toEqual(rows);
    expect(unreadable).toEqual(odd);
  });
});

describe('query parameters', () => {
  it('survive a round trip as numbers, times and lists', () => {
    const disputes = {
      limit: 100,
      offset: 0,
      dispute_status: ['dispute_opened', 'dispute_lost'],
      start_time: '2026-01-01T00:00:00+01:00',
    };
    const read = readQuery(listDisputesQuery, new URLSearchParams(writeQuery(disputes)));
    expect(read).toEqual(disputes);
    expect(problemsOf(listDisputesQuery, read)).toEqual([]);
  });

  it('omit undefined values', () => {
    expect(writeQuery({ limit: undefined, status: 'failed' })).toBe('status=failed');
  });

  it.each(['limit=ten', 'limit=', 'limit=1e2', 'limit=1&limit=2', 'colour=red', '__proto__=1'])(
    '%s is rejected by the schema',
    (query) => {
      const read = readQuery(listPaymentsRequest, new URLSearchParams(query));
      expect(problemsOf(listPaymentsRequest, read)).toHaveLength(1);
    },
  );
});
