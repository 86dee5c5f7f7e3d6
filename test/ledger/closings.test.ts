/**
 * Closed months: each transfer is booked in one month, and the sums of a closed month never change, while
 * transfers are inserted by several transactions at once.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sumKey } from '../../src/ledger/domain/closingSums.ts';
import {
  bookedAfter,
  type Closing,
  closingsInForce,
  nextMonth,
} from '../../src/ledger/domain/closings.ts';
import { OLDEST } from '../../src/ledger/read/openItems.ts';
import {
  readClosingBalances,
  readClosingDays,
  readClosings,
} from '../../src/ledger/read/store/closings.ts';
import { readItemsWithLatePostings } from '../../src/ledger/read/store/latePostings.ts';
import { readPeriod } from '../../src/ledger/read/store/statement.ts';
import { readSummedTo } from '../../src/ledger/read/store/statementSums.ts';
import { restartSums } from '../../src/ledger/store/transferSums.ts';
import {
  type ClosingSpan,
  type ClosingSums,
  sumClosing,
  sumNewClosing,
} from '../../src/ledger/sumClosing.ts';
import { sumNext } from '../../src/ledger/sumTransfers.ts';
import { checkClosings } from '../../src/ledger/verify/closings.ts';
import { createTally } from '../../src/ledger/verify/tally.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { closePeriod, reopenPeriod } from '../../src/statements/closePeriod.ts';
import { readStatement } from '../../src/statements/readStatement.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import {
  createRandomJournal,
  insertRandom,
  type RandomTransfer,
} from '../support/randomJournal.ts';
import { sumAll, sumEverything } from '../support/sums.ts';
import { waitFor } from '../support/waitFor.ts';

const seed = testSeed();
const random = seededRandom(seed);
const seeded = `TEST_SEED=${seed}`;
const MONTHS = ['2024-03', '2024-04', '2024-05'];
const FIRST_MS = Date.UTC(2024, 1, 20);
const TIME_ZONE = 'Europe/Berlin';

const anyTime = () => FIRST_MS + Math.floor(random() * 120 * DAY_MS);

const close = (db: TestDatabase, month: string, more: object = {}) =>
  db.transaction((tx) =>
    closePeriod(tx, {
      month,
      timeZone: TIME_ZONE,
      by: 'ada',
      reason: undefined,
      withExceptions: true,
      ...more,
    }),
  );
const reopen = (db: TestDatabase, month: string) =>
  db.transaction((tx) => reopenPeriod(tx, { month, by: 'ada', reason: 'a report was late' }));

async function closed(db: TestDatabase, month: string): Promise<Closing> {
  const done = await close(db, month);
  if (done.outcome !== 'closed') throw new Error(JSON.stringify(done));
  return done.closing;
}

async function problemsOf(db: TestDatabase): Promise<readonly string[]> {
  const tally = createTally({ rebuild: false });
  const run = { db, tally, merchantId: 'm', chunkSize: 10, onProgress: () => undefined };
  await checkClosings(run);
  return tally
    .results()
    .flatMap(({ offenders }) => offenders.map(({ subject, problem }) => `${subject}: ${problem}`));
}

interface Posted {
  readonly number: number;
  readonly effectiveMicros: number;
  readonly currency: string;
  readonly leg: string;
  readonly moved: number;
}

const readPosted = (db: TestDatabase) =>
  db.query<Posted>(
    `select id as number, (extract(epoch from effective_at) * 1000000)::bigint as "effectiveMicros",
            currency, leg, cumulative_minor - previous_minor as moved
       from transfers order by id`,
  );

/** `month currency leg` of everything that was booked in closed months, by the rule for one posting. */
function bookedSums(posted: readonly Posted[], inForce: readonly Closing[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const one of posted) {
    const missed = bookedAfter(one, inForce);
    const own = inForce.find(
      ({ fromMicros, toMicros }) =>
        one.effectiveMicros >= fromMicros && one.effectiveMicros < toMicros,
    );
    const month = missed ? nextMonth(missed) : own?.month;
    if (!inForce.some((closing) => closing.month === month)) continue;
    const key = `${month} ${one.currency} ${one.leg}`;
    sums.set(key, (sums.get(key) ?? 0) + one.moved);
  }
  return sorted(sums);
}

const sorted = (sums: ReadonlyMap<string, number>) =>
  new Map([...sums].filter(([, minor]) => minor !== 0).toSorted());

async function storedSums(
  db: TestDatabase,
  closings: readonly Closing[],
): Promise<Map<string, number>> {
  const sums = new Map<string, number>();
  for (const { id, month } of closings) {
    for (const day of await readClosingDays(db, id, undefined)) {
      const key = `${month} ${day.currency} ${day.leg}`;
      expect(day.upMinor - day.downMinor).toBe(day.postedUpMinor - day.postedDownMinor);
      sums.set(key, (sums.get(key) ?? 0) + Number(day.upMinor - day.downMinor));
    }
  }
  return sorted(sums);
}

describe('months that are closed while transfers are inserted', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.drop());

  async function write(prefix: string, rounds: number): Promise<void> {
    const transfer = createRandomJournal({ random, effectiveMs: anyTime, prefix });
    for (let round = 0; round < rounds; round += 1) {
      const rows: readonly RandomTransfer[] = [1, 2, 3].map(() => transfer(FIRST_MS));
      const pauseSeconds = random() * 0.03;
      await db.transaction(async (tx) => {
        await insertRandom(tx, rows);
        await tx.query('select pg_sleep($1)', [pauseSeconds]);
      });
    }
  }

  test(`contain each transfer once, and stay as they are, ${seeded}`, async () => {
    let isWriting = true;
    const writing = Promise.all(['a', 'b', 'c'].map((prefix) => write(prefix, 15))).finally(() => {
      isWriting = false;
    });
    const sumsBefore = new Map<number, string>();
    const text = async (id: number) =>
      JSON.stringify(
        [await readClosingDays(db, id, undefined), await readClosingBalances(db, id, undefined)],
        (_key, value) => (typeof value === 'bigint' ? String(value) : value),
      );
    const keep = async (closing: Closing) => sumsBefore.set(closing.id, await text(closing.id));
    let inForce: readonly Closing[] = [];
    // A reopening may come last, so that no month is closed: one is.
    for (let round = 0; isWriting || round < MONTHS.length || inForce.length === 0; round += 1) {
      const last = inForce.at(-1);
      const next = MONTHS[inForce.length];
      if (last && (next === undefined || random() < 0.3)) {
        expect((await reopen(db, last.month)).outcome).toBe('reopened');
      } else if (next !== undefined) await keep(await closed(db, next));
      inForce = closingsInForce(await readClosings(db));
    }
    await writing;
    const closings = await readClosings(db);
    expect(closings.some(({ exceptions }) => exceptions.length > 0)).toBe(true);
    expect(await storedSums(db, inForce), seeded).toEqual(
      bookedSums(await readPosted(db), inForce),
    );
    for (const { id } of closings) expect(await text(id), seeded).toBe(sumsBefore.get(id));
    expect(await problemsOf(db), seeded).toEqual([]);
  });
});

describe('a closing', () => {
  let db: TestDatabase;
  const march = () => Date.UTC(2024, 2, 10);
  const transfer = createRandomJournal({ random, effectiveMs: march, prefix: 'x' });
  const other = createRandomJournal({ random, effectiveMs: march, prefix: 'y' });
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.drop());

  test('waits for transactions that have inserted, and not for later ones', async () => {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    let isInserted = false;
    const slow = db.transaction(async (tx) => {
      await insertRandom(tx, [transfer(march())]);
      isInserted = true;
      await ended;
    });
    await waitFor('the insert', () => isInserted);
    // Has a greater number, and is visible first.
    await insertRandom(db, [other(march())]);
    let isClosed = false;
    const closing = closed(db, '2024-03').finally(() => {
      isClosed = true;
    });
    await waitFor('the closing to wait for writers', async () => {
      const rows = await db.query(
        `select from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and query like '%from pg_locks%'`,
      );
      return rows.length > 0;
    });
    await insertRandom(db, [other(march())]);
    expect(isClosed).toBe(false);
    end();
    await slow;
    const { id, lastTransfer } = await closing;
    const posted = await readPosted(db);
    expect(posted.map(({ number }) => number <= lastTransfer)).toEqual([true, true, false]);
    const days = await readClosingDays(db, id, undefined);
    const sum = days.reduce((all, day) => all + Number(day.postedUpMinor - day.postedDownMinor), 0);
    expect(sum).toBe(posted.slice(0, 2).reduce((all, { moved }) => all + moved, 0));
  });

  test('is refused for a month that is not over, not next, closed, or in another time zone', async () => {
    const messageOf = async (month: string, more: object = {}) => {
      const done = await close(db, month, more);
      return done.outcome === 'refused' ? done.message : done.outcome;
    };
    expect(await messageOf('2199-12')).toMatch(/is not over/);
    expect(await messageOf('2024-03')).toMatch(/is closed already, by ada/);
    expect(await messageOf('2024-05')).toMatch(/so 2024-04 is next/);
    expect(await messageOf('2024-02')).toMatch(/so 2024-04 is next/);
    expect(await messageOf('2024-04', { timeZone: 'UTC' })).toMatch(
      /in the time zone Europe\/Berlin/,
    );
  });

  test('is refused while something is unproven, unless the exceptions are accepted', async () => {
    await db.query(
      `insert into findings (class, subject, detail) values ('over_refund', 'payment:pay_late', '{}'),
                                                             ('over_refund', 'payment:pay_1', '{}')`,
    );
    await db.query(
      `insert into resources (kind, id, created_at) values ('payment', 'pay_late', '2024-05-01')`,
    );
    const done = await close(db, '2024-04', { timeZone: undefined, withExceptions: false });
    expect(done).toMatchObject({
      outcome: 'unproven',
      exceptions: [
        { kind: 'open_findings', count: 1, examples: [expect.stringContaining('pay_1')] },
        {
          kind: 'not_compared',
          examples: expect.arrayContaining([expect.stringMatching(/^refunds/)]),
        },
      ],
    });
    expect(await readClosings(db)).toHaveLength(1);
    const { exceptions, timeZone } = await closed(db, '2024-04');
    expect(timeZone).toBe(TIME_ZONE);
    expect(exceptions.map(({ kind }) => kind)).toEqual(['open_findings', 'not_compared']);
  });

  test('is reopened in reverse order, keeps its trace, and closed again as a new version', async () => {
    expect(await reopen(db, '2024-03')).toMatchObject({
      outcome: 'refused',
      message: expect.stringMatching(/reopen 2024-04 first/),
    });
    expect(await reopen(db, '2024-05')).toMatchObject({ outcome: 'not_closed' });
    await reopen(db, '2024-04');
    await reopen(db, '2024-03');
    const again = await closed(db, '2024-03');
    expect(again.version).toBe(2);
    const [first] = await readClosings(db);
    expect(first).toMatchObject({
      version: 1,
      reopenedBy: 'ada',
      reopenedReason: 'a report was late',
    });
    // The transfer that was late is in its own month now.
    const days = await readClosingDays(db, again.id, undefined);
    expect(new Set(days.map(({ day }) => day))).toEqual(new Set(['2024-03-10']));
    const sum = days.reduce((all, day) => all + Number(day.upMinor - day.downMinor), 0);
    expect(sum).toBe((await readPosted(db)).reduce((all, { moved }) => all + moved, 0));
  });

  test.each([
    ['a day', `update closing_days set up_minor = up_minor + 1`],
    ['a count of a day', `update closing_days set ups = ups + 1`],
    ['a balance', `update closing_balances set posted_up_minor = posted_up_minor + 1`],
    ['a missing day', `delete from closing_days`],
    ['a removed transfer', `delete from transfers where id = (select min(id) from transfers)`],
    ['a moved transfer', `update transfers set effective_at = '2024-02-01' where id = 1`],
    ['the number that divides', `update period_closings set last_transfer = 1`],
  ])('that was damaged is found by verify: %s', async (_name, statement) => {
    expect(await problemsOf(db)).toEqual([]);
    const undo = new Error('undone');
    await db
      .transaction(async (tx) => {
        await tx.query('set local session_replication_role = replica');
        await tx.query(statement);
        const same = { ...db, query: tx.query, transaction: (work: never) => within(tx, work) };
        expect(await problemsOf(same as unknown as TestDatabase)).not.toEqual([]);
        throw undo;
      })
      .catch((error: unknown) => {
        if (error !== undo) throw error;
      });
  });

  test('cannot be changed or removed by a statement of a program', async () => {
    const refused = /is kept as it is|is append-only/;
    for (const statement of [
      `update period_closings set closed_by = 'eve'`,
      `update period_closings set reopened_at = null, reopened_by = null, reopened_reason = null
        where reopened_at is not null`,
      `update period_closings set reopened_by = 'eve' where reopened_at is not null`,
      `update period_closings set reason = 'eve' where reopened_at is not null`,
      `delete from period_closings`,
      `update closing_days set ups = 0`,
      `delete from closing_balances`,
    ]) {
      await expect(db.query(statement), statement).rejects.toThrow(refused);
    }
  });
});

/** Runs work that begins a transaction within one; its statement that makes it read-only does nothing. */
function within(tx: { query: TestDatabase['query'] }, work: (tx: unknown) => unknown): unknown {
  return work({
    query: (text: string, values: unknown[]) =>
      text.startsWith('set transaction') ? [] : tx.query(text, values),
  });
}

describe('the first closing of a long journal', () => {
  let db: TestDatabase;
  const own = createRandomJournal({ random, effectiveMs: anyTime, prefix: 'long' });
  beforeAll(async () => {
    db = await createTestDatabase();
    await insertRandom(
      db,
      Array.from({ length: 200 }, () => own(FIRST_MS)),
    );
    await sumEverything(db);
  });
  afterAll(() => db.drop());

  const spanOf = async (month: string, lastTransfer: number): Promise<ClosingSpan> => {
    const { knownMicros: _, ...period } = await readPeriod(db, month, TIME_ZONE);
    return { period, lastTransfer, previous: undefined };
  };
  const sumsOf = ({ days, balances }: ClosingSums) =>
    new Map([...days, ...balances].map((one) => [sumKey(one), one.sums]));

  test(`is the same from parts of any size, and from the stored sums, ${seeded}`, async () => {
    const last = (await readPosted(db)).length;
    for (const month of MONTHS) {
      // The last transfers are not in the sums yet, and some arrive while the closing waits.
      const span = await spanOf(month, last - 7);
      const expected = sumsOf(await sumClosing(db, span));
      expect(expected.size).toBeGreaterThan(5);
      expect(sumsOf(await sumClosing(db, span, 1 + Math.floor(random() * 20))), seeded).toEqual(
        expected,
      );
      expect(sumsOf(await sumNewClosing(db, span)), seeded).toEqual(expected);
    }
  });

  const removeAll = async () => {
    await restartSums(db);
    await sumNext(db, 10_000);
  };

  test(`reads the stored sums as of one moment, also if a step adds to them or removes them meanwhile, ${seeded}`, async () => {
    const span = await spanOf('2024-04', (await readPosted(db)).length);
    const expected = sumsOf(await sumClosing(db, span));
    const isUsed = async () => (await readSummedTo(db)) !== undefined;
    await removeAll();
    while (!(await isUsed())) await sumNext(db, 3);
    for (const step of [() => sumAll(db), removeAll]) {
      const before = await readSummedTo(db);
      let isDone = false;
      const tx = {
        query: async <Row extends object>(text: string, values?: readonly unknown[]) => {
          const rows = await db.query<Row>(text, values);
          const isDue = !isDone && text.includes('transfer_sums_state');
          isDone ||= isDue;
          if (isDue) await step();
          return rows;
        },
      };
      expect(sumsOf(await sumNewClosing(tx, span)), seeded).toEqual(expected);
      expect(await readSummedTo(db)).not.toBe(before);
    }
    await sumAll(db);
  });

  test(`reads what the months before it posted from the stored sums, and verify from the journal, ${seeded}`, async () => {
    await db.query(
      `update transfer_day_sums set posted_up_minor = posted_up_minor + 1 where day < '2024-03-30'`,
    );
    await closed(db, '2024-04');
    const problems = await problemsOf(db);
    expect(problems.length, seeded).toBeGreaterThan(0);
    for (const problem of problems) {
      expect(problem).toMatch(/^closing:2024-04:\w+:\w+:closing: posted_up_minor is \d+, not \d+$/);
    }
    await reopen(db, '2024-04');
    await restartSums(db);
    const { id } = await closed(db, '2024-04');
    expect((await readClosingBalances(db, id, undefined)).length).toBeGreaterThan(0);
    expect(await problemsOf(db), seeded).toEqual(problems);
  });
});

describe('the statement of a closed month', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.drop());

  const statements = async () =>
    await Promise.all(
      MONTHS.map((month) => readStatement(db, { month, timeZone: TIME_ZONE, currency: undefined })),
    );

  /** What each account of something under way has at the end of the month, by the closing. */
  const BALANCES = {
    hold: 'memo.auth_open',
    refund: 'refund.in_flight',
    dispute: 'dispute.held',
    payout: 'payout.in_transit',
  } as const;
  const isCredit = (account: string) => account === 'refund.in_flight';

  async function expectSameAs(before: Awaited<ReturnType<typeof statements>>): Promise<void> {
    for (const [place, { period, open, currencies }] of (await statements()).entries()) {
      const where = `${period.month}, ${seeded}`;
      const known = before[place]?.open ?? [];
      expect(
        open.map(({ oldest: _, ...sums }) => sums),
        where,
      ).toEqual(known.map(({ oldest: _, ...sums }) => sums));
      for (const [item, { oldest, count }] of open.entries()) {
        expect(oldest, where).toEqual(known[item]?.oldest);
        expect(oldest, where).toHaveLength(Math.min(count, OLDEST));
      }
      for (const { item, currency, amountMinor } of open) {
        const account = currencies
          .find((one) => one.currency === currency)
          ?.accounts.find((one) => one.account === BALANCES[item]);
        const closingMinor = account?.closingMinor ?? 0n;
        expect(isCredit(BALANCES[item]) ? -closingMinor : closingMinor, where).toBe(amountMinor);
      }
    }
  }

  test(`lists what was under way by its closing, regardless of what arrives later, ${seeded}`, async () => {
    const journals = Array.from({ length: 12 }, (_, n) =>
      createRandomJournal({ random, effectiveMs: anyTime, prefix: `s${n}` }),
    );
    const write = (rounds: number) =>
      insertRandom(
        db,
        Array.from({ length: rounds }, () => journals.map((next) => next(FIRST_MS))).flat(),
      );
    await write(20);
    for (const month of MONTHS) await closed(db, month);
    const before = await statements();
    await expectSameAs(before);
    await write(4);
    await expectSameAs(before);
    await sumEverything(db);
    await expectSameAs(before);
  });

  test('lists what was under way also if many older ones arrive later', async () => {
    const own = await createTestDatabase();
    const request = (prefix: string, count: number, at: string) =>
      own.query(
        `with made as (
           insert into resources (kind, id, order_key)
           select 'refund', $1 || n, 'order:x' from generate_series(1, $2::int) as n returning id)
         insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor,
                                previous_minor, cumulative_minor, head_hash, recorded_at, effective_at,
                                effective_source)
         select 'refund', made.id, l.leg, 'EUR', 1, l.debit, l.credit, 100, 0, 100, sha256('x'),
                statement_timestamp() - interval '2 hours', $3, 'v'
           from made join legs l on l.kind = 'refund' and l.leg = 'requested'`,
        [prefix, count, at],
      );
    const statement = () =>
      readStatement(own, { month: '2024-03', timeZone: TIME_ZONE, currency: undefined });
    await request('known-', 3, '2024-03-20T12:00:00Z');
    const { lastTransfer } = await closed(own, '2024-03');
    const { open, period } = await statement();
    expect(open).toMatchObject([{ item: 'refund', count: 3, amountMinor: 300n }]);
    expect(open[0]?.oldest).toHaveLength(3);
    await request('late-', 1_500, '2024-03-10T12:00:00Z');
    expect((await statement()).open).toEqual(open);
    await sumEverything(own);
    expect((await statement()).open).toEqual(open);
    const { toMicros } = period;
    const late = { fromMicros: undefined, toMicros, after: lastTransfer, until: undefined };
    // However many they are: a sum without some of them would be wrong.
    for (const atOnce of [700, 750, undefined]) {
      const items = await readItemsWithLatePostings(own, { ...late, currency: undefined }, atOnce);
      expect(new Set(items.map(({ id }) => id)).size).toBe(1_500);
      expect(items).toHaveLength(1_500);
    }
    await own.drop();
  });
});

test(`the months before the first closed one are closed with it: what arrives later is booked after it, ${seeded}`, async () => {
  const db = await createTestDatabase();
  const journals = Array.from({ length: 8 }, (_, n) =>
    createRandomJournal({ random, effectiveMs: anyTime, prefix: `b${n}` }),
  );
  const write = (rounds: number) =>
    insertRandom(
      db,
      Array.from({ length: rounds }, () => journals.map((next) => next(FIRST_MS))).flat(),
    );
  const read = async () => {
    const months = ['2024-02', '2024-03', '2024-04'];
    const statements = await Promise.all(
      months.map((month) => readStatement(db, { month, timeZone: TIME_ZONE, currency: undefined })),
    );
    return statements.map(({ currencies, open }) => ({ currencies, open }));
  };
  await write(12);
  await closed(db, '2024-04');
  const before = await read();
  for (const [place, { currencies }] of before.entries()) {
    for (const { currency, accounts } of before[place + 1]?.currencies ?? []) {
      const ended = currencies.find((one) => one.currency === currency)?.accounts ?? [];
      for (const { account, openingMinor } of accounts) {
        const closing = ended.find((one) => one.account === account)?.closingMinor ?? 0n;
        expect(openingMinor, `${account} ${currency}, ${seeded}`).toBe(closing);
      }
    }
  }
  await write(12);
  expect(await read(), seeded).toEqual(before);
  await sumAll(db);
  expect(await readSummedTo(db)).toBeDefined();
  expect(await read(), seeded).toEqual(before);
  const { booking } = await readStatement(db, {
    month: '2024-03',
    timeZone: TIME_ZONE,
    currency: undefined,
  });
  if (booking.kind !== 'booked') throw new Error('it is not booked');
  expect(booking.bookedLater.totals[0]?.bookedIn).toBe('2024-05');
  expect(booking.closedWith?.month).toBe('2024-04');
  await db.drop();
});

test('every sum of a closing is read, however many days an import of the past gave it', async () => {
  const db = await createTestDatabase();
  const { id } = await closed(db, '2024-03');
  const days = 100_001;
  await db.query(
    `insert into closing_days (closing_id, day, currency, leg, ups, downs, up_minor, down_minor, late,
                               late_minor, posted_up_minor, posted_down_minor)
     select $1, date '2020-01-01' + n / 100, chr(65 + n / 10 % 10) || 'AA', 'leg_' || n % 10, 1, 0, n, 0, 0, 0, n, 0
       from generate_series(0, $2::int - 1) as n`,
    [id, days],
  );
  const sum = (days * (days - 1)) / 2;
  const read = await readClosingDays(db, id, undefined);
  expect(read.length).toBe(days);
  expect(read.reduce((total, { postedUpMinor }) => total + postedUpMinor, 0n)).toBe(BigInt(sum));
  expect((await readClosingDays(db, id, 'AAA')).length).toBe(10_001);
  await db.drop();
});
