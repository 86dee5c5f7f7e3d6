/** The installed hledger and beancount, which read what Tallyhook exports. */
import { spawnSync } from 'node:child_process';
import { noteSkipped } from './noteSkipped.ts';

export const isHledgerInstalled = runs('hledger');
export const isBeancountInstalled = runs('bean-check') && runs('bean-query');
if (!isHledgerInstalled) noteSkipped('hledger', 'the tests of what it reads are');
if (!isBeancountInstalled) noteSkipped('beancount', 'the tests of what it reads are');

function runs(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

/** What a program printed about a file, and its errors; it ended well and found none if this is empty. */
export interface Read {
  readonly output: string;
  readonly errors: string;
}

function run(program: string, args: readonly string[]): Read {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    env: { ...process.env, LANG: 'C.UTF-8' },
  });
  if (error) throw error;
  return {
    output: stdout,
    errors: status === 0 && stderr === '' ? '' : `${program} exits with ${status}: ${stderr}`,
  };
}

export function hledger(file: string, ...args: readonly string[]): Read {
  return run('hledger', ['-f', file, ...args]);
}

export function beanCheck(file: string): Read {
  return run('bean-check', ['--no-cache', file]);
}

/** Reads a file without the examination of types that only `bean-check` makes. */
export function beanQuery(file: string, query: string): Read {
  return run('bean-query', ['-f', 'csv', file, query]);
}

/** Balances by `account currency`, as decimal text with the decimals that the program knows; none is zero. */
export type ProgramBalances = Readonly<Record<string, string>>;

export function hledgerBalances(file: string): ProgramBalances {
  const args = ['--flat', '--empty', '--no-total', '--layout=bare', '-O', 'csv'];
  const { output, errors } = hledger(file, 'balance', ...args);
  if (errors !== '') throw new Error(errors);
  return balancesIn(output);
}

export function beancountBalances(file: string): ProgramBalances {
  // As text: numbers are shown with the decimals that are most frequent in the file.
  const query = 'select account, currency, str(sum(number)) group by account, currency';
  const { output, errors } = beanQuery(file, query);
  if (errors !== '') throw new Error(errors);
  return balancesIn(output);
}

function balancesIn(csv: string): ProgramBalances {
  const rows = csv
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',').map((field) => field.replaceAll('"', '').trim()));
  return Object.fromEntries(
    rows
      .filter(([, , amount = '']) => /[1-9]/.test(amount))
      .map(([account, currency, amount = '']) => [
        `${account} ${currency}`,
        // Beancount writes `Decimal('65.40')`.
        /-?\d[\d.]*/.exec(amount)?.[0] ?? '',
      ])
      .toSorted(),
  );
}
