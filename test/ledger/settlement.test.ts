/**
 * Lines of settlement reports and bank statements as the second source of the journal. Tests cite the rules of
 * domain/lines.ts (L), domain/matchLines.ts (M) and domain/clearing.ts (C).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { examineFile, importSettlementAs } from '../../src/actions/importSettlement.ts';
import { matchLineAs, unmatchLineAs } from '../../src/actions/matchSettlementLine.ts';
import { sumExactly } from '../../src/contract/money.ts';
import { appendNext } from '../../src/ledger/chain/publishChain.ts';
import type { ClearingPart } from '../../src/ledger/domain/clearing.ts';
import { fenceJournal } from '../../src/ledger/fenceJournal.ts';
import { createBalanceReader } from '../../src/ledger/read/balances.ts';
import { readClearing, readUnmatched } from '../../src/ledger/read/clearing.ts';
import { readClearingItems } from '../../src/ledger/read/store/clearing.ts';
import { readFiles, readLinesWithMatches } from '../../src/ledger/read/store/settlement.ts';
import { checkRange } from '../../src/ledger/verify/checkRange.ts';
import { proveLedger } from '../../src/ledger/verify/proveLedger.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { parseSource, type Source } from '../../src/settlement/sourceFile.ts';
import { readStatement } from '../../src/statements/readStatement.ts';
import {
  beanCheck,
  hledger,
  isBeancountInstalled,
  isHledgerInstalled,
} from '../support/accounting.ts';
import { tallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';

const ACTOR = { kind: 'cli', name: 'accountant', role: 'admin', origin: 'test' } as const;
const HEADER = 'Batch,Line,Type,Payment,Date,Currency,Gross,Fee,Net\n';

function source(content: object): Source {
  const read = parseSource(JSON.stringify(content));
  if (read.outcome !== 'read') throw new Error(read.problems.join(' '));
  return read.source;
}

const REPORT = source({
  name: 'reports',
  format: 'csv',
  columns: {
    settlement: 'Batch',
    type: 'Type',
    reference: 'Payment',
    day: 'Date',
    currency: 'Currency',
    gross: 'Gross',
    fee: 'Fee',
    net: 'Net',
  },
  types: { charge: 'payment', refund: 'refund', fee: 'fee', fix: 'adjustment' },
});
const BANK = source({
  name: 'bank',
  format: 'mt940',
  account: '202051',
  payers: ['ACME PAYMENTS'],
});

const OCTOBER = { created: '2026-10-04T09:00:00.000Z', modified_at: '2026-10-04T10:00:00.000Z' };
/** pay_1 of 65.40 EUR, pay_2 of 20.00 EUR, pay_3 of 7.00 EUR that no report has. */
const PAYMENTS = [
  { payment_id: 'pay_1', amount: 6540 },
  { payment_id: 'pay_2', amount: 2000, metadata: { order_id: 'ord_2' } },
  { payment_id: 'pay_3', amount: 700 },
].map(({ amount, ...rest }) =>
  eventBody(
    paymentObject({ ...rest, ...OCTOBER, currency: 'EUR', amount, amount_received: amount }),
  ),
);

const ROWS = {
  one: 'ST-1005,1,charge,pay_1,2026-10-05,EUR,65.40,1.30,64.10\n',
  byOrder: 'ST-1005,2,charge,ord_2,2026-10-05,EUR,20.00,0.55,19.45\n',
  fee: 'ST-1005,3,fee,,2026-10-05,EUR,0.00,9.90,-9.90\n',
  unknown: 'ST-1005,4,charge,pay_x,2026-10-05,EUR,5.00,0.10,4.90\n',
};
const REPORT_TEXT = HEADER + Object.values(ROWS).join('');

const statementOf = (amount: string, purpose: string) =>
  `:20:S\n:25:12030000/202051\n:60F:C261006EUR0,00\n:61:2610061006C${amount}NTRFNONREF//${purpose.length}\n` +
  `:86:166?20${purpose}?32ACME PAYMENTS LTD\n:62F:C261006EUR${amount}\n-\n`;

let folder: string;
let db: TestDatabase;
const databases: TestDatabase[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tallyhook-settle-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(async () => {
  await Promise.all(databases.splice(0).map((one) => one.drop()));
});

async function open({ paid = true } = {}): Promise<TestDatabase> {
  db = await createTestDatabase();
  databases.push(db);
  if (paid) await applyEach(db, testApplier(db), PAYMENTS);
  return db;
}

let files = 0;
async function imported(content: string, from: Source) {
  files += 1;
  const path = join(folder, `file-${files}`);
  writeFileSync(path, content);
  const examined = await examineFile(path, from);
  return importSettlementAs({ db }, ACTOR, { path, source: from, examined });
}

async function balances(): Promise<Readonly<Record<string, bigint>>> {
  const rows = await createBalanceReader(db).read();
  return Object.fromEntries(
    rows.map(({ account, balanceMinor }): [string, bigint] => [account, balanceMinor]),
  );
}

/** The parts of psp.clearing in EUR, after C1 is checked. */
async function parts(): Promise<Partial<Record<ClearingPart, bigint>>> {
  const all = await readClearing(db);
  const [euro] = all.filter(({ currency }) => currency === 'EUR');
  const found = euro?.parts ?? [];
  expect(sumExactly(found.map(({ amountMinor }) => amountMinor))).toBe(euro?.balanceMinor);
  expect(euro?.balanceMinor).toBe((await balances())['psp.clearing']);
  return Object.fromEntries(found.map(({ part, amountMinor }) => [part, amountMinor]));
}

/** What the run of every night finds: it proves what changed since the last one. */
async function problemsOfTheNight(): Promise<readonly string[]> {
  const result = await proveLedger(db, {
    merchantId: MERCHANT_ID,
    mode: 'incremental',
    fullDays: 30,
    openCheckers: () => [(task) => checkRange(db, task)],
  });
  if (result.outcome === 'busy') throw new Error('another run is under way');
  return result.report.checks.flatMap(({ name, offenders }) =>
    offenders.map(({ subject }) => `${name} ${subject}`),
  );
}

async function problems(): Promise<readonly string[]> {
  const report = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: false });
  return report.checks.flatMap(({ name, offenders }) =>
    offenders.map(({ subject, problem }) => `${name} ${subject}: ${problem}`),
  );
}

const lineOf = async (at: number, file = 1) => {
  const lines = await readLinesWithMatches(db, { file, after: 0, limit: 100 });
  const line = lines.find(({ fileLine }) => fileLine === at);
  if (!line) throw new Error(`file ${file} has added no line ${at}`);
  return line;
};

describe('import', () => {
  test('L2: fees are posted, payments are not, and both are matched with a reason', async () => {
    await open();
    const outcome = await imported(REPORT_TEXT, REPORT);
    expect(outcome).toMatchObject({
      outcome: 'imported',
      lines: 4,
      newLines: 4,
      matched: 2,
      transfers: 4,
    });
    expect(await balances()).toMatchObject({
      'fees.service': 1185n,
      'psp.clearing': 9240n - 1185n,
    });
    expect(await lineOf(2)).toMatchObject({ targetId: 'pay_1', rule: 'id' });
    expect(await lineOf(3)).toMatchObject({ targetId: 'pay_2', rule: 'order' });
    expect((await lineOf(3)).reason).toContain('the line names its order ord_2');
    expect(await parts()).toEqual({ not_reported: 700n, unknown_lines: -500n, not_arrived: 7855n });
    const items = await readClearingItems(db, {
      parts: ['not_reported', 'unknown_lines'],
      currency: undefined,
      after: undefined,
      limit: 9,
    });
    expect(items.map(({ subject }) => subject)).toEqual([
      'payment:pay_3',
      `line:${(await lineOf(5)).id}`,
    ]);
    expect(await problems()).toEqual([]);
  });

  test('a report that is known is not opened again', async () => {
    await open();
    await imported(REPORT_TEXT, REPORT);
    const path = join(folder, 'removed');
    writeFileSync(path, REPORT_TEXT);
    const examined = await examineFile(path, REPORT);
    rmSync(path);
    const request = { path, source: REPORT, examined };
    expect(await importSettlementAs({ db }, ACTOR, request)).toMatchObject({ outcome: 'known' });
  });

  test('L3: the same, an overlapping and a newly exported file add nothing that is stored', async () => {
    await open();
    await imported(REPORT_TEXT, REPORT);
    const before = await balances();
    expect(await imported(REPORT_TEXT, REPORT)).toMatchObject({ outcome: 'known', file: 1 });
    const otherExport = `${HEADER}${ROWS.fee}${ROWS.one.replace('65.40', '"65.40"')}${ROWS.unknown}${ROWS.byOrder}`;
    expect(await imported(otherExport, REPORT)).toMatchObject({ newLines: 0, transfers: 0 });
    expect(await balances()).toEqual(before);
    // Equal lines of one file are several.
    expect(await imported(`${HEADER}${ROWS.fee}${ROWS.fee}`, REPORT)).toMatchObject({
      newLines: 1,
    });
    expect(await balances()).toMatchObject({ 'fees.service': 1185n + 990n });
  });

  test('L1: an import matches what the ledger did not know before, also that of a known file', async () => {
    await open({ paid: false });
    await imported(REPORT_TEXT, REPORT);
    expect(await parts()).toMatchObject({ unknown_lines: -9040n });
    await applyEach(db, testApplier(db), PAYMENTS);
    expect(await imported(REPORT_TEXT, REPORT)).toMatchObject({ outcome: 'known', matched: 2 });
    expect(await parts()).toEqual({ not_reported: 700n, unknown_lines: -500n, not_arrived: 7855n });
  });

  describe('L3: a file that is read again with a corrected source file', () => {
    const entryOf = (amount: string, payer: string) =>
      `:61:2610061006C${amount}NTRFNONREF//${payer}\n:86:166?20PAYOUT?32${payer} LTD\n`;
    const twoPayers =
      `:20:S\n:25:12030000/202051\n:60F:C261006EUR0,00\n${entryOf('78,55', 'ACME PAYMENTS')}` +
      `${entryOf('6,80', 'BETA PAYMENTS')}:62F:C261006EUR85,35\n-\n`;
    const payers = (...names: readonly string[]) => ({ ...BANK, payers: names }) as Source;
    const withTypes = (from: Source, types: object) =>
      ({ ...from, types: { charge: 'payment', fee: 'fee', ...types } }) as Source;
    const numbered = (from: Source) =>
      ({
        ...from,
        columns: { ...('columns' in from ? from.columns : {}), line: 'Line' },
      }) as Source;
    const corrected = `${REPORT_TEXT}ST-1005,5,fix,,2026-10-05,EUR,-3.00,0.00,-3.00\n`;

    test.each([
      ['a payer was added', payers('ACME PAYMENTS', 'BETA PAYMENTS')],
      ['it names another payer', payers('BETA PAYMENTS')],
    ])('adds and posts the lines that are not stored: %s', async (_how, source) => {
      await open();
      await imported(twoPayers, payers('ACME PAYMENTS'));
      const again = { outcome: 'imported', file: 1, newLines: 1, transfers: 1 };
      expect(await imported(twoPayers, source)).toMatchObject(again);
      expect(await balances()).toMatchObject({ 'bank.account': 8535n });
      expect(await imported(twoPayers, source)).toMatchObject({ outcome: 'known', file: 1 });
      expect(await imported(twoPayers, payers('ACME PAYMENTS'))).toMatchObject({
        outcome: 'known',
      });
      expect(await balances()).toMatchObject({ 'bank.account': 8535n });
      const [file, ...others] = await readFiles(db, { before: undefined, limit: 9 });
      expect([file, others]).toMatchObject([{ lines: 2, newLines: 2, ignored: 0 }, []]);
      expect(await problems()).toEqual([]);
    });

    test('adds the rows of a report that were ignored, and records that', async () => {
      await open();
      await imported(corrected, withTypes(REPORT, { fix: 'ignore' }));
      const source = withTypes(REPORT, { fix: 'adjustment' });
      const again = {
        outcome: 'imported',
        file: 1,
        lines: 5,
        newLines: 1,
        ignored: 0,
        transfers: 1,
      };
      expect(await imported(corrected, source)).toMatchObject(again);
      expect(await imported(corrected, source)).toMatchObject({ outcome: 'known', file: 1 });
      expect(await balances()).toMatchObject({
        'fees.service': 1185n,
        'service.adjustments': 300n,
      });
      expect(await readFiles(db, { before: undefined, limit: 9 })).toMatchObject([
        { id: 1, lines: 5, newLines: 5, ignored: 0 },
      ]);
      const audited = await db.query<object>(
        `select subject_id as file, detail ->> 'new_lines' as "newLines" from audit
          where action = 'settlement.import' order by id`,
      );
      expect(audited).toEqual([
        { file: '1', newLines: '4' },
        { file: '1', newLines: '1' },
      ]);
      expect(await problems()).toEqual([]);
    });

    test('adds no row of a report that is stored with other content', async () => {
      await open();
      await imported(corrected, withTypes(REPORT, { fix: 'ignore' }));
      const before = await balances();
      const otherwise = numbered(withTypes(REPORT, { fix: 'ignore' }));
      expect(await imported(corrected, otherwise)).toMatchObject({ outcome: 'known', file: 1 });
      const more = numbered(withTypes(REPORT, { fix: 'adjustment' }));
      expect(await imported(corrected, more)).toEqual({ outcome: 'changed', file: 1, fileLine: 2 });
      expect(await balances()).toEqual(before);
    });
  });

  test('L3: imports at the same time store each line once', async () => {
    await open();
    const overlapping = `${HEADER}${ROWS.one}${ROWS.fee}`;
    await Promise.all([
      imported(REPORT_TEXT, REPORT),
      imported(overlapping, REPORT),
      imported(REPORT_TEXT, REPORT),
    ]);
    expect(await balances()).toMatchObject({ 'fees.service': 1185n });
    expect(await problems()).toEqual([]);
  });

  test('a file is imported whole or not at all', async () => {
    await open();
    await expect(imported(`${REPORT_TEXT}ST-1005,5,charge`, REPORT)).rejects.toThrow('line 6');
    const path = join(folder, 'changing');
    writeFileSync(path, REPORT_TEXT);
    const examined = await examineFile(path, REPORT);
    writeFileSync(path, `${HEADER}${ROWS.one}`);
    const request = { path, source: REPORT, examined };
    await expect(importSettlementAs({ db }, ACTOR, request)).rejects.toThrow(
      'changed while it was read',
    );
    expect(await readFiles(db, { before: undefined, limit: 9 })).toEqual([]);
    expect((await balances())['fees.service']).toBeUndefined();
  });

  const numbered = {
    ...REPORT,
    columns: { ...('columns' in REPORT ? REPORT.columns : {}), line: 'Line' },
  } as Source;

  test('L3: rows with one number of the service are one line, also within a file', async () => {
    await open();
    const twice = `${HEADER}${ROWS.fee}${ROWS.one}${ROWS.fee}`;
    expect(await imported(twice, numbered)).toMatchObject({ lines: 3, newLines: 2 });
    expect(await balances()).toMatchObject({ 'fees.service': 130n + 990n });
    expect(await imported(twice, numbered)).toMatchObject({ outcome: 'known' });
    expect(await imported(REPORT_TEXT, numbered)).toMatchObject({ newLines: 2 });
    expect(await balances()).toMatchObject({ 'fees.service': 1185n });
    expect(await problems()).toEqual([]);
  });

  test('a number of the service with other content is refused', async () => {
    await open();
    await imported(REPORT_TEXT, numbered);
    const changed = `${HEADER}${ROWS.one.replace('1.30,64.10', '1.40,64.00')}`;
    expect(await imported(changed, numbered)).toMatchObject({
      outcome: 'conflict',
      conflict: { fileLine: 2, lineReference: '1', otherFile: 1, otherLine: 2 },
    });
    expect(await balances()).toMatchObject({ 'fees.service': 1185n });
  });

  test('a number of the service with two contents in one file is refused, and nothing is stored', async () => {
    await open();
    const both = `${HEADER}${ROWS.one}${ROWS.one.replace('1.30,64.10', '1.40,64.00')}`;
    expect(await imported(both, numbered)).toMatchObject({
      outcome: 'conflict',
      conflict: { fileLine: 2, lineReference: '1', otherFile: null, otherLine: 3 },
    });
    expect(await balances()).not.toHaveProperty('fees.service');
  });
});

test('M2: a line takes no payment that a line behind many others names by its id', async () => {
  await open({ paid: false });
  const paid = ['pay_a', 'pay_b'].map((id, minute) =>
    eventBody(
      paymentObject({
        payment_id: id,
        metadata: { order_id: 'ord_x' },
        currency: 'EUR',
        amount: 700,
        amount_received: 700,
        created: `2026-10-04T09:0${minute}:00.000Z`,
        modified_at: '2026-10-04T10:00:00.000Z',
      }),
    ),
  );
  await applyEach(db, testApplier(db), paid);
  const charge = (reference: string) => `ST-1,1,charge,${reference},2026-10-05,EUR,7.00,0,7.00\n`;
  const others = Array.from({ length: 1_000 }, () => charge('pay_none'));
  const content = [HEADER, charge('ord_x'), ...others, charge('pay_a')].join('');
  expect(await imported(content, REPORT)).toMatchObject({ newLines: 1_002, matched: 2 });
  expect(await lineOf(2)).toMatchObject({ targetId: 'pay_b', rule: 'order' });
});

describe('M5: a report line without a reference', () => {
  const captured = (id: string, amount: number, day = '2026-10-04') =>
    eventBody(
      paymentObject({
        payment_id: id,
        currency: 'EUR',
        amount,
        amount_received: amount,
        created: `${day}T09:00:00.000Z`,
        modified_at: `${day}T10:00:00.000Z`,
      }),
    );
  const charge = (id: string, amount: number, day = '2026-10-05') =>
    `ST-1,1,charge,${id},${day},EUR,${amount / 100},0,${amount / 100}\n`;
  const matchedByAmount = async () =>
    await db.query<{ minor: number; id: string }>(
      `select l.gross_minor as minor, m.target_id as id
         from settlement_matches m join settlement_lines l on l.id = m.line_id
        where m.rule = 'amount_and_date' order by 1`,
    );
  const amounts = [100, 200, 300, 400, 500];
  const places = [0, 1, 2, 3, 4];
  /** Five payments of each of five amounts. */
  const payments = amounts.flatMap((amount) =>
    places.map((place) => captured(`pay_${amount}_${place}`, amount)),
  );

  test('is about none while several payments of its amount are free', async () => {
    await open({ paid: false });
    await applyEach(db, testApplier(db), payments);
    const lines = amounts.flatMap((amount, n) => [
      charge(`pay_${amount}_${n}`, amount),
      charge(`pay_${amount}_${(n + 2) % 5}`, amount),
      charge('', amount),
    ]);
    expect(await imported(HEADER + lines.join(''), REPORT)).toMatchObject({ matched: 10 });
    expect(await matchedByAmount()).toEqual([]);
  });

  test('is about the only free one of many', async () => {
    await open({ paid: false });
    await applyEach(db, testApplier(db), payments);
    const lines = amounts.flatMap((amount, n) => [
      ...places
        .filter((place) => place !== n)
        .map((place) => charge(`pay_${amount}_${place}`, amount)),
      charge('', amount),
    ]);
    expect(await imported(HEADER + lines.join(''), REPORT)).toMatchObject({ matched: 25 });
    expect(await matchedByAmount()).toEqual(
      amounts.map((minor, n) => ({ minor, id: `pay_${minor}_${n}` })),
    );
  });

  test('is about no payment or refund if it moves money in the other direction', async () => {
    await open({ paid: false });
    const refunded = {
      refund_id: 'ref_1',
      payment_id: 'pay_1',
      status: 'succeeded',
      amount: 700,
      currency: 'EUR',
      reason: '',
      error_code: null,
      ...OCTOBER,
    };
    const refund = eventBody(refunded, {
      eventType: 'refund_succeeded',
      contentType: 'refund_details',
    });
    await applyEach(db, testApplier(db), [captured('pay_1', 700), refund]);
    const others = [charge('', -700), charge('', 700).replace('charge', 'refund')];
    expect(await imported(HEADER + others.join(''), REPORT)).toMatchObject({ matched: 0 });
    const own = [charge('', 700), charge('', -700).replace('charge', 'refund')];
    expect(await imported(HEADER + own.join(''), REPORT)).toMatchObject({ matched: 2 });
    expect(await matchedByAmount()).toEqual([
      { minor: -700, id: 'ref_1' },
      { minor: 700, id: 'pay_1' },
    ]);
  });

  test('is about a refund by when it settled, and not by when it was returned', async () => {
    await open({ paid: false });
    const refund = (status: string, day: string) =>
      eventBody(
        {
          refund_id: 'ref_1',
          payment_id: 'pay_1',
          status,
          amount: 700,
          currency: 'EUR',
          reason: '',
          error_code: null,
          created: OCTOBER.created,
          modified_at: `${day}T10:00:00.000Z`,
        },
        { eventType: `refund_${status}`, contentType: 'refund_details' },
      );
    const refunded = [refund('succeeded', '2026-10-04'), refund('failed', '2026-10-20')];
    await applyEach(db, testApplier(db), [captured('pay_1', 700), ...refunded]);
    const line = (day: string) => charge('', -700, day).replace('charge', 'refund');
    expect(await imported(HEADER + line('2026-10-21'), REPORT)).toMatchObject({ matched: 0 });
    expect(await imported(HEADER + line('2026-10-05'), REPORT)).toMatchObject({ matched: 1 });
    expect(await lineOf(2, 2)).toMatchObject({ targetId: 'ref_1', rule: 'amount_and_date' });
    expect(await problems()).toEqual([]);
  });

  test('is not about a payment that a line with many others could be about', async () => {
    await open({ paid: false });
    const earlier = Array.from({ length: 9 }, (_, n) => captured(`pay_${n}`, 700, '2026-10-03'));
    const later = captured('pay_later', 700, '2026-10-08');
    await applyEach(db, testApplier(db), [...earlier, later]);
    const lines = [charge('', 700, '2026-10-09'), charge('', 700, '2026-10-14')];
    expect(await imported(HEADER + lines.join(''), REPORT)).toMatchObject({ matched: 0 });
    expect(await matchedByAmount()).toEqual([]);
  });
});

test('C1: a currency without transfers in clearing has its parts, which add up to zero', async () => {
  await open({ paid: false });
  const unknown = (amount: string) =>
    `ST-1,1,charge,pay_x,2026-10-05,USD,${amount},0.00,${amount}\n`;
  await imported(`${HEADER}${unknown('5.00')}`, REPORT);
  const inDollars = {
    currency: 'USD',
    balanceMinor: 0n,
    parts: [
      { part: 'unknown_lines', amountMinor: -500n },
      { part: 'not_arrived', amountMinor: 500n },
    ],
  };
  expect(await readClearing(db)).toMatchObject([inDollars]);
  expect(await readUnmatched(db, { limit: 9 })).toMatchObject({
    clearing: [inDollars],
    items: [{ part: 'unknown_lines' }, { part: 'not_arrived' }],
  });
  await applyEach(db, testApplier(db), PAYMENTS);
  const currencies = (await readClearing(db)).map(({ currency }) => currency);
  expect(currencies).toEqual(['EUR', 'USD']);
});

describe('bank statements', () => {
  const arrived = statementOf('78,55', 'SETTLEMENT ST-1005');

  test('L1: the ledger is the same after any order of files and payments', async () => {
    const steps: Readonly<Record<string, () => Promise<unknown>>> = {
      p: () => applyEach(db, testApplier(db), PAYMENTS),
      r: () => imported(REPORT_TEXT, REPORT),
      b: () => imported(arrived, BANK),
    };
    const results = [];
    for (const order of ['prb', 'brp', 'rbp', 'bpr']) {
      await open({ paid: false });
      for (const step of order) await steps[step]?.();
      results.push(await balances());
      expect(await problems(), order).toEqual([]);
    }
    for (const result of results) expect(result).toEqual(results[0]);
    expect(results[0]).toMatchObject({
      'bank.account': 7855n,
      'psp.clearing': 9240n - 1185n - 7855n,
    });
  });

  describe('L3: a file with several statements', () => {
    /** Two credits of 100.00 that look alike, on one day. */
    const morning = statementOf('100,00', 'ST-1');
    const noon = morning
      .replace('EUR0,00', 'EUR100,00')
      .replace('62F:C261006EUR100', '62F:C261006EUR200');
    const nextDay = noon
      .replace('60F:C261006EUR100', '60F:C261006EUR200')
      .replace('62F:C261006EUR200', '62F:C261007EUR300')
      .replace('2610061006', '2610071007');
    const sweep =
      ':20:S\n:25:12030000/202051\n:60F:C261006EUR100,00\n:61:2610061006D100,00NTRFNONREF//X\n' +
      ':86:166?20SWEEP?32OUR OTHER ACCOUNT\n:62F:C261006EUR0,00\n-\n';

    test.each([
      ['one after the other posts both', [morning, noon], 20_000n],
      ['the same one twice posts it once', [morning, morning], 10_000n],
      [
        'overlapping downloads, put together, post what they have together',
        [morning, noon, noon, nextDay],
        30_000n,
      ],
      [
        'the same days twice, which end as they began, posts them once',
        [morning, sweep, morning, sweep],
        10_000n,
      ],
    ])('%s', async (_name, statements, expected) => {
      await open({ paid: false });
      await imported(statements.join(''), BANK);
      expect(await balances()).toMatchObject({ 'bank.account': expected });
      for (const statement of new Set(statements)) {
        expect(await imported(`${statement}\n`, BANK)).toMatchObject({ newLines: 0 });
      }
      expect(await problems()).toEqual([]);
    });
  });

  test('M6, M7: a bank line is about the settlement that it names, or the only one of its amount', async () => {
    await open();
    await imported(REPORT_TEXT, REPORT);
    expect(await imported(arrived, BANK)).toMatchObject({ matched: 1 });
    expect(await lineOf(4, 2)).toMatchObject({ targetKind: 'settlement', rule: 'reference' });
    expect(await parts()).toEqual({ not_reported: 700n, unknown_lines: -500n });
    await imported(`${HEADER}ST-2000,1,charge,pay_3,2026-10-06,EUR,7.00,0.20,6.80\n`, REPORT);
    await imported(statementOf('6,80', 'NO WORD OF IT'), BANK);
    expect(await lineOf(4, 4)).toMatchObject({ rule: 'amount_and_date' });
    expect(await parts()).toEqual({ unknown_lines: -500n });
  });

  test('M7: a settlement is free again for another line once a person has undone its match', async () => {
    await open();
    await imported(`${HEADER}ST-2000,1,charge,pay_3,2026-10-06,EUR,7.00,0.20,6.80\n`, REPORT);
    expect(await imported(statementOf('6,80', 'A GIFT'), BANK)).toMatchObject({ matched: 1 });
    const { id } = await lineOf(4, 2);
    await unmatchLineAs({ db }, ACTOR, { lineId: id, reason: 'a gift of the same amount' });
    expect(await imported(statementOf('6,80', 'NO WORD OF IT'), BANK)).toMatchObject({
      newLines: 1,
      matched: 1,
    });
    expect(await lineOf(4, 3)).toMatchObject({
      targetKind: 'settlement',
      rule: 'amount_and_date',
    });
    expect(await problems()).toEqual([]);
  });

  /** A settlement of 6.80, and a bank statement with many lines between its first and its last. */
  async function importAround(lines: readonly (readonly [amount: string, purpose: string])[]) {
    await open();
    await imported(`${HEADER}ST-2000,1,charge,pay_3,2026-10-06,EUR,7.00,0.20,6.80\n`, REPORT);
    const entries = lines.map(
      ([amount, purpose], n) =>
        `:61:2610061006C${amount}NTRFNONREF//${n}\n:86:166?20${purpose}?32ACME PAYMENTS LTD\n`,
    );
    const cents = lines.reduce((sum, [amount]) => sum + Number(amount.replace(',', '')), 0);
    const closing = `:62F:C261006EUR${String(cents / 100).replace('.', ',')}`;
    const content = `:20:S\n:25:12030000/202051\n:60F:C261006EUR0,00\n${entries.join('')}${closing}\n-\n`;
    return await imported(content, BANK);
  }
  const others = Array.from({ length: 1_000 }, () => ['0,01', 'NO WORD OF IT'] as const);

  test('M7: two lines of one amount are about no settlement, however many lines are between them', async () => {
    const outcome = await importAround([['6,80', 'A'], ...others, ['6,80', 'B']]);
    expect(outcome).toMatchObject({ newLines: 1_002, matched: 0 });
  });

  test('M7: a line takes no settlement that a line behind many others names', async () => {
    const outcome = await importAround([['6,80', 'A'], ...others, ['5,00', 'ST-2000']]);
    expect(outcome).toMatchObject({ newLines: 1_002, matched: 1 });
    expect(await lineOf(4, 2)).toMatchObject({ targetKind: null });
  });

  test.each(['Pacific/Auckland', 'Pacific/Chatham', 'Asia/Kolkata', 'UTC', 'Pacific/Honolulu'])(
    'L4: a line of the last day of a month is of that month in %s',
    async (timeZone) => {
      await open({ paid: false });
      const lastDay = arrived.replaceAll('261006', '261031').replace('2610311006', '2610311031');
      await imported(lastDay, BANK);
      const months = await Promise.all(
        ['2026-10', '2026-11'].map((month) =>
          readStatement(db, { month, timeZone, currency: undefined }),
        ),
      );
      expect(
        months.map(({ currencies: [euro] }) => [
          euro?.clearing.closingMinor,
          euro?.days.map(({ day }) => day),
        ]),
      ).toEqual([
        [-7855n, ['2026-10-31']],
        [-7855n, []],
      ]);
      expect(months[0]?.unmatched).toMatchObject({ clearing: [{ balanceMinor: -7855n }] });
    },
  );

  test('L4: a line that an earlier version posted at noon is taken back at noon', async () => {
    await open({ paid: false });
    await imported(
      arrived.replaceAll('261006', '261031').replace('2610311006', '2610311031'),
      BANK,
    );
    await db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(`update transfers set effective_at = effective_at + interval '2 hours'`);
    });
    const october = async () => {
      const period = { month: '2026-10', timeZone: 'Pacific/Auckland', currency: undefined };
      const { currencies, unmatched } = await readStatement(db, period);
      return { closing: currencies[0]?.clearing.closingMinor ?? 0n, unmatched };
    };
    const nothing = { closing: 0n, unmatched: { clearing: [] } };
    expect(await october()).toMatchObject(nothing);
    const { id } = await lineOf(4);
    const target = { kind: 'excluded', id: undefined } as const;
    const input = { lineId: id, target, writeOff: false, reason: 'a gift' };
    expect(await matchLineAs({ db }, ACTOR, input)).toMatchObject({ transfers: 1 });
    expect(await october()).toMatchObject(nothing);
    expect(await db.query('select distinct effective_at from transfers')).toHaveLength(1);
  });

  test('what arrives without a settlement is listed, and can be excluded', async () => {
    await open();
    await imported(statementOf('12,00', 'GIFT'), BANK);
    expect(await parts()).toEqual({ not_reported: 9240n, unknown_arrivals: -1200n });
    const { id } = await lineOf(4);
    const input = {
      lineId: id,
      target: { kind: 'excluded', id: undefined },
      writeOff: false,
      reason: 'a gift',
    } as const;
    expect(await matchLineAs({ db }, ACTOR, input)).toMatchObject({
      outcome: 'matched',
      transfers: 1,
    });
    expect(await balances()).toMatchObject({ 'bank.account': 0n, 'psp.clearing': 9240n });
    expect(await problems()).toEqual([]);
  });
});

describe('by hand', () => {
  test('L5, M8: an adjustment is posted, undone by a counter-posting, and left alone by rules', async () => {
    await open();
    await imported(REPORT_TEXT, REPORT);
    const { id } = await lineOf(5);
    const before = await balances();
    const match = {
      lineId: id,
      target: { kind: 'adjustment', id: undefined },
      writeOff: false,
      reason: 'till sale',
    } as const;
    expect(await matchLineAs({ db }, ACTOR, match)).toMatchObject({ outcome: 'matched' });
    expect(await balances()).toMatchObject({ 'service.adjustments': -500n });
    expect(await parts()).toEqual({ not_reported: 700n, not_arrived: 7855n });
    expect(await matchLineAs({ db }, ACTOR, match)).toMatchObject({ outcome: 'already' });
    await unmatchLineAs({ db }, ACTOR, { lineId: id, reason: 'wrong' });
    expect(await balances()).toEqual({ ...before, 'service.adjustments': 0n });
    // The payment that it names is received later: a person has decided about the line.
    await applyEach(db, testApplier(db), [
      eventBody(
        paymentObject({
          payment_id: 'pay_x',
          ...OCTOBER,
          currency: 'EUR',
          amount: 500,
          amount_received: 500,
        }),
      ),
    ]);
    await imported(`${HEADER}${ROWS.fee}${ROWS.fee}`, REPORT);
    expect(await lineOf(5)).toMatchObject({ targetKind: null });
    expect(await problems()).toEqual([]);
    const audit = await db.query<{ action: string; reason: string }>(
      `select action, reason from audit where action like 'settlement.%match' order by id`,
    );
    expect(audit).toEqual([
      { action: 'settlement.match', reason: 'till sale' },
      { action: 'settlement.unmatch', reason: 'wrong' },
    ]);
  });

  test('a difference is written off with the match', async () => {
    await open();
    const short = `${HEADER}${ROWS.one.replace('65.40,1.30,64.10', '65.00,1.30,63.70')}`;
    await imported(short, REPORT);
    expect(await parts()).toMatchObject({ reported_differently: 40n });
    const { id } = await lineOf(2);
    await unmatchLineAs({ db }, ACTOR, { lineId: id, reason: 'to write off' });
    const target = { kind: 'payment', id: 'pay_1' } as const;
    const matched = await matchLineAs({ db }, ACTOR, {
      lineId: id,
      target,
      writeOff: true,
      reason: 'rounding',
    });
    expect(matched).toMatchObject({ outcome: 'matched', writtenOffMinor: -40 });
    expect(await parts()).toEqual({ not_reported: 2700n, not_arrived: 6370n });
    expect(await balances()).toMatchObject({ 'service.adjustments': 40n });
    expect(await problems()).toEqual([]);
  });

  test('what a line has written off counts once: a later line writes off only what it adds', async () => {
    await open();
    const writeOff = async (amounts: string) => {
      await imported(`${HEADER}${ROWS.one.replace('65.40,1.30,64.10', amounts)}`, REPORT);
      const { id } = await lineOf(2, files - before);
      await unmatchLineAs({ db }, ACTOR, { lineId: id, reason: 'to write off' });
      const target = { kind: 'payment', id: 'pay_1' } as const;
      const input = { lineId: id, target, writeOff: true, reason: 'a part of the payment' };
      return await matchLineAs({ db }, ACTOR, input);
    };
    const before = files;
    expect(await writeOff('60.00,1.30,58.70')).toMatchObject({ writtenOffMinor: -540 });
    expect(await balances()).toMatchObject({ 'service.adjustments': 540n });
    expect(await writeOff('5.40,0.00,5.40')).toMatchObject({ writtenOffMinor: 540 });
    expect(await balances()).toMatchObject({ 'service.adjustments': 0n });
    expect(await parts()).toEqual({ not_reported: 2700n, not_arrived: 6410n });
    expect(await problems()).toEqual([]);
  });

  test('a line is only about what it can be about', async () => {
    await open();
    const dollars = { payment_id: 'pay_usd', currency: 'USD', amount: 500, amount_received: 500 };
    await applyEach(db, testApplier(db), [eventBody(paymentObject({ ...dollars, ...OCTOBER }))]);
    await imported(REPORT_TEXT, REPORT);
    const unknown = await lineOf(5);
    const about = (kind: 'refund' | 'payment' | 'excluded', id?: string) =>
      matchLineAs({ db }, ACTOR, {
        lineId: unknown.id,
        target: { kind, id },
        writeOff: false,
        reason: 'x',
      });
    expect(await about('refund', 'pay_1')).toMatchObject({ outcome: 'not_possible' });
    expect(await about('excluded')).toMatchObject({ outcome: 'not_possible' });
    expect(await about('payment', 'pay_none')).toMatchObject({ outcome: 'no_target' });
    expect(await about('payment', 'pay_usd')).toMatchObject({ outcome: 'no_target' });
    expect(await about('payment', 'pay_3')).toMatchObject({ outcome: 'matched' });
  });
});

test('verify finds a changed line, a changed match and a missing transfer', async () => {
  await open();
  await imported(REPORT_TEXT, REPORT);
  await db.query(`alter table settlement_lines disable trigger all`);
  await db.query(`alter table transfers disable trigger all`);
  await db.query(`update settlement_lines set fee_minor = 131 where file_line = 2`);
  await db.query(`update settlement_matches set written_off_minor = 5 where target_id = 'pay_2'`);
  await db.query(`delete from transfers where leg = 'fee_charged' and amount_minor = 990`);
  await db.query(
    `update transfers set resource_id = '99' where leg = 'fee_charged' and amount_minor = 10`,
  );
  const found = (await problems()).join('\n');
  expect(found).toContain('lines settlement_line:1: its content does not match its digest');
  expect(found).toContain(
    'booked settlement_line:1: fee_charged: 1.30 EUR is posted, but the line requires 1.31 EUR',
  );
  expect(found).toContain(
    'booked settlement_line:2: adjusted_up: 0.00 EUR is posted, but the line requires 0.05 EUR',
  );
  expect(found).toContain('booked settlement_line:3: fee_charged: 0.00 EUR is posted');
  expect(found).toContain('booked settlement_line:99: transfers of it exist, but no line');
});

test('the run of every night proves the lines since the last one', async () => {
  await open();
  await imported(REPORT_TEXT, REPORT);
  expect(await problemsOfTheNight()).toEqual([]);
  await imported(`${HEADER}${ROWS.fee}${ROWS.fee}`, REPORT);
  await db.query(`alter table settlement_lines disable trigger all`);
  await db.query(`update settlement_lines set fee_minor = 131 where file_id = 2`);
  const { id } = await lineOf(3, 2);
  const found = [`lines settlement_line:${id}`, `booked settlement_line:${id}`];
  expect(await problemsOfTheNight()).toEqual(found);
  // Until it is as it was.
  expect(await problemsOfTheNight()).toEqual(found);
});

test('transfers of lines are chained like all others', async () => {
  await open();
  await imported(REPORT_TEXT, REPORT);
  await imported(statementOf('78,55', 'SETTLEMENT ST-1005'), BANK);
  await appendNext(db, { throughId: await fenceJournal(db), key: undefined });
  const [counts] = await db.query(
    `select (select total_transfers from chain_blocks) as chained, count(*) as posted,
            count(*) filter (where kind in ('settlement_line', 'bank_line')) as "ofLines" from transfers`,
  );
  expect(counts).toEqual({ chained: 8, posted: 8, ofLines: 5 });
  expect(await problems()).toEqual([]);
  await db.query(`alter table transfers disable trigger all`);
  await db.query(
    `update transfers set recorded_at = recorded_at - interval '1 second' where leg = 'bank_received'`,
  );
  expect((await problems()).join('\n')).toContain('chained');
});

test('stored lines and matches cannot be changed or deleted', async () => {
  await open();
  await imported(REPORT_TEXT, REPORT);
  for (const statement of [
    'update settlement_lines set gross_minor = 1',
    'delete from settlement_lines',
    'delete from settlement_matches',
  ]) {
    await expect(db.query(statement)).rejects.toThrow('append-only');
  }
  await db.query(`update settlement_lines set text = 'erased'`);
});

test('an import of a page states that another one follows, and the last page adds the rest', async () => {
  await open();
  writeFileSync(join(folder, 'bank.json'), JSON.stringify(BANK));
  const pages = [
    statementOf('78,55', 'ST-1').replace(':62F:', ':62M:'),
    statementOf('1,00', 'ST-2').replace(':60F:C261006EUR0,00', ':60M:C261006EUR78,55'),
  ].map((page) => page.replace(':62F:C261006EUR1,00', ':62F:C261006EUR79,55'));
  const runs = [];
  for (const [at, page] of pages.entries()) {
    const path = join(folder, `page-${at}`);
    writeFileSync(path, page);
    const args = ['settle', 'import', path, '--source', join(folder, 'bank.json')];
    runs.push(await tallyhook(db.url, ...args, '--dry-run'), await tallyhook(db.url, ...args));
  }
  const states = 'the statement has another page. Import that file, too.';
  expect(runs.map(({ code, stderr }) => [code, stderr.includes(states)])).toEqual([
    ...[0, 0].map((code) => [code, true]),
    ...[0, 0].map((code) => [code, false]),
  ]);
  expect(await balances()).toMatchObject({ 'bank.account': 7955n });
});

test('the commands print what is in clearing, and the exports check themselves', async () => {
  await open();
  const run = (...args: readonly string[]) => tallyhook(db.url, ...args);
  writeFileSync(join(folder, 'report.csv'), REPORT_TEXT);
  writeFileSync(join(folder, 'source.json'), JSON.stringify(REPORT));
  const file = join(folder, 'report.csv');
  const from = ['--source', join(folder, 'source.json')];
  expect((await run('settle', 'import', file, ...from, '--dry-run')).stdout).toContain('90.40 EUR');
  expect((await run('settle', 'import', file, ...from)).stdout).toContain('4 new lines of 4');
  expect((await run('settle', 'import', file, ...from)).stdout).toContain(
    'imported before, as file 1',
  );
  const fewer = JSON.stringify({ ...REPORT, types: { charge: 'payment', fee: 'ignore' } });
  writeFileSync(
    join(folder, 'fewer.json'),
    fewer.replace('"fee":"Fee"', '"fee":"Fee","line":"Line"'),
  );
  const refused = await run('settle', 'import', file, '--source', join(folder, 'fewer.json'));
  expect([refused.code, refused.stderr]).toEqual([
    4,
    expect.stringContaining('reads line 2 in another way than it did then. Nothing was imported'),
  ]);
  expect((await run('settle', 'list')).stdout).toContain('report.csv');
  expect((await run('settle', 'show', '1')).stdout).toContain('the line names pay_1');
  const { stdout } = await run('settle', 'unmatched', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    clearing: [
      { currency: 'EUR', balance: 8055, parts: [{ part: 'not_reported', amount: 700 }, {}, {}] },
    ],
    unmatched: [
      { subject: 'payment:pay_3' },
      { subject: 'line:4' },
      { subject: 'settlement:1', amount: 7855 },
    ],
  });
  const asOf = await run('settle', 'unmatched', '--as-of', '2026-10-05', '--json');
  expect(JSON.parse(asOf.stdout)).toMatchObject({ clearing: [{ balance: 9240 }] });
  const matched = await run(
    'settle',
    'match',
    '4',
    'adjustment',
    '--reason',
    'till sale',
    '--json',
  );
  expect(JSON.parse(matched.stdout)).toMatchObject({ outcome: 'matched', transfers: 1 });
  expect((await run('settle', 'match', '99', 'adjustment', '--reason', 'x')).code).toBe(3);
  expect(await problems()).toEqual([]);
  for (const format of ['hledger', 'beancount'] as const) {
    if (!(format === 'hledger' ? isHledgerInstalled : isBeancountInstalled)) continue;
    const path = join(folder, `october.${format}`);
    await run('export', 'entries', '--format', format, '--month', '2026-10', '--output', path);
    const read = format === 'hledger' ? hledger(path, 'check', '--strict') : beanCheck(path);
    expect(read.output, format).toBe('');
  }
});
