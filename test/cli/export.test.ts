/** `export journal`: the same rows in each format, from one snapshot, with constant memory. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exportJournal } from '../../src/ledger/read/exportJournal.ts';
import { readConsistently } from '../../src/ledger/store/readConsistently.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { tallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import type { Exit } from '../support/program.ts';

let db: TestDatabase;
let folder: string;
const run = (...args: readonly string[]): Promise<Exit> =>
  tallyhook(db.url, 'export', 'journal', ...args);

const TRANSFERS = 2_500;
const WHOLE = { basis: 'effective' } as const;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tallyhook-export-'));
  db = await createTestDatabase();
  await applyEach(db, testApplier(db), [
    eventBody(paymentObject({ payment_id: 'pay_1' }), { eventId: '=evt,"1"' }),
  ]);
  // A leg that increases and decreases many times, on three days.
  await db.query(
    `insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor,
                            previous_minor, cumulative_minor, head_hash, recorded_at,
                            effective_at, effective_source)
     select 'payment', 'pay_1', 'captured', 'JPY', n,
            case when n % 2 = 1 then 'psp.clearing' else 'order.due' end,
            case when n % 2 = 1 then 'order.due' else 'psp.clearing' end,
            7, case when n % 2 = 1 then 0 else 7 end, case when n % 2 = 1 then 7 else 0 end,
            sha256('x'), timestamptz '2026-11-01 00:00:00Z' + (n % 3) * interval '1 day',
            timestamptz '2026-11-01 00:00:00Z' + (n % 3) * interval '1 day', 'v'
       from generate_series(1, $1::int) as n`,
    [TRANSFERS - 1],
  );
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await db.drop();
});

async function chunks(tx: Queryable, chunkRows: number): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const lines of exportJournal(tx, { format: 'jsonl', query: WHOLE, chunkRows })) {
    all.push(lines);
  }
  return all;
}

function numbersOf(jsonl: string): readonly number[] {
  return jsonl
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { transfer: number }).transfer);
}

describe('the export', () => {
  test('has every transfer once, in the order of the chosen time, in each format', async () => {
    const [csv, jsonl, recorded] = await Promise.all([
      run('--format', 'csv'),
      run('--format', 'jsonl'),
      run('--format', 'jsonl', '--recorded'),
    ]);
    const numbers = numbersOf(jsonl.stdout);
    const inCsv = [...csv.stdout.matchAll(/^(\d+),/gm)].map(([, id]) => Number(id));
    expect(inCsv).toEqual(numbers);
    const times = [...jsonl.stdout.matchAll(/"effective_at":"([^"]+)"/g)].map(([, at]) => at);
    expect(times).toEqual(times.toSorted());
    const posted = numbersOf(recorded.stdout);
    expect(posted).toHaveLength(TRANSFERS);
    expect(numbers).not.toEqual(posted);
    expect(numbers.toSorted((a, b) => a - b)).toEqual(posted);
    expect(csv.stdout).toContain(`,"'=evt,""1""",`);
  });

  test('includes --from and excludes --to, and may be empty', async () => {
    const day = (n: number) => `2026-11-0${n}`;
    const counted = async (...range: readonly string[]) =>
      numbersOf((await run('--format', 'jsonl', ...range)).stdout).length;
    const each = await Promise.all(
      [1, 2, 3].map((n) => counted('--from', day(n), '--to', day(n + 1))),
    );
    // The payment itself is effective on the first day, and recorded today.
    expect(each).toEqual([834, 833, 833]);
    expect(await counted('--recorded', '--from', day(1), '--to', day(2))).toBe(833);
    expect(await counted('--to', day(1))).toBe(0);
    expect(await counted('--from', '2026-11-02T00:00:00.000001Z', '--to', day(3))).toBe(0);
    expect(await counted('--from', day(2))).toBe(TRANSFERS - 834);
  });

  test('is written to --output only when it is complete', async () => {
    const file = join(folder, 'journal.csv');
    const { code, stdout, stderr } = await run('--format', 'csv', '--output', file);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toBe(`${TRANSFERS} transfers written to ${file}\n`);
    expect(readFileSync(file, 'utf8')).toBe((await run('--format', 'csv')).stdout);
    expect(readdirSync(folder)).toEqual(['journal.csv']);
  });
});

describe('--output', () => {
  const exportTo = (file: string): Promise<Exit> =>
    run('--format', 'csv', '--to', '2026-11-02', '--output', file);
  let whole = '';
  let own = '';
  beforeAll(async () => {
    whole = (await run('--format', 'csv', '--to', '2026-11-02')).stdout;
    own = mkdtempSync(join(folder, 'output-'));
  });

  test('creates a file that only its owner may read, and replaces an older one that others may', async () => {
    const file = join(own, 'older.csv');
    writeFileSync(file, 'older', { mode: 0o644 });
    expect((await exportTo(file)).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toBe(whole);
  });

  test('writes to a pipe in place, also through a link, and the pipe remains', async () => {
    const pipe = join(own, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const link = join(own, 'link-to-pipe');
    symlinkSync(pipe, link);
    for (const name of [pipe, link]) {
      const [read, { code }] = await Promise.all([readFile(pipe, 'utf8'), exportTo(name)]);
      expect(code).toBe(0);
      expect(read).toBe(whole);
      expect(lstatSync(pipe).isFIFO()).toBe(true);
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
    }
  });

  test('replaces the file behind a link of the same folder, and keeps the link', async () => {
    const file = join(own, 'month.csv');
    writeFileSync(file, 'older');
    symlinkSync('month.csv', join(own, 'latest.csv'));
    expect((await exportTo(join(own, 'latest.csv'))).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(whole);
    expect(lstatSync(join(own, 'latest.csv')).isSymbolicLink()).toBe(true);
  });

  test('refuses a link to a file in another folder, which stays as it is', async () => {
    const elsewhere = join(mkdtempSync(join(folder, 'elsewhere-')), 'precious.txt');
    writeFileSync(elsewhere, 'precious');
    const link = join(own, 'precious.csv');
    symlinkSync(elsewhere, link);
    const { code, stderr } = await exportTo(link);
    expect(code).toBe(2);
    expect(stderr).toContain('Name the file itself.');
    expect(readFileSync(elsewhere, 'utf8')).toBe('precious');
    expect(readdirSync(own).filter((name) => name.endsWith('.partial'))).toEqual([]);
  });
});

test('a reader that closes the pipe early is not an error', async () => {
  const args = [join(packageRoot(), 'bin/tallyhook.js'), 'export', 'journal', '--format', 'csv'];
  const child = spawn(process.execPath, args, {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, DATABASE_URL: db.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.once('data', () => child.stdout.destroy());
  const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect({ code: child.exitCode, stderr }).toEqual({ code: 0, stderr: '' });
});

describe('an invalid request is rejected, with what to do', () => {
  test.each<[string, readonly string[], RegExp]>([
    ['no format', [], /--format/],
    ['a format there is not', ['--format', 'xml'], /csv, jsonl/],
    ['a time that is none', ['--format', 'csv', '--from', '2026-13-01'], /Give a date such as/],
    [
      'a reversed range',
      ['--format', 'csv', '--from', '2026-11-02', '--to', '2026-11-02'],
      /--from must be before --to/,
    ],
    [
      'a file that cannot be created',
      ['--format', 'csv', '--output', '/nowhere/x.csv'],
      /\/nowhere\/x\.csv cannot be written/,
    ],
  ])('%s', async (_name, args, reason) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(reason);
  });
});

describe('a long journal', () => {
  test('is read in chunks, each row once, regardless of the size of a chunk', async () => {
    for (const chunkRows of [1_000, 999, TRANSFERS, TRANSFERS + 1]) {
      const all = await chunks(db, chunkRows);
      expect(numbersOf(all.join(''))).toHaveLength(TRANSFERS);
      const longest = Math.max(...all.map((lines) => lines.split('\n').length - 1));
      expect(longest).toBeLessThanOrEqual(chunkRows);
    }
  });

  test('is read no faster than it is written', async () => {
    let statements = 0;
    const counting: Queryable = {
      query: (text, values) => {
        statements += 1;
        return db.query(text, values);
      },
    };
    const lines = exportJournal(counting, { format: 'jsonl', query: WHOLE, chunkRows: 100 });
    for (let taken = 0; taken < 4; taken += 1) await lines.next();
    expect(statements).toBeLessThanOrEqual(5);
    await lines.return();
  });

  test('is one snapshot: transfers posted during the export are not in it', async () => {
    const late = unique('pay');
    const written = await readConsistently(db, async (tx) => {
      const parts: string[] = [];
      for await (const part of exportJournal(tx, {
        format: 'jsonl',
        query: WHOLE,
        chunkRows: 1_000,
      })) {
        if (parts.length === 1) {
          await applyEach(db, testApplier(db), [eventBody(paymentObject({ payment_id: late }))]);
        }
        parts.push(part);
      }
      return parts.join('');
    });
    expect(written).not.toContain(late);
    expect((await chunks(db, 1_000)).join('')).toContain(late);
  });
});
