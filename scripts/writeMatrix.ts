/** Writes docs/reference/matrix.md from the results of scripts/matrix.sh, for the cells that it names. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/platform/packageRoot.ts';

/** What the page needs of the report of vitest. */
interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
    }[];
  }[];
}

const NAMES: Readonly<Record<string, string>> = {
  node: 'Node.js',
  postgres: 'PostgreSQL',
  redis: 'Redis',
  valkey: 'Valkey',
};

const INTRODUCTION = `# Supported versions

Tallyhook runs on Node.js 20.19 or newer and PostgreSQL 14 or newer. Jobs are in PostgreSQL, or in Redis 7.0 or newer, or in Valkey 8.1. \`scripts/matrix.sh\` runs a part of the tests with each version below and writes this page: both queue backends, and with Node.js and PostgreSQL also statements of the ledger and its views, connections, and commands. Each run begins with all migrations. One version differs at a time from PostgreSQL 18, Redis 7.0 and Node.js 20. The whole test suite runs on these. A version that was not run since the tests were chosen is named as such.

| | version | passed | failed |
|---|---|---:|---:|
`;

const OUTRO = `
- PostgreSQL 13 is not supported: the ledger needs \`date_bin\`, which PostgreSQL 14 has. \`tallyhook migrate\` refuses an older server before it changes anything.
- The embedded PostgreSQL is version 18.
- Redis 7.0 and 8.0 and Valkey 8.1 are the builds of Debian 12 and 13. Redis 6.0 is not supported: 21 of the 44 tests of the queues failed with the 6.0.16 of Debian 11: its scripts had no \`cjson\`.
`;

const [results, ...cells] = process.argv.slice(2);
if (results === undefined || cells.length === 0) {
  console.error('Where are the results, and of which cells? Run scripts/matrix.sh.');
  process.exit(2);
}
const page = join(packageRoot(), 'docs/reference/matrix.md');
const outcomes = cells.map((cell) => ({ ...partsOf(cell), result: readResult(results, cell) }));
const rows = outcomes.map(({ name, wanted, result }) =>
  result === undefined
    ? `| ${name} | ${wanted} | not run | |`
    : `| ${name} | ${result.version} | ${result.passed} | ${result.failures.length} |`,
);
writeFileSync(page, `${INTRODUCTION}${rows.join('\n')}\n${OUTRO}`);
console.log(`wrote ${page}`);
for (const { name, wanted, result } of outcomes) {
  const problems = result?.failures ?? ['not run'];
  for (const problem of problems) console.log(`${name} ${wanted}: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}

function partsOf(cell: string): { readonly name: string; readonly wanted: string } {
  const [kind = '', wanted = ''] = cell.split('-');
  return { name: NAMES[kind] ?? kind, wanted };
}

interface Result {
  readonly version: string;
  readonly passed: number;
  /** The tests that failed, and the files that failed before their tests. */
  readonly failures: readonly string[];
}

/** @returns undefined if the cell was never run */
function readResult(folder: string, cell: string): Result | undefined {
  const file = join(folder, `${cell}.json`);
  if (!existsSync(file)) return undefined;
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  const version = readFileSync(join(folder, `${cell}.version`), 'utf8').trim();
  return { version, passed: report.numPassedTests, failures: failuresOf(report) };
}

/** Files that failed before their tests ran: no test of theirs is counted. */
function emptyFilesOf({ testResults }: Report) {
  return testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  );
}

function failuresOf(report: Report): readonly string[] {
  const tests = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName }) => `${name}: ${fullName}`),
  );
  return [...tests, ...emptyFilesOf(report).map(({ name }) => `${name}: did not run`)];
}
