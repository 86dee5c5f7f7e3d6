/** The verdicts on SQLSTATEs, compared with the list that PostgreSQL ships. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  affectsEveryTransaction,
  CommitNotReplicated,
  isContended,
  isDatabaseUnavailable,
  isTransient,
} from '../../../src/platform/db/failures.ts';
import {
  SQLSTATE_CLASSES,
  SQLSTATES,
  type Verdict,
  verdictOf,
} from '../../../src/platform/db/sqlStates.ts';
import { locateBinaries } from '../../../src/platform/embeddedPostgres/binaries.ts';

/** The list of codes that the embedded PostgreSQL was built from. */
function shippedList(): readonly string[] {
  const { postgres } = locateBinaries(process.platform, process.arch);
  const file = path.join(path.dirname(postgres), '../share/postgresql/errcodes.txt');
  return readFileSync(file, 'utf8').split('\n');
}

/** Every SQLSTATE of the embedded PostgreSQL. */
function shippedStates(): readonly string[] {
  return [...new Set(shippedList().flatMap((line) => /^([0-9A-Z]{5})\s/.exec(line)?.[1] ?? []))];
}

/** Listed in full, so that a change of a verdict shows here. Class 42 is tested by its count below. */
const EXPECTED: Readonly<Record<Exclude<Verdict, 'permanent'>, readonly string[]>> = {
  unavailable: [
    '08000',
    '08001',
    '08003',
    '08004',
    '08006',
    '08007',
    '08P01',
    '25006',
    '25P03',
    '25P04',
    '26000',
    '42P05',
    '53000',
    '53100',
    '53300',
    '57P01',
    '57P02',
    '57P03',
    '57P04',
    '57P05',
    '58000',
    'F0000',
    'F0001',
  ],
  retry: [
    '40000',
    '40001',
    '40003',
    '40P01',
    '53200',
    '53400',
    '55000',
    '55006',
    '55P03',
    '55P04',
    '57000',
    '57014',
    '58030',
    '58P01',
    '58P02',
    '58P03',
    'XX000',
    'XX001',
    'XX002',
  ],
  installation: ['0P000', '28000', '28P01', '3D000', '3F000', '55P02'],
};

describe("of PostgreSQL's list of error codes", () => {
  const states = shippedStates();

  test('every code belongs to a class that has a verdict and a reason', () => {
    expect(states.length).toBeGreaterThan(250);
    const classes = new Set(states.map((state) => state.slice(0, 2)));
    expect([...classes].filter((name) => SQLSTATE_CLASSES[name] === undefined)).toEqual([]);
    for (const { reason } of Object.values(SQLSTATE_CLASSES)) expect(reason).not.toBe('');
  });

  test('every code that has a name has the one of the list', () => {
    const named = Object.entries(SQLSTATES).map(([name, code]) => `${code} ${name}`);
    const listed = shippedList().map((line) => line.replace(/^(\S{5})\s.*\s(\S+)$/, '$1 $2'));
    expect(named.filter((line) => !listed.includes(line))).toEqual([]);
  });

  test('every exception is a code of its class', () => {
    for (const [name, { except = {} }] of Object.entries(SQLSTATE_CLASSES)) {
      for (const code of Object.keys(except)) {
        expect(states).toContain(code);
        expect(code.slice(0, 2)).toBe(name);
      }
    }
  });

  test.each(['unavailable', 'retry', 'installation'] as const)(
    'exactly these are %s',
    (verdict) => {
      const found = states.filter((state) => verdictOf(state) === verdict);
      const beyondClass42 = found.filter(
        (state) => verdict !== 'installation' || !/^42/.test(state),
      );
      expect(beyondClass42.sort()).toEqual([...EXPECTED[verdict]].sort());
    },
  );

  test('a statement that does not match the schema or the grants is the fault of the installation, never of the event', () => {
    const class42 = states.filter((state) => /^42/.test(state) && state !== '42P05');
    expect(class42.length).toBeGreaterThan(40);
    expect(class42.filter((state) => verdictOf(state) !== 'installation')).toEqual([]);
  });

  test('data that cannot be stored is permanent', () => {
    for (const state of ['22003', '22P05', '23505', '23514', '54000', 'P0001']) {
      expect(verdictOf(state)).toBe('permanent');
    }
  });
});

describe('an error', () => {
  const withCode = (code: string): Error => Object.assign(new Error('failed'), { code });

  test('of the operating system has its own verdict, although EPIPE looks like a SQLSTATE', () => {
    expect(isDatabaseUnavailable(withCode('EPIPE'))).toBe(true);
    expect(isDatabaseUnavailable(withCode('ECONNREFUSED'))).toBe(true);
  });

  test('of an unknown class, or without a SQLSTATE, is permanent', () => {
    expect(isTransient(withCode('ZZ001'))).toBe(false);
    expect(isTransient(new TypeError('not a function'))).toBe(false);
    expect(isTransient('a string')).toBe(false);
  });

  test('of a plan that a migration invalidated requires another connection', () => {
    const stale = Object.assign(withCode('0A000'), { routine: 'RevalidateCachedQuery' });
    expect(isDatabaseUnavailable(stale)).toBe(true);
    expect(isTransient(withCode('0A000'))).toBe(false);
  });

  test('affects every transaction if the server or the installation causes it, not the data or others at work', () => {
    for (const code of ['ECONNREFUSED', '57P01', '42501']) {
      expect(affectsEveryTransaction(withCode(code))).toBe(true);
    }
    for (const code of ['55P03', '40P01', '23505', 'P0001']) {
      expect(affectsEveryTransaction(withCode(code))).toBe(false);
    }
  });

  test('of a commit that was not replicated is transient, and leaves the connection usable', () => {
    const error = new CommitNotReplicated('canceling wait for synchronous replication');
    expect([isTransient(error), isContended(error), isDatabaseUnavailable(error)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
