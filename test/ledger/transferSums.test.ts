/**
 * Stored sums of the journal by effective time: in any state, they and what was recorded since equal the
 * journal. Transfers arrive late and correct each other, around the ends of months in every time zone.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OpenItems } from '../../src/ledger/domain/statement.ts';
import {
  readDaySums,
  readLegSums,
  readOpenItems,
  readPeriod,
} from '../../src/ledger/read/store/statement.ts';
import {
  isOnQuarters,
  readSummedDays,
  readSummedLegs,
  readSummedOpenItems,
} from '../../src/ledger/read/store/statementSums.ts';
import { addToSums } from '../../src/ledger/store/transferSums.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { DAY_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { createRandomJournal, insertRandom } from '../support/randomJournal.ts';

const seed = testSeed();
const random = seededRandom(seed);
const seeded = `TEST_SEED=${seed}`;
const FIRST_MS = Date.UTC(2026, 5, 20);
const MONTHS = ['2026-06', '2026-07', '2026-08'];
const ZONES = ['UTC', 'Asia/Kathmandu', 'Pacific/Kiritimati', 'Etc/GMT+12', 'Australia/Lord_Howe'];

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

const used: number[] = [];

/** A time near the end of a month, often one that was used before. */
function effectiveMs(): number {
  const again = pick(used);
  if (again !== undefined && random() < 0.3) return again;
  const month = Date.UTC(2026, pick([6, 7, 8]), 1);
  const ms =
    random() < 0.7
      ? month + Math.floor((random() - 0.5) * 60) * 30 * MINUTE_MS
      : FIRST_MS + Math.floor(random() * 90 * DAY_MS);
  used.push(ms);
  return ms;
}

const transfer = createRandomJournal({ random, effectiveMs });

type At = Parameters<typeof readOpenItems>[1];
interface Expected {
  readonly open: readonly OpenItems[];
  readonly summedTo: string;
  readonly where: string;
}

/** Items that are only counted leave the sums as they are, and make room for later ones. */
async function expectUnlisted(at: At, { open, summedTo, where }: Expected): Promise<void> {
  const unlisted = open.flatMap(({ item, currency, oldest }) =>
    oldest.slice(0, pick([1, 2, 20])).map(({ id }) => ({ item, currency, id })),
  );
  const isListed = ({ item, currency }: OpenItems, id: string) =>
    !unlisted.some((one) => one.item === item && one.currency === currency && one.id === id);
  const without = (all: readonly OpenItems[], most: number) =>
    all.map((one) => ({
      ...one,
      oldest: one.oldest.filter(({ id }) => isListed(one, id)).slice(0, most),
    }));
  const expected = without(await readOpenItems(db, at, { most: 1_000, unlisted: [] }), 3);
  const given = { most: 3, unlisted };
  expect(without(await readOpenItems(db, at, given), 3), where).toEqual(expected);
  expect(await readSummedOpenItems(db, at, { ...given, summedTo }), where).toEqual(expected);
}

async function expectEqual(summedTo: string): Promise<void> {
  for (const timeZone of [pick(ZONES), pick(ZONES)]) {
    for (const month of MONTHS) {
      const period = await readPeriod(db, month, timeZone);
      expect(isOnQuarters(period)).toBe(true);
      const where = `${seeded} ${month} ${timeZone}`;
      for (const currency of [undefined, 'USD']) {
        const days = await readDaySums(db, period, { currency });
        expect(await readSummedDays(db, period, { currency, summedTo }), where).toEqual(days);
        // A time within a quarter of an hour, too.
        for (const beforeMicros of [period.fromMicros, period.toMicros + 1_234_567]) {
          const at = { currency, beforeMicros };
          expect(await readSummedLegs(db, at, summedTo), where).toEqual(await readLegSums(db, at));
          const open = await readOpenItems(db, at, { most: 20, unlisted: [] });
          const summed = { summedTo, most: 20, unlisted: [] };
          expect(await readSummedOpenItems(db, at, summed), where).toEqual(open);
          await expectUnlisted(at, { open, summedTo, where });
        }
      }
    }
  }
}

test(`the sums and what was recorded since equal the journal, ${seeded}`, async () => {
  let summedTo = '-infinity';
  for (let round = 0; round < 8; round += 1) {
    const startMs = FIRST_MS + round * 12 * DAY_MS;
    const times = Array.from({ length: 40 }, () => startMs + Math.floor(random() * 12 * DAY_MS));
    await insertRandom(db, times.toSorted((one, other) => one - other).map(transfer));
    await expectEqual(summedTo);
    if (random() < 0.7) {
      const to = new Date(startMs + Math.floor(random() * 13) * DAY_MS).toISOString();
      if (summedTo === '-infinity' || to > summedTo) {
        await db.transaction((tx) => addToSums(tx, { from: summedTo, to, lastId: 0 }));
        summedTo = to;
        await expectEqual(summedTo);
      }
    }
  }
});

/** The plan of the statement that `read` sends, as it is for any parameters. */
async function genericPlanOf(read: (tx: Queryable) => Promise<unknown>): Promise<string> {
  let text = '';
  const query = (sent: string) => {
    text = sent;
    return Promise.resolve([]);
  };
  await read({ query });
  const places = new Set(text.match(/\$\d+/g)).size;
  const rows = await db.transaction(async (tx) => {
    await tx.query('set local plan_cache_mode = force_generic_plan');
    await tx.query(`prepare planned as ${text}`);
    const values = Array.from({ length: places }, () => 'null').join(', ');
    const plan = await tx.query<Record<string, string>>(`explain execute planned (${values})`);
    await tx.query('deallocate planned');
    return plan;
  });
  return rows.map((row) => Object.values(row).join()).join('\n');
}

test('items that are only counted are found by their hash, also in a plan for any parameters', async () => {
  const at = { currency: undefined, beforeMicros: 0 };
  const listed = { most: 3, unlisted: [] };
  const plans = [
    await genericPlanOf((tx) => readOpenItems(tx, at, listed)),
    await genericPlanOf((tx) => readSummedOpenItems(tx, at, { ...listed, summedTo: 'now' })),
  ];
  for (const plan of plans) {
    expect(plan).toMatch(/hashed SubPlan/);
    expect(plan).not.toMatch(/(any|all) \(\$\d+\)/i);
  }
});
