/** Whether the database lost acknowledged events in a failover. */
import { instant } from '../../../alerts/domain/format.ts';
import { counted } from '../../../platform/counted.ts';
import type { SystemFacts } from '../facts.ts';
import type { SystemAlert } from '../systemAlert.ts';

/** Active until every list was compared with the service; without an API key, for 30 days. */
export function acknowledgedLost({ losses, reconciliation }: SystemFacts): SystemAlert | undefined {
  if (!losses) return undefined;
  const { events, refused, firstReceivedMs, lastReceivedMs } = losses;
  const [first, last] = [instant(firstReceivedMs), instant(lastReceivedMs)];
  const received = first === last ? `at ${first}` : `between ${first} and ${last}`;
  const compared = reconciliation
    ? 'Reconciliation compares the last eight days with the service now; this alert resolves itself when it has.'
    : 'No API key is set, so the ledger cannot be compared with the service.';
  return {
    rule: 'acknowledged_lost',
    severity: 'critical',
    sentence: `A failover of the database lost ${counted(events + refused, 'event')} that Tallyhook had acknowledged, received ${received}: the standby that took over did not have them. ${keptBy(events, refused)} What others wrote in the same seconds may be missing: registered amounts, actions of operators, events of a receiver that ended with the database. ${compared}`,
    nextStep:
      refused > 0
        ? 'Correct what refuses these events before a receiver restarts: its log has receiver.acknowledged_event_refused with the id and the reason of each. The section acknowledged_lost of the runbook has the rest'
        : 'Read the section acknowledged_lost of the runbook: repeat what people and the shop did in these seconds, and make replication synchronous, so that it does not happen again',
    detail: {
      events,
      refused,
      firstReceivedAt: new Date(firstReceivedMs).toISOString(),
      lastReceivedAt: new Date(lastReceivedMs).toISOString(),
    },
  };
}

/** What became of the events that the receivers still had. */
function keptBy(events: number, refused: number): string {
  if (refused === 0) return 'The receiver still had these and has persisted them again.';
  const rest = events > 0 ? `Receivers have persisted ${counted(events, 'event')} again. ` : '';
  return `${rest}The database refuses ${counted(refused, 'event')}, so that only the memory of a receiver has them: it tries each again every minute, and forgets them when it stops.`;
}
