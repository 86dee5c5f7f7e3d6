/**
 * The promise of a statement: each month equals the sums of the service's own objects, to the cent, in any
 * order in which its events arrive, and although those of two days are lost.
 *
 * A shop trades for a quarter in three currencies with refunds, disputes and payouts, and goes on with them
 * across months. The sums of the sandbox are the states of its objects, each with its own time; they are
 * added up here without any rule of the ledger. One thing cannot be lost: that a refund succeeded which then
 * failed. Whoever compares only afterwards finds no trace of it at the service.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Statement } from '../../src/ledger/domain/statement.ts';
import { readStatement } from '../../src/statements/readStatement.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { testReconciler } from '../support/reconciler.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { createChoices } from '../support/shop.ts';
import { trade } from '../support/trade.ts';

const DAY_MS = 86_400_000;
const ROUNDS = 15;
const PAUSE_MS = 6 * DAY_MS;
const TIME_ZONE = 'Europe/Berlin';
const seed = testSeed();
const seeded = `TEST_SEED=${seed}`;

/** Noon of the first day of a month, long enough ago that all rounds are in the past. */
function startOfQuarter(): number {
  const ago = new Date(Date.now() - (ROUNDS * 6 + 3) * DAY_MS);
  return Date.UTC(ago.getUTCFullYear(), ago.getUTCMonth(), 1, 12);
}

interface ServiceEvent {
  readonly body: string;
  readonly createdMs: number;
}

let service: TestDatabase;
let sandbox: TestSandbox;
let events: readonly ServiceEvent[];
const ledgers: TestDatabase[] = [];

beforeAll(async () => {
  service = await createTestDatabase();
  sandbox = await startTestSandbox({ databaseUrl: service.url, startAtMs: startOfQuarter() });
  const random = seededRandom(seed);
  for (let round = 0; round < ROUNDS; round += 1) {
    await trade(sandbox, `${seed}_${round}`, { orders: 6, random });
    await sandbox.advance(PAUSE_MS);
  }
  events = await service.query<ServiceEvent>(
    `select body, (extract(epoch from created_at) * 1000)::bigint as "createdMs"
       from sandbox.events order by seq`,
  );
});
afterAll(async () => {
  await sandbox.close();
  await Promise.all([service, ...ledgers].map((db) => db.drop()));
});

interface Content {
  readonly type: string;
  readonly object: Readonly<Record<string, string>>;
}

function readContent(body: string): Content {
  return (JSON.parse(body) as { readonly content: Content }).content;
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
    const id = object.dispute_id ?? object.refund_id ?? object.payout_id ?? object.payment_id ?? '';
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

/** The same from statements. */
function sumsOfStatements(statements: readonly Statement[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { period, currencies } of statements) {
    for (const { currency, measures, accounts } of currencies) {
      const key = (name: string) => `${period.month} ${currency} ${name}`;
      for (const name of [
        'captured',
        'refunded',
        'lost',
        'paid_out',
        'payouts_reversed',
      ] as const) {
        sums.set(key(name), Number(measures[name].amountMinor));
      }
      const held = accounts.find(({ account }) => account === 'dispute.held');
      sums.set(key('dispute.held'), Number(held ? held.closingMinor - held.openingMinor : 0n));
    }
  }
  return new Map([...sums].filter(([, minor]) => minor !== 0).sort());
}

/** The id of the refund that an event reports; of a failed one only. */
function failedRefund({ body }: ServiceEvent): string | undefined {
  const { object } = readContent(body);
  return object.status === 'failed' ? object.refund_id : undefined;
}

/** A ledger that receives events in an order, loses those of two days, and is compared with the service. */
async function ledgerOf(arrivals: readonly ServiceEvent[]): Promise<TestDatabase> {
  const db = await createTestDatabase();
  ledgers.push(db);
  const from = startOfQuarter() + PAUSE_MS - DAY_MS;
  const failed = arrivals.map(failedRefund).filter((id) => id !== undefined);
  const received = arrivals.filter(
    ({ createdMs, body }) =>
      createdMs < from ||
      createdMs >= from + 2 * DAY_MS ||
      failed.includes(readContent(body).object.refund_id ?? ''),
  );
  expect(received.length).toBeLessThan(arrivals.length);
  const applier = testApplier(db, sandbox.merchantId);
  for (let start = 0; start < received.length; start += 25) {
    const bodies = received.slice(start, start + 25).map(({ body }) => Buffer.from(body));
    await applier.applyBatch(await receive(db, bodies));
  }
  await testReconciler({ db, service: sandbox }).runAll({
    fromMs: startOfQuarter() - DAY_MS,
  });
  return db;
}

async function statementsOf(db: TestDatabase): Promise<readonly Statement[]> {
  const months = [...new Set([...sumsOf(events).keys()].map((key) => key.slice(0, 7)))];
  const statements: Statement[] = [];
  for (const month of months) {
    statements.push(await readStatement(db, { month, timeZone: TIME_ZONE, currency: undefined }));
  }
  return statements;
}

test.each([
  ['in order', (all: readonly ServiceEvent[]) => all],
  ['backward', (all: readonly ServiceEvent[]) => all.toReversed()],
  ['in a random order', (all: readonly ServiceEvent[]) => createChoices(seed).shuffle(all)],
])(
  `each month equals the sums of the service when events arrive %s, ${seeded}`,
  async (_name, arrange) => {
    const sums = sumsOf(events);
    expect(new Set([...sums.keys()].map((key) => key.slice(8, 11))).size).toBe(3);
    expect(new Set([...sums.keys()].map((key) => key.slice(0, 7))).size).toBeGreaterThanOrEqual(3);
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
  },
);
