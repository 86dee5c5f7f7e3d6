/** The timeline of an order as it is read from the database; test/unit/ledger/timeline.test.ts tests its entries. */
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

/** Two consistent retrieves contradict the earlier state: the second one opens an epoch. */
async function createContradictedPayment(): Promise<string> {
  const id = unique('pay');
  // With manual capture, so that one version posts several legs.
  const usd = { amountMinor: 100, currency: 'USD', captureMethod: 'manual' } as const;
  const paid = { ...usd, status: 'succeeded', amountReceivedMinor: 100, versionMicros: T0 };
  const less = { ...usd, status: 'cancelled', amountReceivedMinor: 0, versionMicros: T0 + SECOND };
  const responses: readonly (readonly [SnapshotContent, number])[] = [
    [paid, 1],
    [less, 10],
    [less, 90],
  ];
  for (const [content, seconds] of responses) {
    const observedMicros = T0 + seconds * SECOND;
    const one = observe(inHashOrder(content), { id, source: 'retrieve', observedMicros });
    await db.transaction((tx) =>
      applySnapshots(tx, {
        observations: [one],
        toRetrieve: [],
        alsoLock: [],
        nowMs: Date.now(),
        history: undefined,
      }),
    );
  }
  return id;
}

test('when two epochs have the same content, only the one of the newer epoch is current', async () => {
  const id = await createContradictedPayment();
  const timeline = (await readOrder(db, { id }))?.timeline ?? [];
  const observations = timeline.filter((entry) => entry.type === 'snapshot');
  expect(observations.map(({ status, isCurrent }) => [status, isCurrent])).toEqual([
    ['succeeded', false],
    ['cancelled', false],
    ['cancelled', true],
  ]);
});

test('the timeline and the explanation show the same transfers with the same causes', async () => {
  const id = await createContradictedPayment();
  const timeline = (await readOrder(db, { id }))?.timeline ?? [];
  const { orders } = await explainNamed(db, id);
  const shown = timeline.filter((entry) => entry.type === 'transfer');
  const explained = orders.flatMap(({ parts }) => parts.flatMap(({ transfers }) => transfers));
  expect(shown.length).toBeGreaterThan(3);
  expect(shown.map(({ leg, amountMinor }) => [leg, amountMinor])).toEqual(
    explained.map(({ leg, amountMinor }) => [leg, amountMinor]),
  );
  expect(new Set(shown.map(({ cause }) => cause?.source))).toEqual(new Set(['retrieve']));
});
