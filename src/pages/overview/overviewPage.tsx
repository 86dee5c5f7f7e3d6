/** The overview: is money flowing, and is anything wrong? */
import { z } from 'zod';
import type { AlertLine } from '../../overview/alertLines.ts';
import { type Deadline, idOf } from '../../overview/deadlines.ts';
import { type Overview, readOverview, SHOWN_ROWS } from '../../overview/readOverview.ts';
import { foundText } from '../../reconcile/domain/verdict.ts';
import { roughly } from '../../representation/roughly.ts';
import { Severity } from '../alerts/alertsPage.tsx';
import { type Column, DataTable, KeyValues, Section } from '../components/blocks.tsx';
import { Badge, Id, Marked, Money, Time } from '../components/values.tsx';
import {
  alertHref,
  alertsHref,
  authorizationsHref,
  inboxHref,
  reconciliationHref,
  runHref,
  subjectHref,
} from '../links.ts';
import { definePage } from '../page.ts';
import { RunVerdict } from '../reconciliation/runColumns.tsx';
import { Processes } from '../system/Processes.tsx';
import { MoneyByDay } from './MoneyByDay.tsx';

const MONEY_DAYS = 30;

export const overviewPage = definePage({
  path: '/',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({}),
  load: async ({ db, clock }) => ({
    outcome: 'ok',
    data: await readOverview(db, { nowMs: clock.nowMs(), moneyDays: MONEY_DAYS }),
  }),
  topics: () => ['ledger', 'alerts', 'inbox', 'runs', 'system'],
  view: (overview) => {
    const { headline, deadlines, totals, nowMs, processes } = overview;
    return {
      title: 'Overview',
      body: (
        <>
          <p class={`headline ${headline.tone}`}>
            <Marked text={headline.text} />
          </p>
          <OpenAlerts {...overview} />
          <NearDeadlines deadlines={deadlines} />
          <MoneyByDay totals={totals} todayMs={nowMs} days={MONEY_DAYS} />
          <Events {...overview} />
          <LastRuns {...overview} />
          <Section title="Processes">
            <Processes rows={processes} />
          </Section>
        </>
      ),
    };
  },
});

function OpenAlerts({
  alerts,
  headline,
  unresolved,
}: Pick<Overview, 'alerts' | 'headline' | 'unresolved'>) {
  return (
    <Section title="Alerts">
      <DataTable
        caption="Not resolved, the most severe first"
        columns={ALERT_LINES}
        rows={alerts}
        keyOf={({ key }) => key}
        empty={
          // Beside webhooks that are not applied, it would contradict the headline.
          ['good', 'plain'].includes(headline.tone)
            ? 'No alert is open: nothing waits for a person.'
            : 'No alert is open.'
        }
      />
      <p>
        <a href={alertsHref()}>
          {unresolved > SHOWN_ROWS ? `All ${unresolved} alerts` : 'All alerts'}
        </a>
      </p>
    </Section>
  );
}

const ALERT_LINES: readonly Column<AlertLine>[] = [
  {
    title: 'Alert',
    cell: ({ severity, rule, text, alert }) => (
      <>
        <Severity severity={severity} />{' '}
        <a href={alert === undefined ? alertsHref({ rule, severity }) : alertHref(alert)}>{text}</a>
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

function NearDeadlines({ deadlines }: Pick<Overview, 'deadlines'>) {
  return (
    <Section title="Deadlines of the next 48 hours">
      <DataTable
        caption="Nearest first"
        columns={DEADLINES}
        rows={deadlines}
        keyOf={({ what, subject, alert }) => `${what} ${subject} ${alert ?? ''}`}
        empty="None: no authorization expires, and no evidence is due."
      />
      <p>
        <a href={authorizationsHref()}>All authorizations</a>
      </p>
    </Section>
  );
}

/** The deadline comes first: a phone shows the beginning of a row. */
const DEADLINES: readonly Column<Deadline>[] = [
  { title: 'Deadline', cell: ({ at }) => <Time at={at} isRelative /> },
  {
    title: 'What',
    cell: ({ what, alert }) => (alert === undefined ? what : <a href={alertHref(alert)}>{what}</a>),
  },
  {
    title: 'Amount',
    isNumber: true,
    cell: ({ amountMinor, currency }) => <Money amountMinor={amountMinor} currency={currency} />,
  },
  {
    title: 'About',
    cell: (deadline) => <Id id={idOf(deadline)} href={subjectHref(deadline.subject)} />,
  },
];

function Events({ inbox, flow }: Pick<Overview, 'inbox' | 'flow'>) {
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

function LastRuns({ runs, pause, missed }: Pick<Overview, 'runs' | 'pause' | 'missed'>) {
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
