/** service-interface.md §4.9; where it is silent, docs/decisions/0015. */
import { expect, test } from 'vitest';
import { expectError, expectResponse, useTarget } from './target.ts';

const target = useTarget();

const KINDS = { payments: 'Payment', refunds: 'Refund', disputes: 'Dispute' } as const;
const METRIC = {
  payments: 'payment_count',
  refunds: 'refund_count',
  disputes: 'total_amount_disputed',
} as const;
type Kind = keyof typeof KINDS;
const kinds = Object.keys(KINDS) as Kind[];
const timeRange = { startTime: '2001-01-01T00:00:00Z', endTime: '2001-01-02T00:00:00Z' };
const send = (kind: Kind, body: unknown) =>
  target.call('POST', `/analytics/v1/merchant/metrics/${kind}`, body);
const read = async (kind: Kind, body: unknown) =>
  expectResponse(`retrieve${KINDS[kind]}Metrics`, await send(kind, body));

test.each(kinds)(
  '%s accept every field of the contract, and return rows and totals',
  async (kind) => {
    const query = {
      timeRange,
      metrics: [METRIC[kind]],
      source: 'BATCH',
      delta: true,
      timeSeries: { granularity: 'G_ONE_DAY' },
      groupByNames: ['currency'],
      filters: { currency: ['USD', 'EUR'] },
    };
    const { queryData, metaData } = await read(kind, [query]);
    expect(queryData).toEqual([]);
    expect(Object.keys(metaData[0])).toHaveLength(1);
  },
);

test('without data, counts, sums and rates are 0, in one row', async () => {
  const metrics = ['refund_count', 'refund_success_count', 'refund_success_rate'];
  const query = { timeRange, metrics: [...metrics, 'refund_processed_amount'] };
  const zeros = {
    refund_count: 0,
    refund_success_count: 0,
    refund_success_rate: 0,
    refund_processed_amount: 0,
  };
  const totals = Object.entries(zeros).map(([name, value]) => [`total_${name}`, value]);
  expect(await read('refunds', [query, query])).toEqual({
    queryData: [zeros, zeros],
    metaData: [Object.fromEntries(totals), Object.fromEntries(totals)],
  });
});

test.each([
  ['an object instead of an array', { timeRange, metrics: ['refund_count'] }, 'IR_04'],
  ['no query', [], 'IR_04'],
  ['no timeRange', [{ metrics: ['refund_count'] }], 'IR_01'],
  ['no metric', [{ timeRange, metrics: [] }], 'IR_04'],
  ['a metric of payments', [{ timeRange, metrics: ['payment_count'] }], 'IR_04'],
  ['an unknown group', [{ timeRange, metrics: ['refund_count'], groupByNames: ['shoe'] }], 'IR_04'],
  ['an invalid time', [{ timeRange: { startTime: 'now' }, metrics: ['refund_count'] }], 'IR_04'],
])('%s is refused', async (_what, body, code) => {
  expectError(await send('refunds', body), 400, code);
});

test('another scope than the merchant has no data', async () => {
  const path = '/analytics/v1/nobody/metrics/refunds';
  expectError(await target.call('POST', path, []), 404, 'IR_05');
});
