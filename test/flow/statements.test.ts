/**
 * The promise of a statement: each month equals the sums of the service's own objects, to the cent, in any
 * order in which its events arrive, although those of two days are lost, and whenever months are closed. A
 * closed month never changes, and its statement and the difference that came later are these sums together.
 *
 * A shop sells for two years, which a first import reads. Then it trades for a quarter in three currencies with
 * refunds, disputes and payouts, and goes on with them across months. The sums of the sandbox are the states of
 * its objects, each with its own time; they are added up here without any rule of the ledger. Two things cannot
 * be lost: that a refund succeeded which then failed, and that a dispute held money which it then returned.
 * Whoever compares only afterwards has no state with this money from the service.
 *
 * STATEMENT_SEEDS sets the number of seeds, the first of which is TEST_SEED (scripts/check-statements.sh).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_CHART } from '../../src/ledger/domain/chart.ts';
import { daysOfMonth } from '../../src/ledger/domain/entries.ts';
import { monthAfter } from '../../src/ledger/domain/period.ts';
import type { CurrencyStatement, Measures, Statement } from '../../src/ledger/domain/statement.ts';
import { readEntriesText } from '../../src/ledger/read/exportEntries.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { closePeriod } from '../../src/statements/closePeriod.ts';
import { readStatement } from '../../src/statements/readStatement.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { testReconciler } from '../support/reconciler.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import type { Body } from '../support/serviceApi.ts';
import { createChoices } from '../support/shop.ts';
import { trade } from '../support/trade.ts';

const ROUNDS = 15;
const PAUSE_MS = 6 * DAY_MS;
const TIME_ZONE = 'Europe/Berlin';
const { STATEMENT_SEEDS = '1' } = process.env;
const FIRST_SEED = testSeed();
const SEEDS = Array.from({ length: Number(STATEMENT_SEEDS) }, (_, n) => FIRST_SEED + n);

/** Noon of the first day of a month, long enough ago that all rounds are in the past. */
function startOfQuarter(): number {
  const ago = new Date(Date.now() - (ROUNDS * 6 + 3) * DAY_MS);
  return Date.UTC(ago.getUTCFullYear(), ago.getUTCMonth(), 1, 12);
}

interface ServiceEvent {
  readonly body: string;
  readonly createdMs: number;
}

const YEARS = 8;
const QUARTER_MS = 91 * DAY_MS;

const startOfYears = () => startOfQuarter() - YEARS * QUARTER_MS;

/** What was sold in these years is over: an import knows the last state of an object, and not how it came to it.
 * What goes on across months does so by itself (acrossMonthsPlan). */
const continues = ({ payment_id: id }: Body) =>
  !['year', 'across'].some((part) => String(id).startsWith(`pay_${seed}_${part}_`));

/** What an import can know: money that moved in one step, or with a time for each. */
async function sell(round: number, before: readonly string[]): Promise<readonly string[]> {
  const [refunded, disputed] = before;
  if (refunded && disputed) {
    await made('/refunds', { payment_id: refunded, amount: 1_000 + round });
    const { dispute_id: id } = await dispute({ payment_id: disputed, amount: 2_000 + round });
    await sandbox.advance(31 * DAY_MS);
    await made(`/_sandbox/disputes/${id}/move`, { status: 'lost' });
  } else await sandbox.advance(31 * DAY_MS);
  const sold: string[] = [];
  for (const [place, currency] of ['USD', 'EUR', 'JPY'].entries()) {
    const id = `pay_${seed}_year_${round}_${place}`;
    const amount = 5_000 + 100 * round + place;
    await made('/payments', cardPayment({ payment_id: id, currency, amount }));
    sold.push(id);
  }
  await sandbox.advance(QUARTER_MS - 31 * DAY_MS);
  return sold;
}

/** Rounds of trade after which another month has begun, and which leave time for two such spans. */
const ROUNDS_ACROSS = 6;
/** A refund of this amount waits for the sandbox to move it. */
const REVIEWED_MINOR = 7_730;

/**
 * What happens across months for every seed, beside what the shop does at random: payments of the first month
 * are refunded and disputed in the second, and these refunds and disputes end in the third.
 * @returns what to do in each round
 */
function acrossMonthsPlan(): Readonly<Record<number, () => Promise<void>>> {
  const [refunded, won, lost] = ['USD', 'EUR', 'JPY'].map((currency) => ({
    payment_id: `pay_${seed}_across_${currency}`,
    currency,
    amount: 20_000,
  })) as [Body, Body, Body];
  const refund = {
    refund_id: `ref_${seed}_across`,
    amount: REVIEWED_MINOR,
    refund_type: 'instant',
  };
  const disputes: Body[] = [];
  return {
    0: async () => {
      for (const fields of [refunded, won, lost]) await made('/payments', cardPayment(fields));
    },
    [ROUNDS_ACROSS]: async () => {
      await made('/refunds', { ...refund, payment_id: refunded.payment_id });
      for (const { payment_id, amount } of [won, lost]) {
        disputes.push(await dispute({ payment_id, amount }));
      }
    },
    [2 * ROUNDS_ACROSS]: async () => {
      await made(`/_sandbox/refunds/${refund.refund_id}/move`, { status: 'succeeded' });
      for (const [place, status] of ['won', 'lost'].entries()) {
        await made(`/_sandbox/disputes/${disputes[place]?.dispute_id}/move`, { status });
      }
    },
  };
}

/** A dispute that waits for its decision; without the evidence it would expire. */
async function dispute(request: object): Promise<Body> {
  const opened = await made('/_sandbox/disputes', request);
  return await made(`/_sandbox/disputes/${opened.dispute_id}/move`, { status: 'challenged' });
}

async function made(path: string, request: object): Promise<Body> {
  const { status, body } = await sandbox.call('POST', path, request);
  expect(status, `${path}: ${JSON.stringify(body)}`).toBe(200);
  return body;
}

let seed: number;
let seeded: string;
let service: TestDatabase;
let sandbox: TestSandbox;
let events: readonly ServiceEvent[];
let ledgers: TestDatabase[];

async function startShop(own: number): Promise<void> {
  [seed, seeded, ledgers] = [own, `TEST_SEED=${own}`, []];
  service = await createTestDatabase();
  sandbox = await startTestSandbox({ databaseUrl: service.url, startAtMs: startOfYears() });
  let sold: readonly string[] = [];
  for (let round = 0; round < YEARS; round += 1) sold = await sell(round, sold);
  const random = seededRandom(seed);
  const across = acrossMonthsPlan();
  for (let round = 0; round < ROUNDS; round += 1) {
    await across[round]?.();
    await trade(sandbox, `${seed}_${round}`, { orders: 6, random, continues });
    await sandbox.advance(PAUSE_MS);
  }
  events = await service.query<ServiceEvent>(
    `select body, (extract(epoch from created_at) * 1000)::bigint as "createdMs"
       from sandbox.events order by seq`,
  );
}

async function removeShop(): Promise<void> {
  await sandbox.close();
  await Promise.all([service, ...ledgers].map((db) => db.drop()));
}

interface Content {
  readonly type: string;
  readonly object: Readonly<Record<string, string>>;
}

function readContent(body: string): Content {
  return (JSON.parse(body) as { readonly content: Content }).content;
}

function idOf({ object }: Content): string {
  return object.dispute_id ?? object.refund_id ?? object.payout_id ?? object.payment_id ?? '';
}

/** What one state of an object is worth, by name. */
type Worth = Readonly<Record<string, number>>;

function worthOf(kind: string, object: Readonly<Record<string, unknown>>): Worth {
  const [status, amount] = [String(object.status), Number(object.amount)];
  const when = (...statuses: readonly string[]) => (statuses.includes(status) ? amount : 0);
  switch (kind) {
    case 'payment_details':
      return { captured: Number(object.amount_received) };
    case 'refund_details':
      return { refunded: when('succeeded') };
    case 'dispute_details': {
      const lost = when('lost', 'accepted', 'expired');
      return { lost, 'dispute.held': when('opened', 'challenged') };
    }
    default:
      return { paid_out: when('success', 'reversed'), payouts_reversed: when('reversed') };
  }
}

const monthOf = (time: string) =>
  new Intl.DateTimeFormat('sv-SE', {
    timeZone: TIME_ZONE,
    year: 'numeric',
    month: '2-digit',
  }).format(new Date(time));

/** `month currency name` of everything that the service moved, without zeros. */
function sumsOf(sent: readonly ServiceEvent[]): Map<string, number> {
  const sums = new Map<string, number>();
  const before = new Map<string, Worth>();
  for (const { body } of sent) {
    const { type, object } = readContent(body);
    const id = idOf({ type, object });
    const worth = worthOf(type, object);
    for (const [name, minor] of Object.entries(worth)) {
      const moved = minor - (before.get(id)?.[name] ?? 0);
      const key = `${monthOf(object.modified_at ?? '')} ${object.currency} ${name}`;
      sums.set(key, (sums.get(key) ?? 0) + moved);
    }
    before.set(id, worth);
  }
  return new Map([...sums].filter(([, minor]) => minor !== 0).sort());
}

/** The same from statements: what each month has by itself, and what came after it was closed. */
function sumsOfStatements(statements: readonly Statement[]): Map<string, number> {
  const sums = new Map<string, number>();
  const add = (month: string, currency: string, measures: Measures) => {
    const { disputed, won, lost } = measures;
    const moved = {
      captured: measures.captured.amountMinor,
      refunded: measures.refunded.amountMinor,
      lost: lost.amountMinor,
      paid_out: measures.paid_out.amountMinor,
      payouts_reversed: measures.payouts_reversed.amountMinor,
      'dispute.held': disputed.amountMinor - won.amountMinor - lost.amountMinor,
    };
    for (const [name, minor] of Object.entries(moved)) {
      const key = `${month} ${currency} ${name}`;
      sums.set(key, (sums.get(key) ?? 0) + Number(minor));
    }
  };
  for (const { period, currencies, booking } of statements) {
    for (const { currency, measures } of currencies) add(period.month, currency, measures);
    if (booking.kind === 'effective') continue;
    for (const one of booking.bookedLater.totals) add(period.month, one.currency, one.measures);
  }
  return new Map([...sums].filter(([, minor]) => minor !== 0).sort());
}

/** The ids of objects that took money back which they had moved: a refund that failed, a dispute that was won. */
function takenBack(sent: readonly ServiceEvent[]): ReadonlySet<string> {
  const before = new Map<string, Worth>();
  const ids = new Set<string>();
  for (const { body } of sent) {
    const content = readContent(body);
    const id = idOf(content);
    const { 'dispute.held': held = 0, ...moved } = worthOf(content.type, content.object);
    const worth: Worth = { ...moved, withheld: held + (moved.lost ?? 0) };
    const known = before.get(id) ?? {};
    if (Object.entries(worth).some(([name, minor]) => minor < (known[name] ?? 0))) ids.add(id);
    before.set(id, worth);
  }
  return ids;
}

/** The events of the quarter that a ledger receives: those of two days are lost. */
function receivedOf(arrivals: readonly ServiceEvent[]): readonly ServiceEvent[] {
  const quarter = arrivals.filter(({ createdMs }) => createdMs >= startOfQuarter());
  const from = startOfQuarter() + PAUSE_MS - DAY_MS;
  const kept = takenBack(events);
  const received = quarter.filter(
    ({ createdMs, body }) =>
      createdMs < from || createdMs >= from + 2 * DAY_MS || kept.has(idOf(readContent(body))),
  );
  expect(received.length).toBeLessThan(quarter.length);
  return received;
}

/** A new ledger, which imports what the service has from before the quarter. */
async function importYears(): Promise<TestDatabase> {
  const db = await createTestDatabase();
  ledgers.push(db);
  const span = { fromMs: startOfYears() - DAY_MS, toMs: startOfQuarter() };
  await testReconciler({ db, service: sandbox }).runAll(span);
  return db;
}

async function apply(db: TestDatabase, received: readonly ServiceEvent[]): Promise<void> {
  const applier = testApplier(db, sandbox.merchantId);
  for (let start = 0; start < received.length; start += 25) {
    const bodies = received.slice(start, start + 25).map(({ body }) => Buffer.from(body));
    await applier.applyBatch(await receive(db, bodies));
  }
}

/** Compares the whole quarter with the service, which repairs what was lost. */
const repair = (db: TestDatabase) =>
  testReconciler({ db, service: sandbox }).runAll({ fromMs: startOfQuarter() - DAY_MS });

/** A ledger that receives events in an order, loses those of two days, and is compared with the service. */
async function ledgerOf(arrivals: readonly ServiceEvent[]): Promise<TestDatabase> {
  const db = await importYears();
  await apply(db, receivedOf(arrivals));
  await repair(db);
  return db;
}

const QUARTER = [0, 1, 2].map((later) =>
  monthAfter(monthOf(new Date(startOfQuarter()).toISOString()), later),
);

/** Every month with money, by the service. */
const monthsOf = () => [...new Set([...sumsOf(events).keys()].map((key) => key.slice(0, 7)))];

async function close(db: TestDatabase, month: string): Promise<Statement> {
  const request = { month, timeZone: TIME_ZONE, reason: undefined, withExceptions: true };
  const { outcome } = await db.transaction((tx) => closePeriod(tx, { ...request, by: 'ada' }));
  expect(outcome).toBe('closed');
  return await readStatement(db, { month, timeZone: undefined, currency: undefined });
}

/** The entries of a month for a general ledger. */
async function entriesOf(db: TestDatabase, month: string): Promise<string> {
  const range = { basis: 'booked', timeZone: TIME_ZONE, currency: undefined } as const;
  const what = { format: 'csv', chart: DEFAULT_CHART, isDaily: true, isEntriesOnly: true } as const;
  const read = await readEntriesText(db, { ...what, range: { ...range, ...daysOfMonth(month) } });
  return read.text;
}

/** `currency account` of what entries debit, less what they credit, in decimals. */
function movedByEntries(text: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const line of text.trim().split('\n').slice(1)) {
    const [, , , name, currency, debit, credit] = line.split(',');
    const key = `${currency} ${name}`;
    sums.set(key, (sums.get(key) ?? 0) + Math.round((Number(debit) - Number(credit)) * 100));
  }
  return new Map([...sums].filter(([, moved]) => moved !== 0).sort());
}

/** The same of a statement. */
function movedByAccounts({ currencies }: Statement): Map<string, number> {
  const sums = currencies.flatMap(({ currency, accounts }) =>
    accounts.map(({ account, openingMinor, closingMinor }): [string, number] => [
      `${currency} ${DEFAULT_CHART[account]?.name}`,
      Number(closingMinor - openingMinor) * (currency === 'JPY' ? 100 : 1),
    ]),
  );
  return new Map(sums.filter(([, moved]) => moved !== 0).sort());
}

interface ClosedMonth {
  readonly statement: Statement;
  readonly entries: string;
}

/** The same ledger, with months that are closed while events arrive and before anything is repaired. */
async function closedLedgerOf(arrivals: readonly ServiceEvent[]): Promise<{
  readonly db: TestDatabase;
  readonly closed: readonly ClosedMonth[];
}> {
  const db = await importYears();
  const received = receivedOf(arrivals);
  const closed: ClosedMonth[] = [];
  for (const [place, month] of QUARTER.entries()) {
    const [from, to] = [place, place + 1].map((part) => Math.floor((received.length * part) / 4));
    await apply(db, received.slice(from, to));
    closed.push({ statement: await close(db, month), entries: await entriesOf(db, month) });
  }
  await apply(db, received.slice(Math.floor((received.length * 3) / 4)));
  await repair(db);
  return { db, closed };
}

async function statementsOf(db: TestDatabase): Promise<readonly Statement[]> {
  const statements: Statement[] = [];
  for (const month of monthsOf()) {
    statements.push(await readStatement(db, { month, timeZone: TIME_ZONE, currency: undefined }));
  }
  return statements;
}

const ORDERS: readonly [string, (all: readonly ServiceEvent[]) => readonly ServiceEvent[]][] = [
  ['in order', (all) => all],
  ['backward', (all) => all.toReversed()],
  ['in a random order', (all) => createChoices(seed).shuffle(all)],
];

/** Kinds of events that come in months of the quarter after the object, or its payment, was first reported. */
function acrossMonths(): ReadonlySet<string> {
  const first = new Map<string, string>();
  const found = new Set<string>();
  for (const { body } of events) {
    const { type, object } = readContent(body);
    const id = idOf({ type, object });
    const month = monthOf(object.modified_at ?? '');
    const isNew = !first.has(id);
    if (isNew) first.set(id, month);
    if (!QUARTER.includes(month)) continue;
    const name = `${type} ${object.status}`;
    if (first.get(id) !== month) found.add(`${name} later`);
    const ofPayment = first.get(object.payment_id ?? '');
    if (isNew && ofPayment !== undefined && ofPayment !== month)
      found.add(`${name} of an old payment`);
  }
  return found;
}

type Arrange = (typeof ORDERS)[number][1];

async function expectEqualMonths(arrange: Arrange): Promise<void> {
  const sums = sumsOf(events);
  const statements = await statementsOf(await ledgerOf(arrange(events)));
  expect(sumsOfStatements(statements), seeded).toEqual(sums);
  for (const [place, { currencies }] of statements.entries()) {
    for (const { currency, accounts, days, measures } of currencies) {
      const next = statements[place + 1]?.currencies.find((one) => one.currency === currency);
      if (next) {
        expect(next.accounts.map(({ openingMinor }) => openingMinor).filter(Boolean)).toEqual(
          accounts.map(({ closingMinor }) => closingMinor).filter(Boolean),
        );
      }
      const balance = accounts.reduce((sum, { closingMinor }) => sum + closingMinor, 0n);
      expect(balance, 'debits equal credits').toBe(0n);
      const captured = days.reduce((sum, day) => sum + day.measures.captured.amountMinor, 0n);
      expect(captured, 'the days add up to the month').toBe(measures.captured.amountMinor);
    }
  }
}

async function expectClosedMonths(arrange: Arrange): Promise<void> {
  const { db, closed } = await closedLedgerOf(arrange(events));
  const statements = await statementsOf(db);
  expect(sumsOfStatements(statements), seeded).toEqual(sumsOf(events));
  const now = new Map(statements.map((one) => [one.period.month, one]));
  let changed = 0;
  for (const { statement: before, entries } of closed) {
    const { month } = before.period;
    const after = now.get(month);
    expect(after?.currencies, `${month}, ${seeded}`).toEqual(before.currencies);
    expect(await entriesOf(db, month), `${month}, ${seeded}`).toBe(entries);
    if (after?.booking.kind === 'booked') changed += after.booking.bookedLater.totals.length;
  }
  expect(changed, seeded).toBeGreaterThan(0);
  for (const statement of statements.filter(({ period }) => period.month >= (QUARTER[0] ?? ''))) {
    const moved = movedByEntries(await entriesOf(db, statement.period.month));
    expect(moved, `${statement.period.month}, ${seeded}`).toEqual(movedByAccounts(statement));
  }
  const lines = statements
    .filter(({ period }) => period.month >= (QUARTER[0] ?? ''))
    .flatMap(({ currencies }) => currencies);
  expectContinuousBalances(lines);
  const account = { merchantId: sandbox.merchantId, rebuild: true };
  const { checks } = await verifyLedger(db, account);
  expect(
    checks.filter(({ failures }) => failures > 0),
    seeded,
  ).toEqual([]);
  expect(checks.find(({ name }) => name === 'closings')?.checked).toBeGreaterThan(0);
}

/** The opening balances of each month are the closing balances of the one before it. */
function expectContinuousBalances(lines: readonly CurrencyStatement[]): void {
  for (const currency of new Set(lines.map((one) => one.currency))) {
    const own = lines.filter((one) => one.currency === currency);
    for (const [place, { accounts }] of own.entries()) {
      const balances = new Map(accounts.map(({ account, ...line }) => [account, line]));
      for (const { account, closingMinor } of own[place - 1]?.accounts ?? []) {
        expect(balances.get(account)?.openingMinor ?? 0n, account).toBe(closingMinor);
      }
    }
  }
}

describe.each(SEEDS)('seed %i', (own) => {
  beforeAll(() => startShop(own));
  afterAll(removeShop);

  test(`the quarter has what the promise is about, TEST_SEED=${own}`, () => {
    const first = [...sumsOf(events).keys()].filter((key) => key.startsWith(QUARTER[0] ?? ''));
    expect(new Set(first.map((key) => key.slice(8, 11))).size).toBe(3);
    expect(monthsOf().length).toBeGreaterThanOrEqual(12);
    expect([...acrossMonths()]).toEqual(
      expect.arrayContaining([
        'refund_details succeeded of an old payment',
        'dispute_details opened of an old payment',
        'dispute_details won later',
        'dispute_details lost later',
      ]),
    );
  });

  test.each(ORDERS)(
    `each month equals the sums of the service when events arrive %s, TEST_SEED=${own}`,
    (_name, arrange) => expectEqualMonths(arrange),
  );

  test.each(ORDERS)(
    `closed months stay as they are and name what came later, when events arrive %s, TEST_SEED=${own}`,
    (_name, arrange) => expectClosedMonths(arrange),
  );
});
