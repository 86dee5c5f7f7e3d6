/**
 * Which failed checks make a process unready. A process that serves requests is taken out of its load
 * balancer when it is unready, so it stays ready as long as it can serve: a receiver that only lags
 * behind still persists events. A process that only works is unready as soon as its work does not
 * get done. Every failed check is reported as degraded (docs/decisions/0072-health-port.md).
 */
import type { Readiness } from '../platform/healthServer.ts';
import type { Role } from './roles.ts';

export type CheckName = 'database' | 'migrations' | 'clock' | 'queue' | 'pending';

export interface CheckResult {
  readonly isOk: boolean;
  /** The result, or the reason why it failed. */
  readonly text: string;
}

export type CheckResults = Readonly<Record<CheckName, CheckResult>>;

/** What a role needs to serve requests. */
const SERVING: Partial<Readonly<Record<Role, readonly CheckName[]>>> = {
  receiver: ['database', 'migrations', 'clock'],
  console: ['database', 'migrations'],
};

/** What a role needs to get its work done. */
const WORKING: Partial<Readonly<Record<Role, readonly CheckName[]>>> = {
  events: ['database', 'migrations', 'queue', 'pending'],
  reconcile: ['database', 'migrations', 'queue'],
  alerts: ['database', 'migrations'],
  scheduler: ['database', 'migrations', 'queue'],
};

/** @param isStopping a process that stops is unready, although it still serves what reaches it */
export function judgeReadiness(
  roles: ReadonlySet<Role>,
  results: CheckResults,
  isStopping = false,
): Readiness {
  const isFailed = (name: CheckName) => !results[name].isOk;
  const needs = (table: typeof SERVING) => [...roles].flatMap((role) => table[role] ?? []);
  const serving = needs(SERVING);
  const needed = serving.length > 0 ? serving : needs(WORKING);
  return {
    ready: !isStopping && !needed.some(isFailed),
    degraded: Object.values(results).some(({ isOk }) => !isOk),
    checks: {
      ...Object.fromEntries(Object.entries(results).map(([name, { text }]) => [name, text])),
      ...(isStopping && { process: 'stops, and still serves' }),
    },
  };
}
