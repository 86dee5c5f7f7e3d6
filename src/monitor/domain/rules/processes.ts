/** Whether every role runs, with a right clock and a queue that works. */
import { instant, span } from '../../../alerts/domain/format.ts';
import { MINUTE_MS } from '../../../platform/time.ts';
import type { SystemFacts } from '../facts.ts';
import type { SystemAlert } from '../systemAlert.ts';

/** A single slow measurement on a busy machine is no clock skew. */
export const SKEWED_FOR_MS = 30_000;
/** Processes report every few seconds. */
export const SKEW_REPORTED_WITHIN_MS = MINUTE_MS;
/** From here on, a process is not ready. */
const CRITICAL_SKEW_MS = MINUTE_MS;

/** Two checks of a process failed: a restart of Redis is no alert. */
export const QUEUE_UNUSABLE_FOR_MS = 8_000;
/** Processes check every ten seconds. */
export const QUEUE_REPORTED_WITHIN_MS = MINUTE_MS;
/** Jobs wait as long as pending events may. */
const CRITICAL_QUEUE_MS = 5 * MINUTE_MS;

/** Longer than a process takes to start again, or than its replacement takes to start. */
export const ROLE_MISSING_FOR_MS = 2 * MINUTE_MS;

export function clockSkew({ clocks }: SystemFacts): SystemAlert | undefined {
  const [worst] = clocks;
  if (!worst) return undefined;
  const { process, roles, skewMs } = worst;
  const offMs = Math.abs(skewMs);
  const others = clocks.length === 1 ? '' : ` (and ${clocks.length - 1} more)`;
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  return {
    rule: 'clock_skew',
    severity: offMs > CRITICAL_SKEW_MS ? 'critical' : 'warning',
    sentence: `The clock of the machine of ${process} (${roles})${others} is ${span(offMs)} ${side} the database's clock. Stored times follow the database; logs, timers and certificates on that machine do not. Above one minute its receiver is not ready.`,
    nextStep: 'Run npx tallyhook doctor on that machine, then synchronize its clock with NTP',
    detail: { process, roles, skewMs, processes: clocks.length },
  };
}

export function queueUnusable({ nowMs, queues }: SystemFacts): SystemAlert | undefined {
  const [longest] = queues;
  if (!longest) return undefined;
  const { process, roles, reason, remedy, sinceMs } = longest;
  const lastedMs = nowMs - sinceMs;
  const others = queues.length === 1 ? '' : ` (and ${queues.length - 1} more)`;
  return {
    rule: 'queue_unusable',
    severity: lastedMs >= CRITICAL_QUEUE_MS ? 'critical' : 'warning',
    sentence: `The queue has refused the work of ${process} (${roles})${others} since ${instant(sinceMs)}: ${reason}. Webhooks are persisted, and are applied when the queue works again. No event is lost.`,
    nextStep: `${remedy} npx tallyhook doctor checks it`,
    detail: { process, roles, reason, processes: queues.length },
  };
}

/** What stays undone without a role. */
const UNDONE: Readonly<Record<string, string>> = {
  receiver: 'Webhooks are not accepted; the service retries each for a day',
  events: 'Webhooks are persisted and not applied, so the ledger falls behind',
  reconcile: 'The ledger is not compared with the service, and lost webhooks are not repaired',
  alerts: 'Nobody is notified: alerts are only in the console and in npx tallyhook alerts list',
  console: 'The console and the admin API do not respond',
};
const CRITICAL_ROLES: readonly string[] = ['receiver', 'events', 'alerts'];

/** A process that is replaced, or that stops cleanly, is no alert. */
export function roleNotRunning({ missingRoles }: SystemFacts): SystemAlert | undefined {
  const [longest] = missingRoles;
  if (!longest) return undefined;
  const roles = missingRoles.map(({ role }) => role);
  const undone = roles.flatMap((role) => (UNDONE[role] === undefined ? [] : [UNDONE[role]]));
  const named = `the role${roles.length === 1 ? '' : 's'} ${roles.join(', ')}`;
  return {
    rule: 'role_not_running',
    severity: roles.some((role) => CRITICAL_ROLES.includes(role)) ? 'critical' : 'warning',
    sentence:
      `No process has ${named}. ${longest.process}, the last one, has not reported since ${instant(longest.seenMs)} and did not stop cleanly. ${undone.map((text) => `${text}. `).join('')}`.trim(),
    nextStep: `Start a process with ${named}, and read why the last one ended: the end of its log, and the log of its machine. npx tallyhook processes shows what runs`,
    detail: { roles, process: longest.process },
  };
}
