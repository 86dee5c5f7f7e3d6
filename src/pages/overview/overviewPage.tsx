/** The overview: is money flowing, and is anything wrong? */
import { z } from 'zod';
import { type AlertRow, readAlertRows } from '../../alerts/store/alertRows.ts';
import {
  type OpenAuthorization,
  readOpenAuthorizations,
} from '../../authorizations/store/openAuthorizations.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { CAPTURABLE_STATUSES } from '../../contract/statuses.ts';
import { type InboxMeasure, measureInbox } from '../../ledger/gauges.ts';
import { type ListTotals, readResourceTotals } from '../../ledger/read/resourceList.ts';

import type { Database } from '../../platform/db/database.ts';
import { DAY_MS } from '../../platform/time.ts';
import { type Pause, readPause } from '../../reconcile/store/pauses.ts';
import { type RunRow, readRuns } from '../../reconcile/store/runs.ts';
import { STREAMS } from '../../reconcile/streams.ts';
import { ALERT_COLUMNS } from '../alerts/alertsPage.tsx';
import { DataTable, KeyValues, Section } from '../components/blocks.tsx';
import { Badge, Id, Money, Time } from '../components/values.tsx';
import {
  alertsHref,
  authorizationsHref,
  inboxHref,
  reconciliationHref,
  resourceHref,
  resourcesHref,
} from '../links.ts';
import { definePage } from '../page.ts';
import { RunVerdict } from '../reconciliation/runColumns.tsx';

/** Enough to see what is wrong; the pages of alerts and authorizations have all. */
const SHOWN_ROWS = 10;
const DUE_WITHIN_MS = 2 * DAY_MS;

const KINDS = ['payment', 'refund', 'dispute', 'payout'] as const satisfies readonly ResourceKind[];

interface Created {
  readonly kind: ResourceKind;
  readonly totals: ListTotals;
}

export const overviewPage = definePage({
  path: '/',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({}),
  load: async ({ db, clock }) => {
    const nowMs = clock.nowMs();
    const [alerts, holds, inbox, pause, runs] = await Promise.all([
      readAlertRows(db, {
        states: ['open', 'acknowledged'],
        severity: undefined,
        rule: undefined,
        below: Number.MAX_SAFE_INTEGER,
        limit: SHOWN_ROWS,
      }),
      readOpenAuthorizations(db, {
        statuses: [...CAPTURABLE_STATUSES],
        after: undefined,
        dueBefore: new Date(nowMs + DUE_WITHIN_MS),
        limit: SHOWN_ROWS,
      }),
      measureInbox(db),
      readPause(db),
      readLastRuns(db),
    ]);
    const created = await readCreated(db, nowMs - DAY_MS);
    return { outcome: 'ok', data: { alerts, holds, inbox, pause, runs, created } };
  },
  view: ({ alerts, holds, inbox, pause, runs, created }) => ({
    title: 'Overview',
    body: (
      <>
        <OpenAlerts alerts={alerts} />
        <NearDeadlines holds={holds} />
        <Section title="Created in the last 24 hours">
          <DataTable
            caption="By the service's time of creation"
            columns={CREATED}
            rows={created}
            keyOf={({ kind }) => kind}
            empty="Nothing."
          />
        </Section>
        <Inbox inbox={inbox} />
        <LastRuns runs={runs} pause={pause} />
      </>
    ),
  }),
});

/** The last run of each list. */
async function readLastRuns(db: Database): Promise<readonly RunRow[]> {
  const below = Number.MAX_SAFE_INTEGER;
  const lists = await Promise.all(
    STREAMS.map((stream) => readRuns(db, { stream, below, limit: 1 })),
  );
  return lists.flat();
}

async function readCreated(db: Database, fromMs: number): Promise<readonly Created[]> {
  const read: Created[] = [];
  // One after another: the pool of the console is small.
  for (const kind of KINDS) {
    read.push({ kind, totals: await readResourceTotals(db, { kind, fromMicros: fromMs * 1000 }) });
  }
  return read;
}

function OpenAlerts({ alerts }: { readonly alerts: readonly AlertRow[] }) {
  return (
    <Section title="Alerts">
      <DataTable
        caption="Not resolved, newest first"
        columns={ALERT_COLUMNS}
        rows={alerts}
        keyOf={({ id }) => String(id)}
        empty="No alert is open: nothing waits for a person."
      />
      <p>
        <a href={alertsHref()}>All alerts</a>
      </p>
    </Section>
  );
}

function NearDeadlines({ holds }: { readonly holds: readonly OpenAuthorization[] }) {
  return (
    <Section title="Authorizations that expire within 48 hours">
      <DataTable
        caption="Nearest deadline first"
        columns={[
          {
            title: 'Payment',
            cell: ({ paymentId }) => (
              <Id id={paymentId} href={resourceHref('payment', paymentId)} />
            ),
          },
          {
            title: 'Capturable',
            isNumber: true,
            cell: ({ capturableMinor, currency }) => (
              <Money amountMinor={capturableMinor} currency={currency} />
            ),
          },
          { title: 'Deadline', cell: ({ deadlineAt }) => <Time at={deadlineAt} /> },
        ]}
        rows={holds}
        keyOf={({ paymentId }) => paymentId}
        empty="None."
      />
      <p>
        <a href={authorizationsHref()}>All authorizations</a>
      </p>
    </Section>
  );
}

const CREATED = [
  {
    title: 'Kind',
    cell: ({ kind }: Created) => <a href={resourcesHref(kind)}>{`${kind}s`}</a>,
  },
  {
    title: 'Number',
    isNumber: true,
    cell: ({ totals }: Created) => `${totals.count}${totals.isComplete ? '' : '+'}`,
  },
  { title: 'Amount', isNumber: true, cell: ({ totals }: Created) => <Sums totals={totals} /> },
];

function Sums({ totals }: Pick<Created, 'totals'>) {
  return (
    <>
      {totals.currencies.map(({ currency, amountMinor }) => (
        <div key={currency}>
          <Money amountMinor={amountMinor} currency={currency} />
        </div>
      ))}
    </>
  );
}

function Inbox({ inbox }: { readonly inbox: InboxMeasure }) {
  const last = inbox.lastReceivedSeconds;
  return (
    <Section title="Events">
      <KeyValues
        rows={[
          ['Last event', <Time key="last" at={last === null ? null : new Date(last * 1000)} />],
          ['Pending', inbox.pending],
          ['Oldest pending', `${Math.round(inbox.oldestAgeSeconds)} s`],
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
}: {
  readonly runs: readonly RunRow[];
  readonly pause: Pause | undefined;
}) {
  return (
    <Section title="Reconciliation">
      {pause ? (
        <p>
          <Badge tone="warn">paused</Badge> {`by ${pause.pausedBy}: ${pause.reason}`}
        </p>
      ) : null}
      <KeyValues
        rows={runs.map((run) => [
          run.stream,
          <span key={run.stream}>
            <RunVerdict run={run} /> <Time at={run.startedAt} />
          </span>,
        ])}
      />
      <p>
        <a href={reconciliationHref()}>What was compared, and when</a>
      </p>
    </Section>
  );
}
