import { expect, test } from 'vitest';
import { createChanges } from '../../../bench/changes.ts';
import { createEventStream, type Requests } from '../../../bench/events.ts';
import { PEERS } from '../../../bench/peers/peers.ts';
import { stripeSyncEngine } from '../../../bench/peers/stripeSyncEngine.ts';
import { linesOf, type Round, tableOf } from '../../../bench/peers/table.ts';

const SEED = 11;
const EVENTS = 20_000;

const rounds: readonly Round[] = [
  round(10_000, { own: [6_000, 5_000], peer: 3_000 }),
  round(8_000, { own: [4_000, 4_000], peer: 1_000 }),
  round(9_000, { own: [5_400, 5_300], peer: 2_000 }),
];

function round(
  barePerSecond: number,
  { own, peer }: { readonly own: readonly [number, number]; readonly peer: number },
): Round {
  return {
    barePerSecond,
    own: { acceptedPerSecond: own[0], appliedPerSecond: own[1] },
    peers: { peer: { acceptedPerSecond: peer, appliedPerSecond: peer } },
  };
}

test('ratios are those within each round, and not those of the medians', () => {
  const table = tableOf(rounds, 'Own');
  // 2, 4 and 2.7; the medians have 5,400 / 2,000 = 2.7, too, and the applied ones 2.5 instead of 2.65.
  expect(table.ratios).toEqual([
    {
      name: 'Own / peer',
      accepted: { median: 2.7, least: 2, most: 4 },
      applied: { median: 2.65, least: 5 / 3, most: 4 },
    },
  ]);
  expect(table.rows.map(({ name, ofBare }) => [name, ofBare?.median])).toEqual([
    ['bare route', undefined],
    ['peer', 2_000 / 9_000],
    ['Own', 0.6],
  ]);
});

test('the median of an even number of rounds lies between the two in the middle', () => {
  const { rows } = tableOf(rounds.slice(0, 2), 'Own');
  expect(rows[0]?.accepted).toEqual({ median: 9_000, least: 8_000, most: 10_000 });
});

test('the table has a line for each side and each ratio', () => {
  expect(linesOf(tableOf(rounds, 'Own')).map((line) => line.split(/ {2,}/))).toEqual([
    ['', 'accepted/s', 'applied/s', 'accepted / bare'],
    ['bare route', '9,000 (8,000-10,000)'],
    ['peer', '2,000 (1,000-3,000)', '2,000 (1,000-3,000)', '0.22 (0.13-0.30)'],
    ['Own', '5,400 (4,000-6,000)', '5,000 (4,000-5,300)', '0.60 (0.50-0.60)'],
    ['Own / peer', '2.70 (2.00-4.00)', '2.65 (1.67-4.00)'],
  ]);
});

test('the rows expected of stripe-sync-engine are those that its events describe', () => {
  const stream = createEventStream(SEED, 'secret', undefined, stripeSyncEngine.format);
  const statuses = new Map<string, string>();
  for (const body of bodiesOf(stream.next(EVENTS))) {
    const { object } = JSON.parse(body).data;
    statuses.set(object.id, object.object === 'refund' ? 'refunds' : object.status);
  }
  const rows: Record<string, number> = {};
  for (const status of statuses.values()) rows[status] = (rows[status] ?? 0) + 1;
  expect(Object.keys(rows)).toHaveLength(5);
  expect(stripeSyncEngine.expectRows(createChanges(SEED, 'other').next, EVENTS)).toEqual(rows);
});

test.each(PEERS)('the events of $name are as long as those of Tallyhook', ({ format }) => {
  const own = meanLength(createEventStream(SEED, 'secret').next(EVENTS));
  const other = meanLength(createEventStream(SEED, 'secret', undefined, format).next(EVENTS));
  expect(other / own).toBeGreaterThan(0.95);
  expect(other / own).toBeLessThan(1.05);
});

function bodiesOf({ bytes, starts, eventIds }: Requests): readonly string[] {
  return eventIds.map((_, n) => {
    const request = bytes.toString('utf8', starts[n], starts[n + 1]);
    return request.slice(request.indexOf('\r\n\r\n') + 4);
  });
}

function meanLength(requests: Requests): number {
  const bodies = bodiesOf(requests);
  return bodies.reduce((sum, body) => sum + body.length, 0) / bodies.length;
}
