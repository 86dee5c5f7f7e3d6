/** Whether the database lost acknowledged events in a failover. */
import { counted, instant } from '../../../alerts/domain/format.ts';
import type { SystemFacts } from '../facts.ts';
import type { SystemAlert } from '../systemAlert.ts';

/** Active until every list was compared with the service; without an API key, for 30 days. */
export function acknowledgedLost({ losses, reconciliation }: SystemFacts): SystemAlert | undefined {
  if (!losses) return undefined;
  const { events, firstReceivedMs, lastReceivedMs } = losses;
  const [first, last] = [instant(firstReceivedMs), instant(lastReceivedMs)];
  const received = first === last ? `at ${first}` : `between ${first} and ${last}`;
  const compared = reconciliation
    ? 'Reconciliation compares the last eight days with the service now; this alert resolves itself when it has.'
    : 'No API key is set, so the ledger cannot be compared with the service.';
  return {
    rule: 'acknowledged_lost',
    severity: 'critical',
    sentence: `A failover of the database lost ${counted(events, 'event')} that Tallyhook had acknowledged, received ${received}: the standby that took over did not have them. The receiver still had these and has persisted them again. What others wrote in the same seconds may be missing: registered amounts, actions of operators, events of a receiver that ended with the database. ${compared}`,
    nextStep:
      'Read the section acknowledged_lost of the runbook: repeat what people and the shop did in these seconds, and make replication synchronous, so that it does not happen again',
    detail: {
      events,
      firstReceivedAt: new Date(firstReceivedMs).toISOString(),
      lastReceivedAt: new Date(lastReceivedMs).toISOString(),
    },
  };
}
