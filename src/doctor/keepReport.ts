/**
 * Keeps the last report of the checks, so that a page can show it.
 *
 * 1. Checks run one report at a time, however many people wait for it.
 * 2. Reading the report starts the checks if the last report is old, and waits for them for a short time. What is
 *    not done by then is in the report that is read next.
 * 3. A page that is open and fetches itself again reads the last report and starts nothing: checks read
 *    the sizes of tables, and a page can stay open for days.
 */
import { type Clock, monotonicMs } from '../platform/clock.ts';
import { toError } from '../platform/errors.ts';
import { sleep } from '../platform/sleep.ts';
import { MINUTE_MS } from '../platform/time.ts';
import type { Check } from './examine.ts';

export interface DoctorReport {
  readonly startedMs: number;
  /** Undefined: checks are still running, and `checks` are those with a result. */
  readonly finishedMs: number | undefined;
  readonly checks: readonly Check[];
}

export interface Doctor {
  /** The report, after at most `waitMs`. Starts the checks if the last report is old. */
  readonly read: (waitMs: number) => Promise<DoctorReport>;
  /** The last report, which may be old; undefined before the first. */
  readonly last: () => DoctorReport | undefined;
  /** Starts the checks, unless they are running. */
  readonly start: () => void;
}

const OLD_MS = MINUTE_MS;

export type RunChecks = (onCheck: (check: Check) => void) => Promise<unknown>;

export function keepReport(run: RunChecks, clock: Clock): Doctor {
  let last: { report: DoctorReport; done: Promise<void>; doneMs: number | undefined } | undefined;
  const begin = () => {
    const checks: Check[] = [];
    const report = { startedMs: clock.nowMs(), finishedMs: undefined, checks };
    const done = run((check) => void checks.push(check)).then(
      () => undefined,
      (error: unknown) => {
        const result = `the checks stopped: ${toError(error).message}`;
        const remedy = 'Fix the error in the message; then check again.';
        checks.push({ name: 'checks', state: 'failed', result, remedy });
      },
    );
    const begun = { report, done, doneMs: undefined };
    last = begun;
    void done.then(() => {
      last = {
        report: { ...report, finishedMs: clock.nowMs() },
        done,
        doneMs: monotonicMs(),
      };
    });
    return begun;
  };
  const isRunning = () => last !== undefined && last.doneMs === undefined;
  return {
    last: () => last?.report,
    start: () => {
      if (!isRunning()) begin();
    },
    read: async (waitMs) => {
      const isOld = last?.doneMs !== undefined && monotonicMs() - last.doneMs > OLD_MS;
      const seen = last === undefined || isOld ? begin() : last;
      const waiting = new AbortController();
      const waited = seen.done.then(() => waiting.abort());
      await Promise.race([waited, sleep(waitMs, waiting.signal)]);
      return (last ?? seen).report;
    },
  };
}
