/** The overview: is money flowing, and is anything wrong? */
import { z } from 'zod';
import {
  type AlertRow,
  countByRule,
  countUnresolved,
  type RuleCount,
  readDisputeDeadlines,
  readUrgentAlerts,
  type SeverityCount,
} from '../../alerts/store/alertRows.ts';
import {
  type OpenAuthorization,
  readOpenAuthorizations,
} from '../../authorizations/store/openAuthorizations.ts';
import { sumMinor } from '../../contract/money.ts';
import { CAPTURABLE_STATUSES } from '../../contract/statuses.ts';
import {
  type FlowMeasure,
  type InboxMeasure,
  measureFlow,
  measureInbox,
} from '../../ledger/gauges.ts';
import { type ProcessRow, readProcesses } from '../../monitor/store/processes.ts';
import type { Database } from '../../platform/db/database.ts';
import { DAY_MS } from '../../platform/time.ts';
import { type Pause, readPause } from '../../reconcile/store/pauses.ts';
import { countMissed } from '../../reconcile/store/progress.ts';
import { type RunRow, readRuns } from '../../reconcile/store/runs.ts';
import { STREAMS } from '../../reconcile/streams.ts';
import { roughly } from '../../representation/roughly.ts';
import { Severity } from '../alerts/alertsPage.tsx';
import { type Column, DataTable, KeyValues, Section } from '../components/blocks.tsx';
import { Badge, Id, Money, Time } from '../components/values.tsx';
import {
  alertHref,
  alertsHref,
  authorizationsHref,
  inboxHref,
  reconciliationHref,
  resourceHref,
  runHref,
  subjectHref,
} from '../links.ts';
import { definePage } from '../page.ts';
import { RunVerdict } from '../reconciliation/runColumns.tsx';
import { missingRoles, Processes } from '../system/Processes.tsx';
import { type AlertLine, alertLines, moneyOf } from './alertLines.ts';
import { type FlowFacts, headlineOf } from './headline.ts';
import { MoneyByDay } from './MoneyByDay.tsx';
import { MONEY_DAYS, readMoney } from './recentMoney.ts';

/** Enough to see what is wrong; the pages of alerts and authorizations have all. */
const SHOWN_ROWS = 10;
/** More than an installation has. */
const SHOWN_PROCESSES = 200;
/** Most of those that are not part of a burst. */
const READ_ALERTS = 50;
const DUE_WITHIN_MS = 2 * DAY_MS;

export const overviewPage = definePage({
  path: '/',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({}),
  load: async ({ db, clock }) => {
    const nowMs = clock.nowMs();
    const [open, inbox, flow, reconciled, processes] = await Promise.all([
      readOpen(db, new Date(nowMs + DUE_WITHIN_MS)),
      measureInbox(db),
      measureFlow(db),
      readReconciled(db),
      readProcesses(db, SHOWN_PROCESSES),
    ]);
    const totals = await readMoney(db);
    return {
      outcome: 'ok',
      data: { nowMs, totals, inbox, flow, processes, ...open, ...reconciled },
    };
  },
  topics: () => ['ledger', 'alerts', 'inbox', 'runs', 'system'],
  view: (data) => {
    const { alerts, groups, holds, disputes, totals, nowMs, inbox, flow, runs, pause, missed } =
      data;
    const { tone, text } = headlineOf(factsOf(data));
    return {
      title: 'Overview',
      body: (
        <>
          <p class={`headline ${tone}`}>{text}</p>
          <OpenAlerts alerts={alerts} groups={groups} />
          <NearDeadlines holds={holds} disputes={disputes} />
          <MoneyByDay totals={totals} todayMs={nowMs} days={MONEY_DAYS} />
          <Events inbox={inbox} flow={flow} />
          <LastRuns runs={runs} pause={pause} missed={missed} />
          <Section title="Processes">
            <Processes rows={data.processes} />
          </Section>
        </>
      ),
    };
  },
});

/** What waits for a person. */
async function readOpen(db: Database, dueBefore: Date) {
  const [alerts, counts, groups, disputes, holds] = await Promise.all([
    readUrgentAlerts(db, READ_ALERTS),
    countUnresolved(db),
    countByRule(db),
    readDisputeDeadlines(db, { before: dueBefore, limit: SHOWN_ROWS }),
    readOpenAuthorizations(db, {
      statuses: [...CAPTURABLE_STATUSES],
      after: undefined,
      dueBefore,
      limit: SHOWN_ROWS,
    }),
  ]);
  return { alerts, counts, groups, disputes, holds };
}

async function readReconciled(db: Database) {
  const [pause, runs, missed] = await Promise.all([
    readPause(db),
    readLastRuns(db),
    countMissed(db, DAY_MS),
  ]);
  return { pause, runs, missed };
}

function factsOf({
  nowMs,
  inbox,
  alerts,
  counts,
  pause,
  processes,
}: {
  readonly nowMs: number;
  readonly inbox: InboxMeasure;
  readonly alerts: readonly AlertRow[];
  readonly counts: readonly SeverityCount[];
  readonly pause: Pause | undefined;
  readonly processes: readonly ProcessRow[];
}): FlowFacts {
  const last = inbox.lastReceivedSeconds;
  return {
    secondsSinceEvent: last === null ? undefined : Math.max(0, nowMs / 1000 - last),
    isSilent: alerts.some(({ rule }) => rule === 'webhooks_stopped'),
    pending: inbox.pending,
    oldestPendingSeconds: inbox.oldestAgeSeconds,
    dead: inbox.dead,
    isPaused: pause !== undefined,
    missingRoles: missingRoles(processes),
    critical: alertsOf(counts, 'critical'),
    warnings: alertsOf(counts, 'warning'),
  };
}

function alertsOf(counts: readonly SeverityCount[], severity: string): number {
  return sumMinor(counts.filter((row) => row.severity === severity).map(({ alerts }) => alerts));
}

/** The last run of each list. */
async function readLastRuns(db: Database): Promise<readonly RunRow[]> {
  const below = Number.MAX_SAFE_INTEGER;
  const lists = await Promise.all(
    STREAMS.map((stream) => readRuns(db, { stream, below, limit: 1 })),
  );
  return lists.flat();
}

function OpenAlerts({
  alerts,
  groups,
}: {
  readonly alerts: readonly AlertRow[];
  readonly groups: readonly RuleCount[];
}) {
  const all = sumMinor(groups.map((group) => group.alerts));
  const lines = alertLines(alerts, groups);
  return (
    <Section title="Alerts">
      <DataTable
        caption="Not resolved, the most severe first"
        columns={ALERT_LINES}
        rows={lines.slice(0, SHOWN_ROWS)}
        keyOf={({ key }) => key}
        empty="No alert is open: nothing waits for a person."
      />
      <p>
        <a href={alertsHref()}>{all > SHOWN_ROWS ? `All ${all} alerts` : 'All alerts'}</a>
      </p>
    </Section>
  );
}

const ALERT_LINES: readonly Column<AlertLine>[] = [
  {
    title: 'Alert',
    cell: ({ severity, text, href }) => (
      <>
        <Severity severity={severity} /> <a href={href}>{text}</a>
      </>
    ),
  },
  {
    title: 'Opened',
    cell: ({ openSince, isHandled }) => (
      <>
        <Time at={openSince} isRelative />
        {isHandled ? ', in hand' : ''}
      </>
    ),
  },
];

/** Something with a deadline, whatever it is. */
interface Deadline {
  readonly key: string;
  readonly subject: string;
  readonly href: string | undefined;
  readonly what: string;
  readonly at: Date;
  readonly amountMinor: number | null;
  readonly currency: string | null;
  readonly alert: number | undefined;
}

function NearDeadlines({
  holds,
  disputes,
}: {
  readonly holds: readonly OpenAuthorization[];
  readonly disputes: readonly AlertRow[];
}) {
  return (
    <Section title="Deadlines of the next 48 hours">
      <DataTable
        caption="Nearest first"
        columns={DEADLINES}
        rows={deadlinesOf(holds, disputes)}
        keyOf={({ key }) => key}
        empty="None: no authorization expires, and no evidence is due."
      />
      <p>
        <a href={authorizationsHref()}>All authorizations</a>
      </p>
    </Section>
  );
}

function deadlinesOf(
  holds: readonly OpenAuthorization[],
  disputes: readonly AlertRow[],
): readonly Deadline[] {
  const expiring = holds.map(
    ({ paymentId, deadlineAt, capturableMinor, currency }): Deadline => ({
      key: `hold ${paymentId}`,
      subject: paymentId,
      href: resourceHref('payment', paymentId),
      what: 'The authorization expires',
      at: deadlineAt,
      amountMinor: capturableMinor,
      currency,
      alert: undefined,
    }),
  );
  const due = disputes.flatMap((alert): readonly Deadline[] =>
    alert.deadlineAt === null
      ? []
      : [
          {
            key: `alert ${alert.id}`,
            subject: alert.subject.slice(alert.subject.indexOf(':') + 1),
            href: subjectHref(alert.subject),
            what: 'Evidence is due',
            at: alert.deadlineAt,
            amountMinor: moneyOf(alert)?.amountMinor ?? null,
            currency: moneyOf(alert)?.currency ?? null,
            alert: alert.id,
          },
        ],
  );
  return [...expiring, ...due].toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

const DEADLINES: readonly Column<Deadline>[] = [
  { title: 'About', cell: ({ subject, href }) => <Id id={subject} href={href} /> },
  {
    title: 'What',
    cell: ({ what, alert }) => (alert === undefined ? what : <a href={alertHref(alert)}>{what}</a>),
  },
  {
    title: 'Amount',
    isNumber: true,
    cell: ({ amountMinor, currency }) => <Money amountMinor={amountMinor} currency={currency} />,
  },
  { title: 'Deadline', cell: ({ at }) => <Time at={at} isRelative /> },
];

function Events({ inbox, flow }: { readonly inbox: InboxMeasure; readonly flow: FlowMeasure }) {
  const last = inbox.lastReceivedSeconds;
  const { typicalSeconds, longestSeconds } = flow;
  return (
    <Section title="Events">
      <KeyValues
        rows={[
          [
            'Last event',
            <Time key="last" at={last === null ? null : new Date(last * 1000)} isRelative />,
          ],
          ['In the last minute', flow.lastMinute],
          [
            'From the reply to applied',
            typicalSeconds === null || longestSeconds === null
              ? 'no recent change'
              : `${roughly(typicalSeconds)}; at most ${roughly(longestSeconds)} lately`,
          ],
          [
            'Pending',
            <a key="pending" href={inboxHref({ state: 'pending' })}>
              {inbox.pending}
            </a>,
          ],
          ['Oldest pending', inbox.pending === 0 ? 'none' : roughly(inbox.oldestAgeSeconds)],
          [
            'Dead',
            <a key="dead" href={inboxHref({ state: 'dead' })}>
              {inbox.dead}
            </a>,
          ],
        ]}
      />
    </Section>
  );
}

function LastRuns({
  runs,
  pause,
  missed,
}: {
  readonly runs: readonly RunRow[];
  readonly pause: Pause | undefined;
  readonly missed: number;
}) {
  return (
    <Section title="Reconciliation">
      {pause ? (
        <p>
          <Badge tone="warn">paused</Badge> {`by ${pause.pausedBy}: ${pause.reason}`}
        </p>
      ) : null}
      <KeyValues
        rows={[
          ...runs.map(
            (run) =>
              [
                run.stream,
                <a key={run.stream} href={runHref(run.id)}>
                  <RunVerdict run={run} /> {foundText(run)}, <Time at={run.startedAt} isRelative />
                </a>,
              ] as const,
          ),
          ['Missed webhooks in 24 hours', missed],
        ]}
      />
      <p>
        <a href={reconciliationHref()}>What was compared, and when</a>
      </p>
    </Section>
  );
}

function foundText({ found, repaired }: RunRow): string {
  if (found === 0) return 'nothing found';
  return `${found} found, ${repaired} repaired, ${found - repaired} left`;
}
