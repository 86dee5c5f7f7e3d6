/**
 * What would be lost with the snapshots that the present state does not need
 * (docs/decisions/0089-snapshots-stay.md). A snapshot is redundant here if it is not the head, no transfer
 * was posted from it, and the set without it, and without the redundant ones before it, folds to the same
 * state and the same history of money (a beginning has the time of the snapshot below it).
 */
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PAYMENT_STATUSES } from '../../src/contract/statuses.ts';
import { contentHash } from '../../src/ledger/contentHash.ts';
import { movementsOf } from '../../src/ledger/domain/effectiveTimes.ts';
import { type Epoch, placeInEpochs } from '../../src/ledger/domain/epochs.ts';
import {
  compareSnapshots,
  foldSnapshots,
  type ResourceState,
} from '../../src/ledger/domain/merge.ts';
import {
  type ResourceRef,
  refKey,
  type Snapshot,
  type SnapshotContent,
} from '../../src/ledger/domain/snapshot.ts';
import { readEpochs, readSnapshots } from '../../src/ledger/store/snapshots.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { groupBy } from '../../src/platform/collections.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { MERCHANT_ID } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { observe, T0 } from '../support/observations.ts';
import { testSeed } from '../support/random.ts';
import { createChoices, shopEvents } from '../support/shop.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

async function fill(seed: number): Promise<void> {
  const ids = await receive(db, shopEvents({ seed, orders: 30 }));
  const applier = testApplier(db);
  for (let start = 0; start < ids.length; start += 50) {
    await applier.applyBatch(ids.slice(start, start + 50));
  }
}

/** A resource with its snapshots, and those of them that are redundant. */
interface Measured {
  readonly epochs: readonly Epoch[];
  readonly all: readonly Snapshot[];
  readonly redundant: readonly Snapshot[];
}

const foldAll = (snapshots: readonly Snapshot[], epochs: readonly Epoch[]): ResourceState =>
  foldSnapshots(placeInEpochs(snapshots, epochs));

/** Finds the redundant snapshots of every resource, trying them in an order that the seed decides. */
async function measure(seed: number): Promise<readonly Measured[]> {
  const { shuffle } = createChoices(seed);
  const refs = await db.query<ResourceRef>(
    'select kind, id from resources order by kind, id limit 10000',
  );
  const keyOf = ({ ref }: { readonly ref: ResourceRef }) => refKey(ref);
  const snapshots = groupBy(await readSnapshots(db, refs), keyOf);
  const epochs = groupBy(await readEpochs(db, refs), keyOf);
  const posted = new Set(
    (
      await db.query<{ key: string }>(
        `select kind || ':' || resource_id || ':' || encode(head_hash, 'hex') as key from transfers`,
      )
    ).map(({ key }) => key),
  );
  return refs.flatMap((ref) => {
    const key = refKey(ref);
    const own = epochs.get(key) ?? [];
    const all = (snapshots.get(key) ?? []).toSorted(compareSnapshots);
    if (all.length === 0) return [];
    const state = foldAll(all, own);
    const meaningOf = (some: readonly Snapshot[]) => ({
      state: foldAll(some, own),
      history: movementsOf(placeInEpochs(some, own).toSorted(compareSnapshots)),
    });
    const meaning = meaningOf(all);
    let left = all;
    for (const one of shuffle(all)) {
      if (one.contentHash === state.headHash || posted.has(`${key}:${one.contentHash}`)) continue;
      const without = left.filter((other) => other !== one);
      if (isDeepStrictEqual(meaningOf(without), meaning)) left = without;
    }
    return [{ epochs: own, all, redundant: all.filter((one) => !left.includes(one)) }];
  });
}

/** Contents that may come later: of any status, at any time, with and without amounts. */
function laterOf({ all }: Measured): readonly Snapshot[] {
  const [first] = all;
  if (!first) return [];
  const { amountMinor = 100, currency = 'USD', stage } = all.at(-1)?.content ?? {};
  const versions = new Set(all.flatMap(({ content }) => content.versionMicros ?? []));
  const times = [
    undefined,
    ...[...versions].flatMap((version) => [version - 1, version, version + 1]),
  ];
  const statuses = new Set([
    ...all.flatMap(({ content }) => content.status ?? []),
    ...(first.ref.kind === 'payment' ? PAYMENT_STATUSES : ['failed', 'succeeded', 'dispute_lost']),
  ]);
  const money = { amountMinor, currency };
  const fields: readonly SnapshotContent[] = [
    {},
    money,
    { ...money, amountReceivedMinor: 1 },
    { ...money, captureMethod: 'manual' },
  ];
  return [...statuses].flatMap((status) =>
    times.flatMap((versionMicros) =>
      fields.map((some) => {
        const content = {
          status,
          ...(stage !== undefined && { stage }),
          ...some,
          ...(versionMicros !== undefined && { versionMicros }),
        };
        const observedMicros = versionMicros ?? T0;
        const hash = contentHash(content);
        return {
          ref: first.ref,
          content,
          contentHash: hash,
          source: 'webhook' as const,
          epoch: 0,
          observedMicros,
        };
      }),
    ),
  );
}

/**
 * How many of the redundant snapshots of a resource can go without a difference that any one later content
 * would show in its state.
 */
function countForGood(measured: Measured): number {
  const { all, redundant, epochs } = measured;
  const later = laterOf(measured).map((one) => ({ one, expected: foldAll([...all, one], epochs) }));
  let left = all;
  for (const candidate of redundant) {
    const without = left.filter((one) => one !== candidate);
    const isSame = later.every(({ one, expected }) =>
      isDeepStrictEqual(foldAll([...without, one], epochs), expected),
    );
    if (isSame) left = without;
  }
  return all.length - left.length;
}

test('a twelfth of the snapshots is redundant now, and few of them for good', async () => {
  // The figures of the decision record.
  const seed = 2;
  await fill(seed);
  const measured = await measure(seed);
  const sum = (count: (one: Measured) => number) =>
    measured.reduce((total, one) => total + count(one), 0);
  const snapshots = sum(({ all }) => all.length);
  const redundant = sum((one) => one.redundant.length) / snapshots;
  const forGood = sum(countForGood) / snapshots;
  expect(redundant).toBeGreaterThan(0.05);
  expect(redundant).toBeLessThan(0.12);
  expect(forGood).toBeLessThan(0.05);
});

const usd = { amountMinor: 100, currency: 'USD' };
const stored = (content: SnapshotContent) => ({ ...observe({ ...usd, ...content }), epoch: 0 });

test('an event between two others is an illegal step only while the one before it is stored', () => {
  const before = stored({ status: 'succeeded', versionMicros: T0, amountReceivedMinor: 100 });
  const head = stored({ status: 'succeeded', versionMicros: T0 + 2, amountReceivedMinor: 100 });
  expect(foldSnapshots([head])).toEqual(foldSnapshots([before, head]));

  const later = stored({ status: 'processing', versionMicros: T0 + 1 });
  expect(foldSnapshots([before, head, later]).illegalSteps).toHaveLength(1);
  expect(foldSnapshots([head, later]).illegalSteps).toEqual([]);
});

test('a captured amount depends on a snapshot that did not matter before', () => {
  const captured = stored({ status: 'succeeded', versionMicros: T0, amountReceivedMinor: 60 });
  const head = stored({
    status: 'succeeded',
    versionMicros: T0 + 1,
    currency: 'EUR',
    amountReceivedMinor: 70,
  });
  expect(foldSnapshots([head])).toEqual(foldSnapshots([captured, head]));

  const later = stored({ status: 'succeeded', versionMicros: T0 + 2 });
  expect(foldSnapshots([captured, head, later])).toMatchObject({ capturedMinor: 60 });
  expect(foldSnapshots([head, later])).toMatchObject({ capturedMinor: 100 });
});

/** Each check that failed. */
async function failures(rebuild: boolean): Promise<readonly string[]> {
  const { checks } = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild });
  return checks.flatMap(({ name, failures: count }) => (count > 0 ? [name] : []));
}

async function removeRedundant(seed: number): Promise<number> {
  const redundant = (await measure(seed)).flatMap((one) => one.redundant);
  await db.query('alter table snapshots disable trigger user');
  for (const { ref, contentHash: hash } of redundant) {
    await db.query(
      `delete from snapshots where kind = $1 and resource_id = $2 and content_hash = decode($3, 'hex')`,
      [ref.kind, ref.id, hash],
    );
  }
  return redundant.length;
}

test('verify reports redundant snapshots that vanished while the bodies of their events are stored', async () => {
  const seed = testSeed();
  await fill(seed);
  expect(await failures(true), `TEST_SEED=${seed}`).toEqual([]);
  expect(await removeRedundant(seed), `TEST_SEED=${seed}`).toBeGreaterThan(0);
  expect(await failures(false), `TEST_SEED=${seed}`).toEqual(['inbox']);
});

test('verify proves the ledger without them when the rows of the events are removed, too', async () => {
  const seed = testSeed();
  await fill(seed);
  await db.query(
    `insert into retention_state (class, removed_through) select 'events', max(id) from webhook_events`,
  );
  for (const table of [
    'pending',
    'dead_events',
    'event_variants',
    'event_replays',
    'webhook_bodies',
  ]) {
    await db.query(`delete from ${table}`);
  }
  await db.query('delete from webhook_events');
  expect(await failures(true), `TEST_SEED=${seed}`).toEqual([]);
  expect(await removeRedundant(seed), `TEST_SEED=${seed}`).toBeGreaterThan(0);
  expect(await failures(false), `TEST_SEED=${seed}`).toEqual([]);
  expect(await failures(true), `TEST_SEED=${seed}`).toEqual([]);
});
