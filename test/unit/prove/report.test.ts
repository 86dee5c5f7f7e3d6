/** scripts/prove: what becomes of results, and what counts as broken. Numbers refer to the rules of report.ts. */
import { describe, expect, test } from 'vitest';
import { FlagError } from '../../../bench/runBench.ts';
import { readOptions } from '../../../scripts/prove/options.ts';
import { writePage } from '../../../scripts/prove/page.ts';
import { commandOf, PARTS } from '../../../scripts/prove/parts.ts';
import {
  brokenPromises,
  type FigureRecord,
  parseRecords,
  type RecordOf,
} from '../../../scripts/prove/records.ts';
import {
  EMPTY,
  formatReport,
  isDone,
  outcomeOf,
  type PartResult,
  parseReport,
  withResult,
} from '../../../scripts/prove/report.ts';

const NAMES = PARTS.map(({ name }) => name);

const kills: RecordOf<'kills'> = {
  kind: 'kills',
  killed: 'receiver, queues in the database',
  kills: 20,
  acknowledged: 2_500,
  lost: 0,
  appliedAfterSeconds: [],
};

function resultOf(fields: Partial<PartResult> = {}): PartResult {
  return {
    part: 'kill-receiver',
    seed: 7,
    count: 20,
    commit: 'a'.repeat(40),
    isModified: false,
    machine: {
      cpu: 'Some CPU',
      cores: 2,
      memoryGib: 8,
      system: 'linux 6.1 x64',
      node: 'v20.19.0',
      postgres: '18.4',
      redis: '7.0.15',
    },
    startedAt: '2026-11-26T10:00:00.000Z',
    seconds: 61,
    exitCode: 0,
    records: [kills],
    ...fields,
  };
}

const repair = (lossPercent: number, requests: number, seconds: number): FigureRecord => ({
  kind: 'repair',
  seed: 7,
  lossPercent,
  payments: 1_000,
  requests,
  seconds,
  differences: 0,
  openFindings: 0,
});

describe('the report', () => {
  test('a part that runs again replaces its own result and no other (rule 1)', () => {
    const alerts = resultOf({ part: 'alerts' });
    const first = withResult(withResult(EMPTY, alerts, NAMES), resultOf(), NAMES);
    expect(first.results.map(({ part }) => part)).toEqual(['kill-receiver', 'alerts']);
    const again = resultOf({ seed: 8 });
    expect(withResult(first, again, NAMES).results).toEqual([again, alerts]);
  });

  test('is read as it was written, and nothing else is', () => {
    const report = withResult(EMPTY, resultOf(), NAMES);
    expect(parseReport(formatReport(report))).toEqual(report);
    expect(() => parseReport('{"results": [{"part": "alerts"}]}')).toThrow();
    expect(() => parseRecords('{"kind": "kills", "lost": -1}')).toThrow();
  });

  test.each([
    ['a part that held', {}, 'held'],
    [
      'a part with a lost event, even if its process succeeded',
      { records: [{ ...kills, lost: 1 }] },
      'broken',
    ],
    ['a part that ended early', { exitCode: 1 }, 'failed'],
    ['a part that recorded nothing', { records: [] }, 'failed'],
  ] as const)('%s has this outcome', (_, fields, outcome) => {
    expect(outcomeOf(resultOf(fields as Partial<PartResult>)).outcome).toBe(outcome);
  });

  test('an interrupted run repeats what another program, seed or count had, and what did not hold', () => {
    const wanted = resultOf();
    const { results } = withResult(EMPTY, wanted, NAMES);
    expect(isDone({ results }, wanted)).toBe(true);
    for (const other of [
      { seed: 8 },
      { count: 21 },
      { commit: 'b'.repeat(40) },
      { isModified: true },
      { part: 'alerts' },
    ]) {
      expect(isDone({ results }, { ...wanted, ...other })).toBe(false);
    }
    expect(isDone({ results: [resultOf({ exitCode: 1 })] }, wanted)).toBe(false);
  });
});

describe('a record shows as broken', () => {
  const alerts = {
    kind: 'alerts',
    seed: 7,
    orders: 80,
    raised: 3,
    false: 0,
    missing: 0,
    doubled: 0,
  };
  const captures = {
    kind: 'captures',
    fault: 'none',
    holds: 5,
    requests: 5,
    captured: 5,
    doubled: 0,
  };
  const intake = { kind: 'intake', pairs: [], acknowledged: 5, lost: 0 };
  test.each([
    ['a lost event', { ...kills, lost: 1 }],
    ['a lost order webhook', { ...kills, orderWebhooks: { expected: 5, lost: 1 } }],
    ['a difference after a full run', { ...repair(5, 1, 1), differences: 1 }],
    ['a finding that is open after a full run', { ...repair(5, 1, 1), openFindings: 1 }],
    ['a false alert', { ...alerts, false: 1 }],
    ['a missing alert', { ...alerts, missing: 1 }],
    ['a doubled alert', { ...alerts, doubled: 1 }],
    ['a double capture', { ...captures, doubled: 1 }],
    ['a hold that was not captured', { ...captures, captured: 4 }],
    ['an event lost in a bench', { ...intake, lost: 1 }],
  ])('%s', (_, record) => {
    expect(brokenPromises(record as FigureRecord)).toHaveLength(1);
  });

  test('nothing where all held', () => {
    const held = [kills, repair(5, 1, 1), alerts, captures, intake] as readonly FigureRecord[];
    expect(held.flatMap(brokenPromises)).toEqual([]);
  });
});

describe('the page', () => {
  test('each line has its count, and the command that repeats it alone', () => {
    const page = writePage({ results: [resultOf()] });
    expect(page).toContain(
      '| receiver, queues in the database | 20 | 2,500 | 0 | – | – | `npm run prove -- --only kill-receiver --seed 7 --count 20` |',
    );
    expect(page).toContain('No guarantee was broken');
  });

  test('kills of one kind are added up over seeds, and times have a median and a range', () => {
    const records = [
      { ...kills, appliedAfterSeconds: [1, 2] },
      { ...kills, lost: 1, appliedAfterSeconds: [9] },
    ];
    const page = writePage({ results: [resultOf({ records })] });
    expect(page).toContain('| 40 | 5,000 | 1 | – | 2.0 (1.0 to 9.0) |');
    expect(page).toContain('**Broken**, kill-receiver: 1 acknowledged events lost');
  });

  test('convergence is by loss rate, per 1,000 payments', () => {
    const records = [repair(50, 40, 2), repair(0, 10, 1), repair(50, 20, 4)];
    const page = writePage({ results: [resultOf({ part: 'repair', records })] });
    const lines = page.split('\n').filter((line) => /^\| \d+ %/.test(line));
    expect(lines.map((line) => line.split(' | ').slice(0, 5))).toEqual([
      ['| 0 %', '1', '1,000', '10', '1.00'],
      ['| 50 %', '2', '2,000', '30 (20 to 40)', '3.00 (2.00 to 4.00)'],
    ]);
  });

  test('none in n has the bound of the rule of three, and a count has its rate', () => {
    const record = {
      kind: 'alerts',
      seed: 7,
      orders: 1_000,
      raised: 9,
      false: 2,
      missing: 0,
      doubled: 0,
    } as const;
    const page = writePage({ results: [resultOf({ part: 'alerts', records: [record, record] })] });
    expect(page).toContain('| missing alerts | 0.0 | 0 | 2,000 | 18 | < 15.0 |');
    expect(page).toContain('| false alerts | 20.0 | 4 | 2,000 | 18 | – |');
  });

  test('a failed part has no figure of an earlier run (rule 2), and a part that was not run is named', () => {
    const page = writePage({ results: [resultOf({ records: [], exitCode: 1 })] });
    expect(page).toContain('**Failed**, kill-receiver');
    expect(page).toContain('| kill-receiver: no figure |');
    expect(page).toMatch(/These parts have no result yet: .*`alerts`/);
  });

  test('a part of another commit, of a changed program or of another machine states it', () => {
    const one = resultOf({
      isModified: true,
      startedAt: '2026-11-25T10:00:00.000Z',
      commit: 'b'.repeat(40),
    });
    const other = resultOf({
      part: 'alerts',
      machine: { ...one.machine, cores: 64 },
    });
    const page = writePage({ results: [one, other] });
    expect(page).toContain(
      '`bbbbbbbb`, with uncommitted changes, another commit than the newest run | A |',
    );
    expect(page).toContain('| `aaaaaaaa` | B |');
    expect(page).toContain('- B: Some CPU, 64 cores');
  });
});

describe('the command line', () => {
  test('runs all parts in the long form, and fewer times in the short form', () => {
    const long = readOptions([], 42);
    expect(long.runs.map(({ part }) => part.name)).toEqual(NAMES);
    expect(long.seed).toBe(42);
    const short = readOptions(['--short', '--seed', '7'], 42);
    expect(short.seed).toBe(7);
    for (const [index, { count, part }] of short.runs.entries()) {
      expect(count).toBe(part.short);
      expect(count).toBeLessThan(long.runs[index]?.count ?? 0);
    }
  });

  test.each(NAMES)('repeats %s by the command of its lines', (part) => {
    const wanted = { part, seed: 7, count: 12 };
    const args = commandOf(wanted).split(' ').slice(4);
    const { runs, seed } = readOptions(args, 42);
    expect(runs.map((run) => [run.part.name, run.count])).toEqual([[part, 12]]);
    expect(seed).toBe(7);
  });

  test.each([
    [['--count', '5'], /--count needs one part/],
    [['--only', 'kill-nothing'], /--only takes one of/],
    [['--resume'], /--resume needs the --seed/],
    [['--only', 'alerts', '--count', '0'], /--count takes whole numbers/],
    [['--sort'], /Unknown option/],
  ])('refuses %s', (args, message) => {
    expect(() => readOptions(args, 42)).toThrow(message);
    expect(() => readOptions(args, 42)).toThrow(FlagError);
  });
});
