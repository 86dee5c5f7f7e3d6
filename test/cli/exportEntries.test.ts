/**
 * `export entries`: hledger and beancount accept what is exported, and their balances are those of
 * `tallyhook balances`, for any ledger.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatAmount } from '../../src/contract/money.ts';
import { DEFAULT_CHART } from '../../src/ledger/domain/chart.ts';
import { ENTRY_FORMATS } from '../../src/ledger/domain/entryFormats.ts';
import { ACCOUNT_NAMES, type Account } from '../../src/ledger/domain/legs.ts';
import { exportEntries } from '../../src/ledger/read/exportEntries.ts';
import { readConsistently } from '../../src/ledger/store/readConsistently.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import {
  beanCheck,
  beancountBalances,
  beanQuery,
  hledger,
  hledgerBalances,
  isBeancountInstalled,
  isHledgerInstalled,
  type ProgramBalances,
} from '../support/accounting.ts';
import { tallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import type { Exit } from '../support/program.ts';
import { testSeed } from '../support/random.ts';
import { insertRandom, type RandomTransfer } from '../support/randomJournal.ts';
import { shopEvents } from '../support/shop.ts';

const seed = testSeed();
const SEEDS = [seed, seed + 1];

/** Ids that a program would misread if they were not encoded. */
const ODD_IDS = [
  'with  two spaces',
  'a;comment',
  'tag:value, other:x',
  '[2020-01-01]',
  '=1+1',
  'date:2020-01-01',
  '* "quoted" \\" 2020-01-01 open Assets:X',
  'über|größe \\ 100%',
];

let folder: string;
const ledgers = new Map<number, TestDatabase>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tallyhook-entries-'));
  for (const one of SEEDS) ledgers.set(one, await createLedger(one));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await Promise.all([...ledgers.values()].map((db) => db.drop()));
});

function ledger(of = seed): TestDatabase {
  const db = ledgers.get(of);
  if (!db) throw new Error(`no ledger of the seed ${of}`);
  return db;
}

/** A shop of eleven days in four currencies, odd ids, and a leg that moves back and forth, most often on one day. */
async function createLedger(of: number, moves = 81): Promise<TestDatabase> {
  const db = await createTestDatabase();
  const applier = testApplier(db, MERCHANT_ID);
  const bodies = shopEvents({ seed: of, orders: 25 });
  for (let start = 0; start < bodies.length; start += 20) {
    await applier.applyBatch(await receive(db, bodies.slice(start, start + 20)));
  }
  const odd = ODD_IDS.map((id) =>
    eventBody(paymentObject({ payment_id: `pay ${id}`, metadata: { order_id: id } }), {
      eventId: `evt ${id}`,
    }),
  );
  await applyEach(db, applier, [...odd, eventBody(paymentObject({ payment_id: 'pay_back' }))]);
  await db.query(
    `insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor,
                            previous_minor, cumulative_minor, head_hash, recorded_at,
                            effective_at, effective_source)
     select 'payment', 'pay_back', 'captured', 'JPY', n,
            case when n % 2 = 1 then 'psp.clearing' else 'order.due' end,
            case when n % 2 = 1 then 'order.due' else 'psp.clearing' end,
            7, case when n % 2 = 1 then 0 else 7 end, case when n % 2 = 1 then 7 else 0 end,
            sha256('x'), timestamptz '2026-11-01 23:30:00Z' + (n % 20 / 19 + n % 40 / 39) * interval '1 day',
            timestamptz '2026-11-02 23:30:00Z' + (n % 20 / 19 + n % 40 / 39) * interval '1 day', 'v'
       from generate_series(1, $1::int) as n`,
    [moves],
  );
  return db;
}

const run = (of: number, ...args: readonly string[]): Promise<Exit> =>
  tallyhook(ledger(of).url, 'export', 'entries', ...args);

/** Our balances as a program of accounting shows them. */
async function ownBalances(of: number, times: readonly string[]): Promise<ProgramBalances> {
  const { stdout } = await tallyhook(ledger(of).url, 'balances', '--json', ...times);
  const { accounts } = JSON.parse(stdout) as {
    readonly accounts: readonly {
      readonly account: Account;
      readonly currency: string;
      readonly balance: number;
    }[];
  };
  return Object.fromEntries(
    accounts
      .filter(({ balance }) => balance !== 0)
      .map(({ account, currency, balance }): [string, string] => [
        `${DEFAULT_CHART[account]?.name} ${currency}`,
        formatAmount(balance, currency),
      ])
      .toSorted(),
  );
}

/** Ranges, and the times at which `tallyhook balances` has what is there at their end. */
const RANGES: readonly [name: string, range: readonly string[], times: readonly string[]][] = [
  ['everything', [], []],
  ['a month', ['--month', '2026-11'], ['--as-of', '2026-12-01']],
  [
    'days of a time zone',
    ['--from', '2026-11-04', '--to', '2026-11-07', '--time-zone', 'Europe/Berlin'],
    ['--as-of', '2026-11-07T00:00:00+01:00'],
  ],
  ['the days before', ['--to', '2026-11-04'], ['--as-of', '2026-11-04']],
  ['a day without transfers', ['--from', '2030-01-01', '--to', '2030-01-02'], []],
  ['what was recorded', ['--recorded'], []],
  [
    'what was recorded on a day',
    ['--recorded', '--from', '2026-11-02', '--to', '2026-11-03'],
    ['--known-at', '2026-11-03'],
  ],
];

/** Balances of a file that the program accepts. Each throws what the program finds wrong. */
const PROGRAMS = [
  {
    format: 'hledger',
    isInstalled: isHledgerInstalled,
    balances: (file: string) => {
      const { errors } = hledger(file, 'check', '--strict', 'ordereddates');
      if (errors !== '') throw new Error(errors);
      return hledgerBalances(file);
    },
  },
  {
    format: 'beancount',
    isInstalled: isBeancountInstalled,
    balances: (file: string) => {
      const { errors } = beanCheck(file);
      if (errors !== '') throw new Error(errors);
      return beancountBalances(file);
    },
  },
];

for (const { format, isInstalled, balances } of PROGRAMS) {
  describe.skipIf(!isInstalled)(`${format} (skipped where it is not installed)`, () => {
    const write = async (of: number, args: readonly string[]): Promise<string> => {
      const file = join(folder, `${of} ${args.join(' ').replaceAll('/', '-')}.${format}`);
      const { code, stderr } = await run(of, '--format', format, ...args, '--output', file);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringMatching(/^\d+ transfers written to /),
      });
      return file;
    };

    test.each(
      SEEDS.flatMap((of) =>
        (of === seed ? RANGES : RANGES.slice(0, 1)).flatMap(([name, range, times]) =>
          [[], ['--daily']].map((detail) => ({ of, name, args: [...range, ...detail], times })),
        ),
      ),
    )('accepts $name with $args, and has the balances of Tallyhook, TEST_SEED=$of', async (one) => {
      const file = await write(one.of, one.args);
      const own = await ownBalances(one.of, one.times);
      expect(Object.keys(own)).not.toEqual([]);
      expect(balances(file)).toEqual(own);
    });

    test(`detects that an entry is missing, TEST_SEED=${seed}`, async () => {
      const file = await write(seed, ['--currency', 'USD']);
      const entries = readFileSync(file, 'utf8').split('\n\n');
      writeFileSync(file, entries.toSpliced(entries.length - 2, 1).join('\n\n'));
      expect(() => balances(file)).toThrow(/balance/i);
    });
  });
}

describe.skipIf(!isHledgerInstalled || !isBeancountInstalled)('ids from outside', () => {
  const decoded = (output: string) => new Set(output.trim().split(/\r?\n/).map(decodeURIComponent));

  test('are read by hledger as they were meant', async () => {
    const file = join(folder, 'ids.journal');
    await run(seed, '--format', 'hledger', '--output', file);
    const orders = decoded(hledger(file, 'tags', '--values', 'order').output);
    const events = decoded(hledger(file, 'tags', '--values', 'event').output);
    const texts = decoded(hledger(file, 'descriptions').output);
    for (const id of ODD_IDS) {
      expect(orders).toContain(id);
      expect(events).toContain(`evt ${id}`);
      expect(texts).toContain(`payment pay ${id} captured 1`);
    }
  });

  test('are read by beancount as they were meant', async () => {
    const file = join(folder, 'ids.beancount');
    await run(seed, '--format', 'beancount', '--output', file);
    const read = (column: string) => {
      const { output } = beanQuery(file, `select distinct ${column}`);
      return decoded(output.replaceAll(/ *$/gm, ''));
    };
    const [orders, events] = [read("entry_meta('order')"), read("entry_meta('event')")];
    const texts = read('narration');
    for (const id of ODD_IDS) {
      expect(orders).toContain(id);
      expect(events).toContain(`evt ${id}`);
      expect(texts).toContain(`payment pay ${id} captured 1`);
    }
  });
});

test.skipIf(!isHledgerInstalled || !isBeancountInstalled)(
  'an id with line breaks begins neither a posting nor a directive',
  () => {
    const odd = 'x\n2026-01-01 open Assets:Injected\n    Assets:Injected  1 USD\r\n\n"\\';
    const account = { code: '1', name: 'Assets:Own' };
    const postings = [5n, -5n].map((amountMinor) => ({ account, currency: 'USD', amountMinor }));
    const ids = { orderId: odd, eventId: odd };
    const entry = { id: odd, day: '2026-11-01', words: [odd, odd], ...ids, postings };
    const declared = [{ ...account, type: undefined, currencies: ['USD'] }] as const;
    for (const [name, check] of [
      ['hledger', (file: string) => hledger(file, 'check', '--strict')],
      ['beancount', beanCheck],
    ] as const) {
      const { begin, declare, entry: write } = ENTRY_FORMATS[name];
      const file = join(folder, `injected.${name}`);
      writeFileSync(file, begin('Injected') + declare(declared) + write(entry));
      expect(check(file)).toEqual({ output: expect.any(String), errors: '' });
      expect(readFileSync(file, 'utf8')).not.toContain('Assets:Injected');
    }
  },
);

/** Fields of CSV that have no line breaks. */
function fieldsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'),
  );
}

function rowsOf(csv: string): readonly Readonly<Record<string, string>>[] {
  const [heading = '', ...lines] = csv.trim().split('\n');
  const names = fieldsOf(heading);
  return lines.map((line) =>
    Object.fromEntries(fieldsOf(line).map((field, place) => [names[place] ?? '', field])),
  );
}

describe('CSV', () => {
  test.each(SEEDS.flatMap((of) => [[], ['--daily']].map((args) => ({ of, args }))))(
    'with $args adds up to the balances of Tallyhook, TEST_SEED=$of',
    async ({ of, args }) => {
      const { stdout } = await run(of, '--format', 'csv', ...args);
      const sums = new Map<string, bigint>();
      const entries = new Map<string, bigint>();
      const minor = (text: string | undefined) => BigInt((text || '0').replace('.', ''));
      for (const row of rowsOf(stdout)) {
        const amount = minor(row.debit) - minor(row.credit);
        const key = `${row.account_name} ${row.currency}`;
        sums.set(key, (sums.get(key) ?? 0n) + amount);
        entries.set(row.entry ?? '', (entries.get(row.entry ?? '') ?? 0n) + amount);
        expect((row.debit === '') !== (row.credit === '')).toBe(true);
      }
      expect([...new Set(entries.values())], 'each entry adds up to zero').toEqual([0n]);
      const shown = [...sums]
        .filter(([, sum]) => sum !== 0n)
        .map(([key, sum]): [string, string] => [key, formatAmount(sum, key.slice(-3))])
        .toSorted();
      expect(Object.fromEntries(shown)).toEqual(await ownBalances(of, []));
      if (args.length === 0) {
        const transfers = await ledger(of).query<{ id: number }>(
          'select id from transfers limit 1000000',
        );
        expect([...entries.keys()].toSorted()).toEqual(
          transfers.map(({ id }) => String(id)).toSorted(),
        );
      }
    },
  );

  test('has the entries alone, in the order of their days', async () => {
    const { stdout } = await run(seed, '--format', 'csv', '--from', '2026-11-04');
    expect(stdout).not.toContain('opening');
    const days = rowsOf(stdout).map(({ date = '' }) => date);
    expect(days).toEqual(days.toSorted());
    expect(days[0]).toBe('2026-11-04');
  });

  test('has no field that a spreadsheet runs as a formula', async () => {
    const { stdout } = await run(seed, '--format', 'csv');
    const fields = rowsOf(stdout).flatMap((row) => Object.values(row));
    expect(fields.filter((field) => /^[=+\-@]/.test(field))).toEqual([]);
    expect(fields).toContain("'=1+1");
  });
});

test.each(['csv', 'hledger', 'beancount'])('two exports as %s are equal', async (format) => {
  for (const args of [[], ['--daily']]) {
    const [one, other] = [
      await run(seed, '--format', format, ...args),
      await run(seed, '--format', format, ...args),
    ];
    expect(one?.code).toBe(0);
    expect(one).toEqual(other);
  }
});

test('an export is recorded in the audit log, with what was selected', async () => {
  await run(seed, '--format', 'csv', '--month', '2026-11', '--daily', '--by', 'Ada');
  const [entry] = await ledger().query<{ actor: string; detail: object }>(
    `select actor_name as actor, detail from audit
      where action = 'journal.export' and result = 'requested' order by id desc limit 1`,
  );
  expect(entry).toEqual({
    actor: 'Ada',
    detail: {
      output: null,
      entries: 'day',
      time: 'booked',
      time_zone: 'UTC',
      from: '2026-11-01',
      to: '2026-12-01',
    },
  });
});

test('--entries-only has no declarations, opening balances or assertions', async () => {
  const args = ['--from', '2026-11-04', '--entries-only'];
  const [journal, beancount] = [
    await run(seed, '--format', 'hledger', ...args),
    await run(seed, '--format', 'beancount', ...args),
  ];
  expect(journal.stdout).not.toMatch(/^account|^commodity|opening|^\S+ balances/m);
  expect(beancount.stdout).not.toMatch(/ open | balance |opening/);
  expect(journal.stdout).toMatch(/^2026-11-04 \(\d+\) /m);
  expect(beancount.stdout).toMatch(/^2026-11-04 \* "/m);
});

describe('a long day', () => {
  test('is read in parts, and no faster than it is written', async () => {
    const range = {
      basis: 'booked',
      timeZone: 'UTC',
      fromDay: '2026-11-02',
      toDay: '2026-11-05',
      currency: 'JPY',
    } as const;
    const parts: string[] = [];
    let statements = 0;
    const db = await createLedger(seed, 1_201);
    await readConsistently(db, async (tx) => {
      const counting: typeof tx = {
        query: (text, values) => {
          statements += 1;
          return tx.query(text, values);
        },
      };
      const what = { format: 'csv', range, chart: DEFAULT_CHART } as const;
      const text = exportEntries(counting, { ...what, isDaily: false, isEntriesOnly: false });
      for (let taken = 0; taken < 2; taken += 1) parts.push((await text.next()).value ?? '');
      expect(statements).toBeLessThanOrEqual(9);
      for await (const part of text) parts.push(part);
    });
    await db.drop();
    const longest = Math.max(...parts.map((part) => part.split('\n').length - 1));
    expect(longest).toBeGreaterThan(1_000);
    expect(longest).toBeLessThanOrEqual(2_000);
  });
});

describe('a chart of accounts', () => {
  const whole = (name: (account: Account) => string) =>
    Object.fromEntries(
      ACCOUNT_NAMES.map((account): [Account, { code: string; name: string } | null] => [
        account,
        { code: `4${ACCOUNT_NAMES.indexOf(account)}`, name: name(account) },
      ]),
    ) as Record<Account, { code: string; name: string } | null>;
  const withChart = async (
    content: string | object,
    format: string,
    ...args: readonly string[]
  ) => {
    const file = join(folder, 'chart.json');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
    const output = join(folder, 'mapped.txt');
    rmSync(output, { force: true });
    const exit = await run(
      seed,
      '--format',
      format,
      '--accounts',
      file,
      '--output',
      output,
      ...args,
    );
    return { ...exit, text: existsSync(output) ? readFileSync(output, 'utf8') : undefined };
  };
  const hyphened = (account: Account) => `Assets:X-${account.replace(/[._]/g, '-')}`;

  test('gives entries its codes and names, and leaves accounts out', async () => {
    const chart = whole(() => 'Undecided');
    for (const account of ACCOUNT_NAMES) chart[account] = { code: '9000', name: 'Undecided, =sum' };
    chart['psp.clearing'] = { code: '1360', name: 'Payment service "A"' };
    chart['memo.auth_open'] = null;
    chart['memo.auth_contra'] = null;
    const { code, text = '' } = await withChart(chart, 'csv', '--daily');
    expect(code).toBe(0);
    expect(
      new Set(rowsOf(text).map(({ account, account_name: name }) => `${account} ${name}`)),
    ).toEqual(new Set(['1360 Payment service "A"', '9000 Undecided, =sum']));
  });

  test('is in the documentation, to start from', async () => {
    const file = join(packageRoot(), 'docs/examples/chart-of-accounts.json');
    const { code, stdout } = await run(seed, '--format', 'csv', '--daily', '--accounts', file);
    expect(code).toBe(0);
    expect(new Set(rowsOf(stdout).map(({ account }) => account))).toContain('8400');
    expect(stdout).not.toContain('memo');
  });

  test.skipIf(!isHledgerInstalled)(
    'with names of several words is accepted by hledger',
    async () => {
      const chart = whole((account) => `1360 Geld & Transit (EUR):über ${account}`);
      expect((await withChart(chart, 'hledger')).code).toBe(0);
      const file = join(folder, 'mapped.txt');
      expect(hledger(file, 'check', '--strict').errors).toBe('');
      expect(Object.keys(hledgerBalances(file))).toContain(
        '1360 Geld & Transit (EUR):über psp.clearing EUR',
      );
    },
  );

  test.skipIf(!isBeancountInstalled)('that merges accounts is accepted by beancount', async () => {
    const chart = whole(() => 'Assets:Übrige');
    for (const account of ACCOUNT_NAMES) chart[account] = { code: '1', name: 'Assets:Übrige' };
    chart['psp.clearing'] = { code: '2', name: 'Assets:1360-Geld' };
    for (const args of [[], ['--daily']]) {
      expect((await withChart(chart, 'beancount', ...args)).code).toBe(0);
      expect(beanCheck(join(folder, 'mapped.txt')).errors).toBe('');
    }
  });

  test.skipIf(!isHledgerInstalled || !isBeancountInstalled)(
    'with an account beneath another is accepted by hledger and beancount, which add up its balance differently',
    async () => {
      const beneath = new Map<Account, string>([
        ['psp.clearing', 'Assets:Service'],
        ['refund.in_flight', 'Assets:Service:Refunds'],
        ['dispute.held', 'Assets:Service:Refunds:Held'],
        ['order.due', 'Assets:Services'],
      ]);
      const chart = whole((account) => beneath.get(account) ?? hyphened(account));
      for (const [format, check] of [
        ['beancount', beanCheck],
        ['hledger', (file: string) => hledger(file, 'check', '--strict')],
      ] as const) {
        expect((await withChart(chart, format)).code).toBe(0);
        expect(check(join(folder, 'mapped.txt')).errors).toBe('');
      }
    },
  );

  const { 'psp.clearing': _clearing, 'memo.auth_open': _open, ...incomplete } = whole(hyphened);
  const line = (...problems: readonly string[]) => new RegExp(`^${problems.join('\n')}$`, 'm');
  test.each<[string, string | object, string, RegExp]>([
    [
      'without two accounts',
      incomplete,
      'csv',
      line('.* no mapping: psp.clearing, memo.auth_open\\. .*'),
    ],
    ['that is no JSON', '{\n  "psp.clearing": {\n    "code": oh\n', 'csv', /It is not JSON.*oh/s],
    ['that is a list', '[]', 'csv', line('The file must be an object such as .*')],
    [
      'with unknown accounts',
      { ...whole(hyphened), 'psp.fees': null, x: null },
      'csv',
      line('The file has "psp.fees", "x", which is unknown\\.'),
    ],
    [
      'with an account without a name',
      { ...whole(hyphened), 'order.due': { code: '1' } },
      'csv',
      line('order.due: name must be a text\\.'),
    ],
    [
      'with an account that is a text',
      { ...whole(hyphened), 'order.due': '8400' },
      'csv',
      line('order.due must be an object such as .*'),
    ],
    [
      'with a line break in a name',
      { ...whole(hyphened), 'order.due': { code: '1', name: 'a\n2026-01-01 open' } },
      'csv',
      line('order.due: name must be 1 to 200 characters\\.'),
    ],
    [
      'with names of another program',
      { ...whole(hyphened), 'order.due': { code: '1', name: 'Revenue:Orders' } },
      'beancount',
      line('order.due: the name "Revenue:Orders" must be a name of beancount.*'),
    ],
    [
      'with a name that hledger reads as a comment',
      { ...whole(hyphened), 'order.due': { code: '1', name: 'Orders  ; x' } },
      'hledger',
      line('order.due: the name "Orders {2}; x" must be a name of hledger.*'),
    ],
    [
      'with one code for two names',
      { ...whole(hyphened), 'order.due': { code: '40', name: 'Orders' } },
      'csv',
      line('psp.clearing and order.due have one code with two names\\.'),
    ],
    [
      'with one name for two codes',
      { ...whole(hyphened), 'order.due': { code: '9', name: hyphened('psp.clearing') } },
      'csv',
      line('psp.clearing and order.due have one name with two codes\\.'),
    ],
    [
      'that leaves out one side',
      { ...whole(hyphened), 'memo.auth_open': null },
      'csv',
      line(
        'memo.auth_open is left out and memo.auth_contra is not, although they exchange money\\.',
      ),
    ],
  ])('%s is refused, and nothing is written', async (_name, content, format, reason) => {
    const { code, stdout, stderr, text } = await withChart(content, format);
    expect({ code, stdout, text }).toEqual({ code: 2, stdout: '', text: undefined });
    expect(stderr).toMatch(reason);
  });
});

test('days are in the time zone of the closed months, as those of a statement are', async () => {
  const db = await createLedger(seed + SEEDS.length);
  const entries = async (...args: readonly string[]) =>
    (await tallyhook(db.url, 'export', 'entries', '--format', 'csv', ...args)).stdout;
  const utc = await entries('--month', '2026-11');
  const berlin = ['--time-zone', 'Europe/Berlin'];
  const reasons = ['--with-exceptions', '--reason', 'a test', '--by', 'ada'];
  expect((await tallyhook(db.url, 'close', '2026-10', ...berlin, ...reasons)).code).toBe(0);
  const closed = await entries('--month', '2026-11');
  expect(closed).not.toBe(utc);
  expect(closed).toBe(await entries('--month', '2026-11', ...berlin));
  expect(await entries('--month', '2026-11', '--time-zone', 'UTC')).toBe(utc);
  const exports = await db.query<{ zone: string }>(
    `select detail->>'time_zone' as zone from audit where action = 'journal.export' order by id`,
  );
  expect(exports.map(({ zone }) => zone)).toContain('Europe/Berlin');
  await db.drop();
});

describe('days of another time zone than that of the closed months', () => {
  let db: TestDatabase;
  const entries = async (format: string, ...args: readonly string[]) =>
    (await tallyhook(db.url, 'export', 'entries', '--format', format, ...args)).stdout;
  const captured = (id: string, effective: string, amount: number): RandomTransfer => ({
    kind: 'payment',
    id,
    leg: 'captured',
    currency: 'EUR',
    seq: 1,
    amount,
    debit: 'psp.clearing',
    credit: 'order.due',
    previous: 0,
    cumulative: amount,
    recorded: '2026-11-20T00:00:00Z',
    effective,
  });

  beforeAll(async () => {
    db = await createTestDatabase();
    await insertRandom(db, [captured('pay_1', '2026-10-10T12:00:00Z', 7_000)]);
    const reasons = ['--with-exceptions', '--reason', 'a test', '--by', 'ada'];
    const close = ['close', '2026-10', '--time-zone', 'Europe/Berlin', ...reasons];
    expect((await tallyhook(db.url, ...close)).code).toBe(0);
    await insertRandom(db, [captured('pay_2', '2026-10-15T12:00:00Z', 3_000)]);
  });
  afterAll(() => db.drop());

  test.each([[[]], [['--daily']]])(
    'have what moved on them, without closings, with %j',
    async (detail) => {
      const month = ['--month', '2026-10', '--time-zone', 'UTC', ...detail];
      const rows = rowsOf(await entries('csv', ...month));
      expect(rows.map(({ date, debit, credit }) => [date, debit, credit])).toEqual([
        ['2026-10-10', '70.00', ''],
        ['2026-10-10', '', '70.00'],
        ['2026-10-15', '30.00', ''],
        ['2026-10-15', '', '30.00'],
      ]);
      expect(rows.filter(({ description = '' }) => description.includes('late'))).toEqual([]);
      const october = await entries('hledger', ...month);
      expect(october).toContain(
        '\n2026-10-31 balances\n    Assets:Service:Clearing  0.00 EUR = 100.00 EUR\n',
      );
      const november = ['--month', '2026-11', '--time-zone', 'UTC', ...detail];
      expect(await entries('hledger', ...november)).toContain(
        'opening balances\n    Assets:Service:Clearing  100.00 EUR\n',
      );
    },
  );

  test('are described as such at the beginning of the file', async () => {
    const heading = async (...args: readonly string[]) =>
      (await entries('beancount', '--month', '2026-10', ...args)).split('\n')[0];
    expect(await heading('--time-zone', 'UTC')).toMatch(
      / Months are closed in Europe\/Berlin, so closings are not considered\.$/,
    );
    expect(await heading()).toMatch(/ is on the first day of the month after it\.$/);
  });
});

describe('an invalid request is rejected, with what to do', () => {
  test.each<[string, readonly string[], RegExp]>([
    ['no format', [], /--format/],
    ['a format there is not', ['--format', 'jsonl'], /csv, hledger, beancount/],
    ['a day that is none', ['--format', 'csv', '--from', '2026-02-30'], /Give a day such as/],
    ['a day too late to count', ['--format', 'csv', '--to', '9999-01-01'], /Give a day such as/],
    ['a month that is none', ['--format', 'csv', '--month', '2026-13'], /Give a month such as/],
    ['an offset', ['--format', 'csv', '--time-zone', '+02'], /Give the name of a time zone/],
    [
      'a month and days',
      ['--format', 'csv', '--month', '2026-10', '--to', '2026-11-01'],
      /cannot be used with/,
    ],
    [
      'a reversed range',
      ['--format', 'csv', '--from', '2026-11-02', '--to', '2026-11-02'],
      /--from must be before --to/,
    ],
    ['a chart there is not', ['--format', 'csv', '--accounts', '/nowhere.json'], /cannot be read/],
  ])('%s', async (_name, args, reason) => {
    const { code, stdout, stderr } = await run(seed, ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(reason);
  });
});
