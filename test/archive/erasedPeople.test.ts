/** What an import brings back of people who were erased: nothing (docs/guides/erasure.md). */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eraseAs, planErasure } from '../../src/actions/eraseData.ts';
import { importArchiveAs } from '../../src/actions/importArchive.ts';
import { createFolderTarget } from '../../src/archive/folderTarget.ts';
import type { ErasureSubject } from '../../src/erasure/domain/subjects.ts';
import { findAbsences } from '../../src/ledger/bodies/readBodies.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { packDays, receiveYesterday, removeYesterday } from '../support/archivedDay.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { MERCHANT_ID } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import { createPeople, findWords, type TestPerson } from '../support/people.ts';
import { seededRandom, testSeed } from '../support/random.ts';

const ACTOR = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@test' } as const;

let db: TestDatabase;
let folder: string;
beforeEach(async () => {
  db = await createTestDatabase();
  folder = mkdtempSync(join(memoryFolder(), 'tallyhook-archive-'));
});
afterEach(async () => {
  await db.drop();
  rmSync(folder, { recursive: true });
});

async function receiveAndApply(bodies: readonly Buffer[]): Promise<void> {
  await testApplier(db).applyBatch(await receive(db, bodies));
}

const erase = async (subjects: readonly ErasureSubject[]) => {
  const plan = await planErasure({ db }, subjects);
  return await eraseAs({ db }, ACTOR, { plan, reason: 'a request' });
};
const importAll = () =>
  importArchiveAs({ db, target: createFolderTarget(folder) }, ACTOR, {
    range: { className: 'bodies', first: 1, last: 1_000_000 },
    reason: 'a replay',
  });

const SEED = testSeed();
/** Two orders of each person. One in five million seeds has no refund of a first order. */
const { people, bodies } = createPeople(30, seededRandom(SEED));
const person = people.find(({ paymentIds: [first = ''] }) =>
  bodies.some((body) => body.includes(`"ref_${first}"`)),
);

test.each<[string, (person: TestPerson) => readonly ErasureSubject[]]>([
  ['an order', ({ orderIds }) => orderIds.map((id) => ({ kind: 'order', id }))],
  ['a payment', ({ paymentIds }) => paymentIds.map((id) => ({ kind: 'payment', id }))],
  ['a customer', ({ customerId: id }) => [{ kind: 'customer', id }]],
])(
  `bodies that were removed before %s was erased do not come back (seed ${SEED})`,
  async (_name, subjectsOf) => {
    if (!person) throw new Error('nobody has a refund');
    const isOf = (body: Buffer, ids: readonly string[]) =>
      ids.some((id) => body.includes(`"${id}"`));
    const [first = '', second = ''] = person.paymentIds;
    const latest = bodies.filter((body) => isOf(body, [second]));
    const older = bodies.filter((body) => !latest.includes(body));
    await receiveAndApply(older);
    await receiveYesterday(db);
    await receiveAndApply(latest);
    await packDays(db);
    await removeYesterday(db, folder);
    expect(await erase(subjectsOf(person))).toMatchObject({ outcome: 'erased' });

    const own = older.filter((body) => isOf(body, [first]));
    const imported = { read: older.length, stored: older.length - own.length };
    expect(await importAll()).toEqual(imported);
    const places = await findWords(db, new Set(person.words));
    expect([...places.keys()].filter((place) => place.includes('kept_bodies'))).toEqual([]);
    const rows = await db.query<{ id: number }>('select id from webhook_events');
    const absences = await findAbsences(
      db,
      rows.map(({ id }) => id),
    );
    const erased = [...absences.values()].filter(({ outcome }) => outcome === 'erased');
    expect(erased).toHaveLength(own.length + latest.length);
    const report = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: true });
    expect(report.checks.flatMap(({ offenders }) => offenders)).toEqual([]);
  },
);

test(`what was received after an erasure, or is of others, comes back (seed ${SEED})`, async () => {
  const [one] = people;
  if (!one) throw new Error('nobody');
  await receiveAndApply(bodies.slice(0, 1));
  expect(await erase([{ kind: 'customer', id: one.customerId }])).toMatchObject({
    outcome: 'erased',
  });
  await db.query(`update erasures set finished_at = finished_at - interval '2 days'`);
  await receiveAndApply(bodies.slice(1));
  await receiveYesterday(db);
  await packDays(db);
  await removeYesterday(db, folder);
  expect(await importAll()).toEqual({ read: bodies.length - 1, stored: bodies.length - 1 });
});
