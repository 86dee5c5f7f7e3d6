/** What stands in the inbox and among the findings, for Prometheus. */
import type { Queryable } from '../platform/db/database.ts';
import type { Source } from '../platform/sources.ts';
import { FINDING_CLASSES } from './domain/findings.ts';
import { measureFindings, measureInbox } from './store/gauges.ts';

export function ledgerSources(db: Queryable): readonly Source[] {
  return [inboxSource(db), findingsSource(db)];
}

function inboxSource(db: Queryable): Source {
  return {
    name: 'inbox',
    gauges: {
      tallyhook_pending_events: { help: 'Events that are stored and wait to be applied' },
      tallyhook_pending_retried_events: {
        help: 'Of the events that wait, those that were tried at least once without success',
      },
      tallyhook_pending_oldest_age_seconds: {
        help: 'How long the oldest event that waits has waited; 0 when none does',
      },
      tallyhook_dead_events: { help: 'Events that were given up and not put back' },
      tallyhook_webhook_last_received_timestamp_seconds: {
        help: 'When the newest event was received; absent while there is none',
      },
    },
    read: async () => {
      const inbox = await measureInbox(db);
      const last = inbox.lastReceivedSeconds;
      return [
        { gauge: 'tallyhook_pending_events', value: inbox.pending },
        { gauge: 'tallyhook_pending_retried_events', value: inbox.retried },
        { gauge: 'tallyhook_pending_oldest_age_seconds', value: inbox.oldestAgeSeconds },
        { gauge: 'tallyhook_dead_events', value: inbox.dead },
        ...(last === null
          ? []
          : [{ gauge: 'tallyhook_webhook_last_received_timestamp_seconds', value: last }]),
      ];
    },
  };
}

const FINDINGS_OPEN = 'tallyhook_findings_open';

function findingsSource(db: Queryable): Source {
  return {
    name: 'findings',
    gauges: {
      [FINDINGS_OPEN]: {
        help: 'Findings that are open, by class; an accepted one no longer counts as a difference',
        labels: ['class', 'accepted'],
      },
    },
    read: async () => {
      const none = Object.keys(FINDING_CLASSES).map((name) => ({
        class: name,
        isAccepted: false,
        findings: 0,
      }));
      return [...none, ...(await measureFindings(db))].map((row) => ({
        gauge: FINDINGS_OPEN,
        labels: { class: row.class, accepted: String(row.isAccepted) },
        value: row.findings,
      }));
    },
  };
}
