/** Whether events are applied. */
import { instant, span } from '../../../alerts/domain/format.ts';
import { counted } from '../../../platform/counted.ts';
import { MINUTE_MS } from '../../../platform/time.ts';
import type { SystemFacts } from '../facts.ts';
import type { SystemAlert } from '../systemAlert.ts';

/** An event is retried for two or three minutes before it is dead; a burst takes less. */
const BACKLOG_MS = 5 * MINUTE_MS;
const CRITICAL_BACKLOG_MS = 30 * MINUTE_MS;
const BACKLOG_RESOLVED_MS = MINUTE_MS;

/** Each dead event has an alert of its own; this many have a common cause. */
const MANY_DEAD = 10;

export function backlog({
  nowMs,
  oldestPendingMs,
  openRules,
}: SystemFacts): SystemAlert | undefined {
  if (oldestPendingMs === undefined) return undefined;
  const ageMs = nowMs - oldestPendingMs;
  if (ageMs < (openRules.has('backlog') ? BACKLOG_RESOLVED_MS : BACKLOG_MS)) return undefined;
  return {
    rule: 'backlog',
    severity: ageMs >= CRITICAL_BACKLOG_MS ? 'critical' : 'warning',
    sentence: `Events are not applied; the oldest has been pending for ${span(ageMs)} (since ${instant(oldestPendingMs)}). Orders may show a state of that age.`,
    nextStep:
      'Check that a process with the role events runs, then npx tallyhook events list --state pending',
    detail: { oldestPending: new Date(oldestPendingMs).toISOString() },
  };
}

export function deadEvents({ deadEvents: count }: SystemFacts): SystemAlert | undefined {
  if (count < MANY_DEAD) return undefined;
  return {
    rule: 'dead_events',
    severity: 'critical',
    sentence: `${counted(count, 'event')} could not be applied and are dead; so many probably have a common cause.`,
    nextStep:
      'npx tallyhook events list --state dead; when the cause is fixed: npx tallyhook events replay --dead',
    detail: { deadEvents: count },
  };
}
