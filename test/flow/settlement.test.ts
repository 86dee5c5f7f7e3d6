/**
 * A shop sells in two currencies, and its service writes settlement reports and pays to its bank. Once all files
 * and webhooks are there, psp.clearing is zero to the cent and nothing is unmatched, in any order in which they
 * come. Until then its balance is explained by what is missing, as service and bank have it. An import
 * that is killed leaves nothing, and is repeated. TEST_SEED repeats a run.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatAmount } from '../../src/contract/money.ts';
import { monthAfter } from '../../src/ledger/domain/period.ts';
import type { ClearingGroup } from '../../src/ledger/domain/statement.ts';
import { createBalanceReader } from '../../src/ledger/read/balances.ts';
import { readClearing } from '../../src/ledger/read/clearing.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { readStatement } from '../../src/statements/readStatement.ts';
import { tallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { spawnProgram } from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import { createChoices } from '../support/shop.ts';
import { waitFor } from '../support/waitFor.ts';

const CURRENCIES = ['EUR', 'JPY'] as const;
const BATCHES = 3;
const seed = testSeed();
const seeded = `TEST_SEED=${seed}`;
const random = seededRandom(seed);
const amountUpTo = (most: number) => 1 + Math.floor(random() * most);

let service: TestDatabase;
let db: TestDatabase;
let sandbox: TestSandbox;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tallyhook-settlement-'));
  [service, db] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  sandbox = await startTestSandbox({
    databaseUrl: service.url,
    startAtMs: Date.now() - 90 * DAY_MS,
  });
  for (const currency of CURRENCIES) await sell(currency);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await sandbox.close();
  await Promise.all([service.drop(), db.drop()]);
});

/** Payments, a refund of a part, and disputes that are won and lost. */
async function sell(currency: string): Promise<void> {
  const [refunded = '', won = '', lost = '', ...others] = Array.from(
    { length: 8 },
    (_, place) => `pay_${seed}_${currency}_${place}`,
  );
  for (const id of [refunded, won, lost, ...others]) {
    const fields = { payment_id: id, currency, amount: 3_000 + amountUpTo(5_000) };
    await sandbox.call('POST', '/payments', cardPayment(fields));
    await sandbox.advance(DAY_MS);
  }
  await sandbox.call('POST', '/refunds', { payment_id: refunded, amount: amountUpTo(2_000) });
  const outcomes = { [won]: 'won', [lost]: 'lost' };
  for (const [id, status] of Object.entries(outcomes)) {
    const opened = { payment_id: id, amount: amountUpTo(2_000) };
    const { body } = await sandbox.call('POST', '/_sandbox/disputes', opened);
    await sandbox.advance(5 * DAY_MS);
    const moved = await sandbox.call('POST', `/_sandbox/disputes/${body.dispute_id}/move`, {
      status,
    });
    expect(moved.status).toBe(200);
  }
  await sandbox.advance(5 * DAY_MS);
}

interface Movement {
  readonly type: string;
  readonly id: string;
  readonly day: string;
  readonly currency: string;
  readonly grossMinor: number;
  readonly feeMinor: number;
}

/** What an object has added to the money that the service holds. */
function worthOf(type: string, object: Readonly<Record<string, unknown>>): number {
  const [status, amount] = [String(object.status), Number(object.amount)];
  if (type === 'payment_details') return Number(object.amount_received);
  if (type === 'refund_details') return status === 'succeeded' ? -amount : 0;
  return ['won', 'cancelled'].includes(status) ? 0 : -amount;
}

/** A line for each movement of money, as a service reports it; charges have fees. */
function movementsOf(bodies: readonly string[]): readonly Movement[] {
  const before = new Map<string, number>();
  return bodies.flatMap((body) => {
    const { type, object } = JSON.parse(body).content;
    const id: string = object.dispute_id ?? object.refund_id ?? object.payment_id;
    const grossMinor = worthOf(type, object) - (before.get(id) ?? 0);
    before.set(id, worthOf(type, object));
    if (grossMinor === 0) return [];
    const [day, currency] = [String(object.modified_at).slice(0, 10), String(object.currency)];
    const feeMinor = type === 'payment_details' ? amountUpTo(200) : 0;
    return [{ type, id, day, currency, grossMinor, feeMinor }];
  });
}

const SOURCES = {
  reports: {
    name: 'reports',
    format: 'csv',
    columns: {
      settlement: 'Batch',
      line: 'Line',
      type: 'Type',
      reference: 'Id',
      day: 'Day',
      currency: 'Currency',
      gross: 'Gross',
      fee: 'Fee',
      net: 'Net',
    },
    types: { payment_details: 'payment', refund_details: 'refund', dispute_details: 'dispute' },
  },
  EUR: { name: 'bank-eur', format: 'mt940', account: '202051', payers: ['ACME PAYMENTS'] },
  JPY: { name: 'bank-jpy', format: 'mt940', account: '202051', payers: ['ACME PAYMENTS'] },
};

interface ServiceFile {
  readonly path: string;
  readonly source: string;
  /** What it reports as settled, by currency, and what the bank has. */
  readonly settled: Readonly<Record<string, number>>;
  readonly arrived: Readonly<Record<string, number>>;
}

function write(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const netOf = ({ grossMinor, feeMinor }: Movement) => grossMinor - feeMinor;
const sumOf = (movements: readonly Movement[], currency: string) =>
  movements.filter((one) => one.currency === currency).reduce((sum, one) => sum + netOf(one), 0);

function reportOf(batch: number, movements: readonly Movement[], source: string): ServiceFile {
  const rows = movements.map((one, place) => {
    const { type, id, day, currency } = one;
    const amounts = [one.grossMinor, one.feeMinor, netOf(one)];
    const texts = amounts.map((minor) => formatAmount(minor, currency));
    return [`ST-${currency}-${batch}`, `${batch}-${place}`, type, id, day, currency, ...texts];
  });
  const header = 'Batch,Line,Type,Id,Day,Currency,Gross,Fee,Net'.split(',');
  const content = [header, ...rows].map((row) => `${row.join(',')}\n`).join('');
  const settled = Object.fromEntries(CURRENCIES.map((one) => [one, sumOf(movements, one)]));
  return { path: write(`report-${batch}.csv`, content), source, settled, arrived: {} };
}

function statementOf(
  batch: number,
  { currency, minor, source }: { currency: string; minor: number; source: string },
): ServiceFile {
  const day = new Date().toISOString().slice(2, 10).replaceAll('-', '');
  const sign = minor < 0 ? 'D' : 'C';
  const decimal = formatAmount(Math.abs(minor), currency).replace('.', ',');
  const amount = decimal.includes(',') ? decimal : `${decimal},`;
  const content =
    `:20:S\n:25:12030000/202051\n:60F:C${day}${currency}0,\n` +
    `:61:${day}${day.slice(2)}${sign}${amount}NTRFNONREF//${currency}${batch}\n` +
    `:86:166?20SETTLEMENT ST-${currency}-${batch}?32ACME PAYMENTS LTD\n` +
    `:62F:${sign}${day}${currency}${amount}\n-\n`;
  const path = write(`bank-${currency}-${batch}.mt940`, content);
  return { path, source, settled: {}, arrived: { [currency]: minor } };
}

async function importFile({ path, source }: ServiceFile): Promise<string> {
  const { code, stdout, stderr } = await tallyhook(
    db.url,
    'settle',
    'import',
    path,
    '--source',
    source,
    '--by',
    'ada',
  );
  expect({ code, stderr }, `${path} ${seeded}`).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** What was stored of all files. */
async function stored(): Promise<object> {
  const [counts] = await db.query<object>(
    `select (select count(*) from settlement_files) as files,
            (select count(*) from settlement_lines) as lines,
            (select count(*) from settlement_matches) as matches,
            (select count(*) from transfers) as transfers,
            (select count(*) from audit where action = 'settlement.import') as audited`,
  );
  return counts ?? {};
}

/** Kills an import when it has posted everything and matches lines, before it commits. */
async function killImport({ path, source }: ServiceFile): Promise<void> {
  const waiting = async () => {
    const rows = await db.query<object>(
      `select from pg_locks where relation = 'settlement_matches'::regclass and not granted`,
    );
    return rows.length > 0;
  };
  await db.transaction(async (tx) => {
    await tx.query('lock table settlement_matches in access exclusive mode');
    const args = ['settle', 'import', path, '--source', source];
    const program = spawnProgram('bin/tallyhook.js', args, { env: { DATABASE_URL: db.url } });
    await waitFor('the import to match lines', waiting);
    program.kill('SIGKILL');
    expect(await program.exit).toMatchObject({ signal: 'SIGKILL' });
  });
}

/** The parts of psp.clearing and the balances, in a currency. */
async function explained(currency: string) {
  const [clearing] = (await readClearing(db)).filter((one) => one.currency === currency);
  const parts = clearing?.parts ?? [];
  const sumOfParts = (...names: readonly string[]) =>
    parts
      .filter(({ part }) => names.includes(part))
      .reduce((sum, one) => sum + one.amountMinor, 0n);
  const rows = (await createBalanceReader(db).read()).filter((one) => one.currency === currency);
  const balances = Object.fromEntries(rows.map((one) => [one.account, one.balanceMinor]));
  return {
    parts: parts.map(({ part }) => part),
    atService: sumOfParts('not_reported', 'reported_differently', 'unknown_lines'),
    onItsWay: sumOfParts('not_arrived', 'arrived_differently', 'unknown_arrivals'),
    clearing: balances['psp.clearing'] ?? 0n,
    fees: balances['fees.service'] ?? 0n,
    bank: balances['bank.account'] ?? 0n,
  };
}

/**
 * The clearing of a month in its statement: what moved it, by group, and what is unmatched at its end, which is read
 * once a file was imported.
 */
async function clearingOf(month: string, currency: string, isImported: boolean) {
  const request = { month, timeZone: 'UTC', currency };
  const { currencies, unmatched } = await readStatement(db, request);
  const { openingMinor = 0n, movements = [], closingMinor = 0n } = currencies[0]?.clearing ?? {};
  const moved = new Map(movements.map(({ group, amountMinor }) => [group, amountMinor]));
  const sum = [...moved.values()].reduce((all, minor) => all + minor, 0n);
  expect(openingMinor + sum, `${month}, ${seeded}`).toBe(closingMinor);
  if (isImported) {
    const parts = unmatched.outcome === 'read' ? (unmatched.clearing[0]?.balanceMinor ?? 0n) : null;
    expect(parts, `${month}, ${seeded}`).toBe(closingMinor);
  } else {
    expect(unmatched, seeded).toEqual({ outcome: 'not_read', reason: 'not_imported' });
  }
  return { moved, closingMinor, unmatched };
}

/** Every month with money, the present one last. */
function monthsOfShop(): readonly string[] {
  const now = new Date();
  return [3, 2, 1, 0].map((before) => monthAfter(now.toISOString().slice(0, 7), -before));
}

const total = (files: readonly ServiceFile[], of: 'settled' | 'arrived', currency: string) =>
  BigInt(files.reduce((sum, file) => sum + (file[of][currency] ?? 0), 0));

test('psp.clearing is explained at every step, and zero at the end', async () => {
  const sources = Object.fromEntries(
    Object.entries(SOURCES).map(([name, source]) => [
      name,
      write(`${name}.json`, JSON.stringify(source)),
    ]),
  );
  const sent = await service.query<{ body: string }>(
    'select body from sandbox.events order by seq',
  );
  const movements = movementsOf(sent.map(({ body }) => body));
  const batches = Array.from({ length: BATCHES }, (_, batch) => ({
    movements: movements.filter((_one, place) => place % BATCHES === batch),
    bodies: sent.filter((_one, place) => place % BATCHES === batch),
  }));
  const reports = batches.map((batch, place) =>
    reportOf(place, batch.movements, sources.reports ?? ''),
  );
  const statements = reports.flatMap(({ settled }, batch) =>
    CURRENCIES.map((currency) =>
      statementOf(batch, {
        currency,
        minor: settled[currency] ?? 0,
        source: sources[currency] ?? '',
      }),
    ),
  );
  const applier = testApplier(db, sandbox.merchantId);
  const imported: ServiceFile[] = [];
  const [killed] = reports;
  const apply = async (bodies: readonly { readonly body: string }[]) => {
    await applier.applyBatch(
      await receive(
        db,
        bodies.map(({ body }) => Buffer.from(body)),
      ),
    );
  };
  const steps = [
    ...batches.map(
      ({ bodies }) =>
        () =>
          apply(bodies),
    ),
    ...[...reports, ...statements].map((file) => async () => {
      if (file === killed) {
        const before = await stored();
        await killImport(file);
        expect(await stored(), seeded).toEqual(before);
      }
      expect(await importFile(file)).toContain('new line');
      imported.push(file);
    }),
  ];
  const months = monthsOfShop();
  const lastMonth = months.at(-1) ?? '';
  for (const step of createChoices(seed).shuffle(steps)) {
    await step();
    for (const currency of CURRENCIES) {
      const now = await explained(currency);
      expect(now.atService + now.onItsWay, seeded).toBe(now.clearing);
      const [settled, arrived] = (['settled', 'arrived'] as const).map((of) =>
        total(imported, of, currency),
      );
      expect(now.onItsWay, seeded).toBe((settled ?? 0n) - (arrived ?? 0n));
      expect(now.bank, seeded).toBe(arrived);
      expect(
        (await clearingOf(lastMonth, currency, imported.length > 0)).closingMinor,
        seeded,
      ).toBe(now.clearing);
    }
  }
  // What came before the file or webhook that it is about is matched now.
  if (killed) expect(await importFile(killed)).toContain('imported before');
  for (const currency of CURRENCIES) {
    const clearings: Awaited<ReturnType<typeof clearingOf>>[] = [];
    for (const month of months) clearings.push(await clearingOf(month, currency, true));
    const movedBy = (group: ClearingGroup) =>
      clearings.reduce((sum, { moved }) => sum + (moved.get(group) ?? 0n), 0n);
    const { fees: charged, bank: received } = await explained(currency);
    expect([movedBy('fees'), movedBy('bank')], seeded).toEqual([-charged, -received]);
    expect(clearings.at(-1)?.unmatched, seeded).toEqual({
      outcome: 'read',
      clearing: [],
      oldest: [],
    });
    const fees = movements.filter((one) => one.currency === currency);
    expect(await explained(currency), seeded).toEqual({
      parts: [],
      atService: 0n,
      onItsWay: 0n,
      clearing: 0n,
      fees: BigInt(fees.reduce((sum, { feeMinor }) => sum + feeMinor, 0)),
      bank: total(reports, 'settled', currency),
    });
  }
  const report = await verifyLedger(db, { merchantId: sandbox.merchantId, rebuild: true });
  expect(report.checks.flatMap(({ offenders }) => offenders)).toEqual([]);
  expect(report.passed).toBe(true);
});
