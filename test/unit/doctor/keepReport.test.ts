/** The numbers are the rules of src/doctor/keepReport.ts. */
import { beforeEach, expect, test, vi } from 'vitest';
import type { Check } from '../../../src/doctor/examine.ts';
import { type Doctor, keepReport } from '../../../src/doctor/keepReport.ts';

const LONG_MS = 60_000;
const check = (name: string): Check => ({
  name,
  state: 'ok',
  result: 'fine',
  remedy: null,
});

interface Run {
  readonly onCheck: (check: Check) => void;
  readonly end: (error?: Error) => void;
}

let runs: Run[];
let elapsedMs: number;
let doctor: Doctor;

beforeEach(() => {
  [runs, elapsedMs] = [[], 1_000];
  vi.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
  doctor = keepReport(
    (onCheck) =>
      new Promise<void>((resolve, reject) => {
        runs.push({ onCheck, end: (error) => (error ? reject(error) : resolve()) });
      }),
    { nowMs: () => 5_000 + elapsedMs },
  );
});

/** Ends the last run. */
async function finish(error?: Error): Promise<void> {
  const done = doctor.read(LONG_MS);
  runs.at(-1)?.end(error);
  await done;
}

test('checks run once for all who wait, who get what is done by then [1, 2]', async () => {
  const first = doctor.read(0);
  doctor.start();
  runs[0]?.onCheck(check('database'));
  for (const report of [await first, await doctor.read(0)]) {
    expect(report).toEqual({
      startedMs: 6_000,
      finishedMs: undefined,
      checks: [check('database')],
    });
  }
  const waiting = doctor.read(LONG_MS);
  runs[0]?.onCheck(check('queue'));
  elapsedMs += 500;
  runs[0]?.end();
  expect(await waiting).toEqual({
    startedMs: 6_000,
    finishedMs: 6_500,
    checks: [check('database'), check('queue')],
  });
  expect(runs).toHaveLength(1);
});

test('a report is read again for a minute after its end, and then the checks start once more [2]', async () => {
  void doctor.read(0);
  elapsedMs += LONG_MS;
  await finish();
  elapsedMs += 60_000;
  await doctor.read(0);
  expect(runs).toHaveLength(1);
  elapsedMs += 1;
  expect(await doctor.read(0)).toMatchObject({ startedMs: 126_001, finishedMs: undefined });
  expect(runs).toHaveLength(2);
});

test('the last report is shown without a check, however old, and a person can start the checks [3]', async () => {
  expect(doctor.last()).toBeUndefined();
  expect(runs).toHaveLength(0);
  doctor.start();
  await finish();
  elapsedMs += 10 * LONG_MS;
  expect(doctor.last()).toMatchObject({ startedMs: 6_000, finishedMs: 6_000 });
  expect(runs).toHaveLength(1);
  doctor.start();
  expect(runs).toHaveLength(2);
});

test('checks that stop are a failed check, after those that were done', async () => {
  doctor.start();
  runs[0]?.onCheck(check('database'));
  await finish(new Error('the pool is closed'));
  expect(doctor.last()?.checks).toMatchObject([
    { name: 'database' },
    { name: 'checks', state: 'failed', result: 'the checks stopped: the pool is closed' },
  ]);
});
