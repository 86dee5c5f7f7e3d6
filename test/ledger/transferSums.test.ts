/**
 * Stored sums of the journal by effective time: in any state, they and what was recorded since equal the
 * journal. Transfers arrive late and correct each other, around the ends of months in every time zone.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LEGS } from '../../src/ledger/domain/legs.ts';
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
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seededRandom, testSeed } from '../support/random.ts';

const seed = testSeed();
const random = seededRandom(seed);
const seeded = `TEST_SEED=${seed}`;
const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const FIRST_MS = Date.UTC(2026, 5, 20);
const MONTHS = ['2026-06', '2026-07', '2026-08'];
const ZONES = ['UTC', 'Asia/Kathmandu', 'Pacific/Kiritimati', 'Etc/GMT+12', 'Australia/Lord_Howe'];

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

interface End {
  seq: number;
  minor: number;
  /** Effective times of its transfers, in which a later one corrects it. */
  times: readonly number[];
}
const ends = new Map<string, End>();
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

const ALL_LEGS = Object.entries(LEGS).flatMap(([kind, legs]) =>
  Object.entries(legs).map(([leg, accounts]) => ({ kind, leg, ...accounts })),
);

function transfer(recordedMs: number) {
  const { kind, leg, debit, credit } = pick(ALL_LEGS);
  const id = `${kind}_${Math.floor(random() * 3)}`;
  const currency = pick(['USD', 'EUR']);
  const key = `${kind} ${id} ${leg} ${currency}`;
  const end = ends.get(key) ?? { seq: 0, minor: 0, times: [] };
  const isBack = end.minor > 0 && random() < 0.5;
  const amount = isBack
    ? random() < 0.5
      ? end.minor
      : 1 + Math.floor(random() * end.minor)
    : pick([100, 200, 100]);
  const next = isBack ? end.minor - amount : end.minor + amount;
  const at = end.times.length > 0 && random() < 0.4 ? pick(end.times) : effectiveMs();
  ends.set(key, { seq: end.seq + 1, minor: next, times: [...end.times, at] });
  const [from, to] = isBack ? [credit, debit] : [debit, credit];
  return {
    ...{ kind, id, leg, currency, seq: end.seq + 1, debit: from, credit: to, amount },
    ...{ previous: end.minor, cumulative: next },
    recorded: new Date(recordedMs).toISOString(),
    effective: new Date(at).toISOString(),
  };
}

async function insert(rows: readonly ReturnType<typeof transfer>[]): Promise<void> {
  await db.query(
    `insert into resources (kind, id, order_key)
     select distinct kind, id, 'order:x' from jsonb_to_recordset($1::jsonb) as u (kind text, id text)
     on conflict do nothing`,
    [JSON.stringify(rows)],
  );
  for (const row of rows) {
    await db.query(
      `insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor,
                              previous_minor, cumulative_minor, head_hash, recorded_at, effective_at,
                              effective_source)
       select kind, id, leg, currency, seq, debit, credit, amount, previous, cumulative, sha256('x'),
              recorded, effective, 'v'
         from jsonb_to_record($1::jsonb)
              as u (kind text, id text, leg text, currency text, seq int, debit text, credit text,
                    amount bigint, previous bigint, cumulative bigint, recorded timestamptz,
                    effective timestamptz)`,
      [JSON.stringify(row)],
    );
  }
}

async function expectEqual(summedTo: string): Promise<void> {
  for (const timeZone of [pick(ZONES), pick(ZONES)]) {
    for (const month of MONTHS) {
      const period = await readPeriod(db, month, timeZone);
      expect(isOnQuarters(period)).toBe(true);
      const where = `${seeded} ${month} ${timeZone}`;
      for (const currency of [undefined, 'USD']) {
        const days = await readDaySums(db, period, currency);
        expect(await readSummedDays(db, period, { currency, summedTo }), where).toEqual(days);
        // A time within a quarter of an hour, too.
        for (const beforeMicros of [period.fromMicros, period.toMicros + 1_234_567]) {
          const at = { currency, beforeMicros };
          expect(await readSummedLegs(db, at, summedTo), where).toEqual(await readLegSums(db, at));
          expect(await readSummedOpenItems(db, at, summedTo), where).toEqual(
            await readOpenItems(db, at),
          );
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
    await insert(times.toSorted((one, other) => one - other).map(transfer));
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
