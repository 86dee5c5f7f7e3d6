/** Gauges of the inbox, open findings, the proof, the chain and the days of bodies, for Prometheus. */
import type { Queryable } from '../platform/db/database.ts';
import { measurementOf, type Source } from '../platform/sources.ts';
import { readBodyDaysAhead } from './bodies/store/days.ts';
import { FINDING_CLASSES } from './domain/findings.ts';
import { measureUnchained } from './store/chain.ts';
import { measureFindings, measureInbox } from './store/gauges.ts';
import { readProof } from './store/verifyRounds.ts';

export { type FlowMeasure, type InboxMeasure, measureFlow, measureInbox } from './store/gauges.ts';

export function ledgerSources(db: Queryable): readonly Source[] {
  return [inboxSource(db), findingsSource(db), proofSource(db), chainSource(db), bodiesSource(db)];
}

function inboxSource(db: Queryable): Source {
  return {
    name: 'inbox',
    gauges: {
      tallyhook_pending_events: { help: 'Events in the inbox that are not applied yet' },
      tallyhook_pending_retried_events: {
        help: 'Pending events with at least one failed attempt',
      },
      tallyhook_pending_oldest_age_seconds: {
        help: 'Age of the oldest pending event in seconds; 0 if there is none',
      },
      tallyhook_dead_events: {
        help: 'Events that failed all their attempts and were not replayed',
      },
      tallyhook_webhook_last_received_timestamp_seconds: {
        help: 'Time when the newest event was received, in seconds since 1970; absent if there is none',
      },
    },
    read: async () => {
      const inbox = await measureInbox(db);
      return [
        { gauge: 'tallyhook_pending_events', value: inbox.pending },
        { gauge: 'tallyhook_pending_retried_events', value: inbox.retried },
        { gauge: 'tallyhook_pending_oldest_age_seconds', value: inbox.oldestAgeSeconds },
        { gauge: 'tallyhook_dead_events', value: inbox.dead },
        ...measurementOf(
          'tallyhook_webhook_last_received_timestamp_seconds',
          inbox.lastReceivedSeconds,
        ),
      ];
    },
  };
}

function bodiesSource(db: Queryable): Source {
  const gauge = 'tallyhook_body_partitions_ahead';
  return {
    name: 'bodies',
    gauges: {
      [gauge]: { help: 'Days after today for which bodies have a partition; -1 if today has none' },
    },
    read: async () => [{ gauge, value: await readBodyDaysAhead(db) }],
  };
}

const FINDINGS_OPEN = 'tallyhook_findings_open';

function findingsSource(db: Queryable): Source {
  return {
    name: 'findings',
    gauges: {
      [FINDINGS_OPEN]: {
        help: 'Open findings by class; an accepted one no longer counts as a difference',
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

function proofSource(db: Queryable): Source {
  return {
    name: 'proof',
    gauges: {
      tallyhook_verify_last_run_timestamp_seconds: {
        help: 'Time when verify last began, in seconds since 1970; absent before its first run',
      },
      tallyhook_verify_last_full_timestamp_seconds: {
        help: 'Time by which verify last had proven every row, in seconds since 1970; absent before that',
      },
      tallyhook_verify_round_ratio: {
        help: 'Share of the ledger that verify has proven in its current round, 0 to 1',
      },
      tallyhook_verify_failed_subjects: {
        help: 'Resources, orders and events that failed a check of verify and have not passed since',
      },
    },
    read: async () => {
      const { lastRunMs, fullAtMs, ranges, checked, failures } = await readProof(db);
      return [
        ...measurementOf('tallyhook_verify_last_run_timestamp_seconds', secondsOf(lastRunMs)),
        ...measurementOf('tallyhook_verify_last_full_timestamp_seconds', secondsOf(fullAtMs)),
        { gauge: 'tallyhook_verify_round_ratio', value: ranges === 0 ? 0 : checked / ranges },
        { gauge: 'tallyhook_verify_failed_subjects', value: failures },
      ];
    },
  };
}

function chainSource(db: Queryable): Source {
  return {
    name: 'chain',
    gauges: {
      tallyhook_unchained_transfers: {
        help: 'Transfers that are not in the chain yet; counted up to 10,000',
      },
      tallyhook_unchained_oldest_age_seconds: {
        help: 'Age of the oldest of them in seconds; 0 if there is none',
      },
    },
    read: async () => {
      const { transfers, oldestAgeSeconds } = await measureUnchained(db);
      return [
        { gauge: 'tallyhook_unchained_transfers', value: transfers },
        { gauge: 'tallyhook_unchained_oldest_age_seconds', value: oldestAgeSeconds },
      ];
    },
  };
}

function secondsOf(ms: number | null): number | null {
  return ms === null ? null : ms / 1_000;
}
