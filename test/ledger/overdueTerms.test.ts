/** When money counts as overdue: from the beginning of its term, which may be long after its creation. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { foldSnapshots } from '../../src/ledger/domain/merge.ts';
import { type ResourceRef, refKey } from '../../src/ledger/domain/snapshot.ts';
import { formatInstant } from '../../src/ledger/domain/time.ts';
import type { EventApplier } from '../../src/ledger/inbox/applyEvents.ts';
import { createOverdueCheck } from '../../src/ledger/overdue.ts';
import {
  readStoredResources,
  readStoredSnapshots,
} from '../../src/ledger/store/verifyResources.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { groupBy, inChunks } from '../../src/platform/collections.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, unique } from '../support/events.ts';
import { applyEach, readOpenFindings, receive, testApplier } from '../support/ledger.ts';
import { type Random, seededRandom, testSeed } from '../support/random.ts';

let db: TestDatabase;
let nowMs = Date.now();
const clock = { nowMs: () => nowMs };
let applier: EventApplier;

beforeAll(async () => {
  db = await createTestDatabase();
  applier = testApplier(db, undefined, clock);
});
afterAll(() => db.drop());

const CREATED_MS = Date.parse('2026-10-01T10:00:00Z');
const day = (days: number) => new Date(CREATED_MS + days * DAY_MS).toISOString();

function send(status: string, days: number, id = 'po_1'): Promise<void> {
  return sendLate(status, { changed: days, received: days }, id);
}

/** A body that arrives days after the status changed. */
function sendLate(
  status: string,
  { changed, received }: { readonly changed: number; readonly received: number },
  id: string,
): Promise<void> {
  nowMs = CREATED_MS + received * DAY_MS;
  return applyEach(db, applier, [payoutBody(status, changed, id)]);
}

function payoutBody(status: string, changed: number, id: string): Buffer {
  const payout = { payout_id: id, amount: 6540, currency: 'USD', created: day(0) };
  const body = { ...payout, status, modified_at: day(changed) };
  const labels = { eventType: 'payout_initiated', contentType: 'payout_details' };
  return eventBody(body, { ...labels, timestamp: day(changed) });
}

async function checkAt(days: number): Promise<void> {
  nowMs = CREATED_MS + days * DAY_MS;
  await createOverdueCheck({ db, clock, log: silentLog })();
}

const findings = async (id = 'po_1') =>
  (await readOpenFindings(db, `payout:${id}`)).map((one) => one.class);
const sentences = (id = 'po_1') =>
  db.query<{ sentence: string }>(
    `select sentence from alerts
      where rule = 'payout_stuck' and state <> 'resolved' and subject = $1`,
    [`payout:${id}`],
  );

test('a payout that waited for its approval is overdue a week after it began, and not when it begins', async () => {
  await send('requires_fulfillment', 0);
  await send('initiated', 10);
  await checkAt(10.1);
  expect(await findings()).toEqual([]);
  expect(await sentences()).toEqual([]);
  await send('pending', 12);
  await checkAt(16.9);
  expect(await findings()).toEqual([]);
  await checkAt(17.1);
  expect(await findings()).toEqual(['overdue']);
  expect(await db.query(`select detail ->> 'since' as since from findings`)).toEqual([
    { since: day(10) },
  ]);
  expect(await sentences()).toMatchObject([
    { sentence: expect.stringContaining('has been pending since 2026-10-11 10:00 UTC') },
  ]);
  await send('success', 18);
  expect([await findings(), await sentences()]).toEqual([[], []]);
});

test('a term begins with its status, also when the status before it has the same time', async () => {
  await send('requires_fulfillment', 10, 'po_2');
  await send('initiated', 10, 'po_2');
  await checkAt(16.9);
  expect(await findings('po_2')).toEqual([]);
  await checkAt(17.1);
  expect(await findings('po_2')).toEqual(['overdue']);
});

test('an overdue payout keeps its finding and its alert when a late body moves the beginning of the term', async () => {
  await send('initiated', 6, 'po_3');
  await checkAt(8);
  expect(await findings('po_3')).toEqual(['overdue']);
  await sendLate('requires_fulfillment', { changed: 5, received: 8.1 }, 'po_3');
  expect(await findings('po_3')).toEqual(['overdue']);
  expect(await sentences('po_3')).toMatchObject([
    { sentence: expect.stringContaining('has been initiated since 2026-10-07 10:00 UTC') },
  ]);
  await send('success', 9, 'po_3');
  expect([await findings('po_3'), await sentences('po_3')]).toEqual([[], []]);
});

/** What names a body of each kind, its amount and its status, with statuses of several terms and of none. */
const WIRE = {
  payment: {
    id: 'payment_id',
    status: 'status',
    statuses: ['processing', 'review', 'requires_customer_action', 'succeeded'],
  },
  refund: { id: 'refund_id', status: 'status', statuses: ['pending', 'review', 'succeeded'] },
  dispute: {
    id: 'dispute_id',
    status: 'dispute_status',
    statuses: ['dispute_opened', 'dispute_challenged', 'dispute_won'],
  },
  payout: {
    id: 'payout_id',
    status: 'status',
    statuses: ['requires_fulfillment', 'initiated', 'pending', 'success'],
  },
} as const;
const KINDS = ['payment', 'refund', 'dispute', 'payout'] as const;

const below = (end: number, random: Random) => Math.floor(random() * end);

/** Bodies of a resource with any statuses and times, in any order; some lack a time. */
function anyBodies({ kind, id }: ResourceRef, random: Random): readonly Buffer[] {
  const { id: idField, status, statuses } = WIRE[kind];
  const isDated = random() < 0.8;
  return Array.from({ length: 1 + below(7, random) }, () => {
    const changed = day(below(20, random));
    const body = {
      [idField]: id,
      [status]: statuses[below(statuses.length, random)],
      amount: kind === 'dispute' ? '6540' : 6540,
      currency: 'USD',
      ...(kind !== 'payment' && kind !== 'payout' && { payment_id: `pay_of_${id}` }),
      ...(kind === 'dispute' && { dispute_stage: random() < 0.5 ? 'pre_dispute' : 'dispute' }),
      ...(random() < 0.5 && { created: day(0) }),
      ...(isDated && { modified_at: changed }),
    };
    return eventBody(body, { contentType: `${kind}_details`, timestamp: changed });
  });
}

/** When the terms of all resources began, as their rows have it and as their snapshots show it. */
async function readBeginnings() {
  const refs = await db.query<ResourceRef>('select kind, id from resources order by kind, id');
  const snapshots = groupBy(await readStoredSnapshots(db, refs), ({ ref }) => refKey(ref));
  return (await readStoredResources(db, refs)).map((row) => {
    const own = snapshots.get(refKey(row)) ?? [];
    const sinceMicros = own.length > 0 ? foldSnapshots(own).termSinceMicros : undefined;
    const shown = sinceMicros === undefined ? null : formatInstant(sinceMicros);
    return { subject: refKey(row), stored: row.term_since, shown };
  });
}

const seed = testSeed();

test(`the stored beginning of a term is the one that the snapshots show, after each batch (TEST_SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const refs = KINDS.flatMap((kind) =>
    Array.from({ length: 12 }, () => ({ kind, id: unique(kind) })),
  );
  nowMs = CREATED_MS + 21 * DAY_MS;
  const bodies = refs
    .flatMap((ref) => anyBodies(ref, random))
    .map((body) => ({ body, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ body }) => body);
  const found = new Set<string | null>();
  for (const batch of inChunks(bodies, 25)) {
    await applier.applyBatch(await receive(db, batch));
    for (const { subject, stored, shown } of await readBeginnings()) {
      expect(stored, subject).toBe(shown);
      found.add(stored);
    }
  }
  expect(found.size).toBeGreaterThan(10);
  expect(found).toContain(null);
});

const storedBeginning = async (id: string) =>
  (await readBeginnings()).find(({ subject }) => subject === `payout:${id}`)?.stored;

test.each([
  ['without a beginning, by a version that does not store it', null],
  ['with the beginning of an earlier status, by such a version during an upgrade', day(0)],
])('a row that was written %s raises no alert before its term is over', async (_what, written) => {
  const id = unique('po');
  await send('requires_fulfillment', 0, id);
  await send('initiated', 10, id);
  await db.query('update resources set term_since = $2 where id = $1', [id, written]);
  await checkAt(16.9);
  expect([await findings(id), await sentences(id)]).toEqual([[], []]);
  expect(await storedBeginning(id)).toBe(formatInstant(Date.parse(day(10)) * 1000));
  await checkAt(17.1);
  expect(await findings(id)).toEqual(['overdue']);
});

test('verify accepts what a version without beginnings left, and the next observation stores the beginning', async () => {
  const id = unique('po');
  await send('initiated', 10, id);
  await db.query('update resources set term_since = null where id = $1', [id]);
  const paid = unique('po');
  await send('success', 10, paid);
  await db.query('update resources set term_since = now() where id = $1', [paid]);
  const { checks } = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: true });
  expect(checks.flatMap(({ offenders }) => offenders)).toEqual([]);
  await send('initiated', 10, id);
  expect(await storedBeginning(id)).toBe(formatInstant(Date.parse(day(0)) * 1000));
});

test('a check of more rows than fit into a transaction judges each of them once', async () => {
  const ids = Array.from({ length: 501 }, () => unique('po'));
  for (const [status, changed] of [
    ['requires_fulfillment', 0],
    ['initiated', 10],
  ] as const) {
    nowMs = CREATED_MS + changed * DAY_MS;
    await applier.applyBatch(
      await receive(
        db,
        ids.map((id) => payoutBody(status, changed, id)),
      ),
    );
  }
  await db.query('update resources set term_since = null where id = any ($1)', [ids]);
  await checkAt(16.9);
  const open = () =>
    db.query<{ subject: string }>(
      `select subject from findings where class = 'overdue' and state = 'open' and subject = any ($1)`,
      [ids.map((id) => `payout:${id}`)],
    );
  expect(await open()).toEqual([]);
  await checkAt(17.1);
  expect(await open()).toHaveLength(501);
}, 60_000);
