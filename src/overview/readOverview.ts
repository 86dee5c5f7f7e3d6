/**
 * The overview: is money flowing, and is anything wrong? The console's first page and `tallyhook status`
 * both show what this reads, so they never differ.
 */
import {
  countByRule,
  countUnresolved,
  readDisputeDeadlines,
  readUrgentAlerts,
  type SeverityCount,
} from '../alerts/store/alertRows.ts';
import { readOpenAuthorizations } from '../authorizations/store/openAuthorizations.ts';
import { sumMinor } from '../contract/money.ts';
import { CAPTURABLE_STATUSES } from '../contract/statuses.ts';
import {
  type FlowMeasure,
  type InboxMeasure,
  measureFlow,
  measureInbox,
} from '../ledger/gauges.ts';
import { readNewestOutcomes } from '../ledger/inbox/store/arrivals.ts';
import type { DatedTotals } from '../ledger/read/store/dayTotals.ts';
import { missingRoles, roleStateOf } from '../monitor/domain/missingRoles.ts';
import { SIGNATURE_WINDOW_MS } from '../monitor/domain/rules/webhooks.ts';
import { type ProcessRow, readProcesses } from '../monitor/store/processes.ts';
import { readMismatchedSince } from '../monitor/store/watch.ts';
import type { Database } from '../platform/db/database.ts';
import { DAY_MS } from '../platform/time.ts';
import { type Pause, readPause } from '../reconcile/store/pauses.ts';
import { countMissed } from '../reconcile/store/progress.ts';
import { type RunRow, readRuns } from '../reconcile/store/runs.ts';
import { STREAMS } from '../reconcile/streams.ts';
import { type AlertLine, alertLines } from './alertLines.ts';
import { type Deadline, deadlinesOf } from './deadlines.ts';
import { type FlowFacts, type Headline, headlineOf } from './domain/headline.ts';
import { readMoney } from './recentMoney.ts';

/** Enough to see what is wrong; the lists of alerts and authorizations have all. */
export const SHOWN_ROWS = 10;
/** More than an installation has. */
const SHOWN_PROCESSES = 200;
/** Most of those that are not part of a burst. */
const READ_ALERTS = 50;
/** A single event of another account does not mean that none is applied. */
const NEWEST_EVENTS = 3;
const DUE_WITHIN_MS = 2 * DAY_MS;

export interface Overview {
  readonly nowMs: number;
  readonly headline: Headline;
  /** The most severe first. */
  readonly alerts: readonly AlertLine[];
  /** All that are not resolved. */
  readonly unresolved: number;
  /** Of the next 48 hours, the nearest first. */
  readonly deadlines: readonly Deadline[];
  /** By day and currency, up to today. */
  readonly totals: readonly DatedTotals[];
  readonly inbox: InboxMeasure;
  readonly flow: FlowMeasure;
  /** The last run of each list. */
  readonly runs: readonly RunRow[];
  readonly pause: Pause | undefined;
  /** Missed webhooks of the last 24 hours. */
  readonly missed: number;
  /** Missing ones first. */
  readonly processes: readonly ProcessRow[];
}

/** @param moneyDays for how many days up to today money is summed */
export async function readOverview(
  db: Database,
  { nowMs, moneyDays }: { readonly nowMs: number; readonly moneyDays: number },
): Promise<Overview> {
  const [open, inbox, flow, reconciled, processes] = await Promise.all([
    readOpen(db, { now: new Date(nowMs), dueBefore: new Date(nowMs + DUE_WITHIN_MS) }),
    measureInbox(db),
    measureFlow(db),
    readReconciled(db),
    readProcesses(db, SHOWN_PROCESSES),
  ]);
  const { counts, ...shown } = open;
  const totals = await readMoney(db, moneyDays);
  const last = inbox.lastReceivedSeconds;
  const lastMs = last === null ? null : last * 1000;
  const mismatched = await readMismatchedSince(db, lastMs, SIGNATURE_WINDOW_MS);
  const headline = headlineOf({
    secondsSinceEvent: last === null ? undefined : Math.max(0, nowMs / 1000 - last),
    rejected: mismatched.recent,
    newest: await readNewestOutcomes(db, NEWEST_EVENTS),
    pending: inbox.pending,
    oldestPendingSeconds: inbox.oldestAgeSeconds,
    applier: roleStateOf(processes, 'events'),
    dead: inbox.dead,
    isPaused: reconciled.pause !== undefined,
    hasProcess: processes.length > 0,
    missingRoles: missingRoles(processes),
    ...counts,
  });
  return { nowMs, headline, totals, inbox, flow, processes, ...shown, ...reconciled };
}

/** What waits for a person. */
async function readOpen(
  db: Database,
  { now, dueBefore }: { readonly now: Date; readonly dueBefore: Date },
) {
  const [urgent, counts, groups, disputes, holds] = await Promise.all([
    readUrgentAlerts(db, READ_ALERTS),
    countUnresolved(db),
    countByRule(db),
    readDisputeDeadlines(db, { before: dueBefore, limit: SHOWN_ROWS }),
    readOpenAuthorizations(db, {
      statuses: [...CAPTURABLE_STATUSES],
      // One that is over has an alert. It stays a hold until the service reports its end.
      after: { deadlineAt: now, paymentId: '' },
      dueBefore,
      limit: SHOWN_ROWS,
    }),
  ]);
  return {
    alerts: alertLines(urgent, groups).slice(0, SHOWN_ROWS),
    unresolved: sumMinor(groups.map((group) => group.alerts)),
    deadlines: deadlinesOf(holds, disputes),
    counts: {
      isSilent: urgent.some(({ rule }) => rule === 'webhooks_stopped'),
      critical: alertsOf(counts, 'critical'),
      warnings: alertsOf(counts, 'warning'),
    } satisfies Partial<FlowFacts>,
  };
}

function alertsOf(counts: readonly SeverityCount[], severity: string): number {
  return sumMinor(counts.filter((row) => row.severity === severity).map(({ alerts }) => alerts));
}

async function readReconciled(db: Database) {
  const [pause, runs, missed] = await Promise.all([
    readPause(db),
    readLastRuns(db),
    countMissed(db, { windowMs: DAY_MS, sinceMs: null }),
  ]);
  return { pause, runs, missed };
}

async function readLastRuns(db: Database): Promise<readonly RunRow[]> {
  const below = Number.MAX_SAFE_INTEGER;
  const lists = await Promise.all(
    STREAMS.map((stream) => readRuns(db, { stream, below, limit: 1 })),
  );
  return lists.flat();
}
