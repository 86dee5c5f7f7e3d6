/** The timeline of an order as it is read from what is stored; how it is told: timeline.test.ts of the unit tests. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applySnapshots } from '../../src/ledger/applySnapshots.ts';
import { inHashOrder, type SnapshotContent } from '../../src/ledger/domain/snapshot.ts';
import { explainNamed } from '../../src/ledger/read/explain.ts';
import { readOrder } from '../../src/ledger/read/orders.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { observe, SECOND, T0 } from '../support/observations.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** Two retrieves that agree take back what the service said before: the second opens an epoch. */
async function takenBack(): Promise<string> {
  const id = unique('pay');
  // By hand, so that one moment posts several legs.
  const usd = { amountMinor: 100, currency: 'USD', captureMethod: 'manual' } as const;
  const paid = { ...usd, status: 'succeeded', amountReceivedMinor: 100, versionMicros: T0 };
  const less = { ...usd, status: 'cancelled', amountReceivedMinor: 0, versionMicros: T0 + SECOND };
  const answers: readonly (readonly [SnapshotContent, number])[] = [
    [paid, 1],
    [less, 10],
    [less, 90],
  ];
  for (const [content, seconds] of answers) {
    const observedMicros = T0 + seconds * SECOND;
    const one = observe(inHashOrder(content), { id, source: 'retrieve', observedMicros });
    await db.transaction((tx) =>
      applySnapshots(tx, {
        observations: [one],
        toRetrieve: [],
        alsoLock: [],
        nowMs: Date.now(),
        historyUntilMs: undefined,
      }),
    );
  }
  return id;
}

test('of a content that two epochs hold, only that of the newer one is current', async () => {
  const id = await takenBack();
  const timeline = (await readOrder(db, { id }))?.timeline ?? [];
  const observations = timeline.filter((entry) => entry.type === 'snapshot');
  expect(observations.map(({ status, isCurrent }) => [status, isCurrent])).toEqual([
    ['succeeded', false],
    ['cancelled', false],
    ['cancelled', true],
  ]);
});

test('what the timeline says was posted, and why, is what the explanation says', async () => {
  const id = await takenBack();
  const timeline = (await readOrder(db, { id }))?.timeline ?? [];
  const { orders } = await explainNamed(db, id);
  const told = timeline.filter((entry) => entry.type === 'transfer');
  const explained = orders.flatMap(({ parts }) => parts.flatMap(({ transfers }) => transfers));
  expect(told.length).toBeGreaterThan(3);
  expect(told.map(({ leg, amountMinor }) => [leg, amountMinor])).toEqual(
    explained.map(({ leg, amountMinor }) => [leg, amountMinor]),
  );
  expect(new Set(told.map(({ cause }) => cause?.source))).toEqual(new Set(['retrieve']));
});
