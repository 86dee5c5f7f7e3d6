/** What an event changed, with links to it. */
import { ruleTitle } from '../../alerts/domain/ruleTitles.ts';
import type { AlertRow } from '../../alerts/store/alertRows.ts';
import type { NumberedChange } from '../../ledger/domain/changes.ts';
import { findingMeaning } from '../../ledger/domain/findings.ts';
import type { FindingRow } from '../../ledger/read/store/findings.ts';
import type { MessageRow } from '../../notify/store/messageRows.ts';
import {
  type ChangedResource,
  type EventChanges as Changes,
  MAX_OF_EVENT,
} from '../../trail/eventChanges.ts';
import { effectText, noChangeText } from '../../trail/eventChangesText.ts';
import { type Column, DataTable, Section } from '../components/blocks.tsx';
import { Badge, Id } from '../components/values.tsx';
import { EVENT_COLUMNS } from '../ledger/columns.tsx';
import {
  alertHref,
  findingHref,
  messageHref,
  resourceBodiesHref,
  resourceHref,
  subjectHref,
} from '../links.ts';

export function EventChanges({ changes }: { readonly changes: Changes }) {
  const { noChange, orderWebhooks, transfers } = changes;
  const findings = concerns(changes.findingsOpened, changes.findingsClosed, 'closed');
  const alerts = concerns(changes.alertsOpened, changes.alertsResolved, 'resolved');
  return (
    <Section title="What it changed">
      {noChange === undefined ? null : <p>{noChangeText(noChange)}</p>}
      <Rows
        caption="Resources of which it brought a snapshot"
        columns={RESOURCES}
        rows={changes.resources}
      />
      <Rows caption="Changes of the change feed" columns={CHANGES} rows={changes.changes} />
      <Rows caption="Transfers of the journal" columns={EVENT_COLUMNS} rows={transfers} />
      <Rows caption="Order webhooks that followed" columns={WEBHOOKS} rows={orderWebhooks} />
      <Rows caption="Findings that it opened or closed" columns={FINDINGS} rows={findings} />
      <Rows caption="Alerts that it opened or resolved" columns={ALERTS} rows={alerts} />
      {noChange === undefined && transfers.length === 0 ? <p>It moved no money.</p> : null}
      {changes.isComplete ? null : <p>{`Only the first ${MAX_OF_EVENT} of each are shown.`}</p>}
    </Section>
  );
}

/** A table, if there is anything to show. */
function Rows<Row>({
  caption,
  columns,
  rows,
}: {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
}) {
  if (rows.length === 0) return null;
  return (
    <DataTable
      caption={caption}
      columns={columns}
      rows={rows}
      keyOf={(row) => String(rows.indexOf(row))}
      empty=""
    />
  );
}

/** A finding or an alert, and what the event did to it. */
interface Concern<Row> {
  readonly row: Row;
  readonly how: string;
}

function concerns<Row>(
  opened: readonly Row[],
  ended: readonly Row[],
  how: string,
): readonly Concern<Row>[] {
  return [...opened.map((row) => ({ row, how: 'opened' })), ...ended.map((row) => ({ row, how }))];
}

const RESOURCES: readonly Column<ChangedResource>[] = [
  {
    title: 'Resource',
    cell: ({ kind, id }) => (
      <>
        {kind} <Id id={id} href={resourceHref(kind, id)} />
      </>
    ),
  },
  {
    title: 'Status',
    cell: ({ effect }) => (effect ? effectText(effect) : 'one of too many snapshots to place it'),
  },
  {
    title: 'Snapshot',
    cell: ({ kind, id }) => <a href={resourceBodiesHref(kind, id)}>Compare the snapshots</a>,
  },
];

const CHANGES: readonly Column<NumberedChange>[] = [
  { title: 'Change', cell: ({ number }) => number },
  {
    title: 'Of',
    cell: ({ kind, id, orderKey }) => (
      <>
        {kind} <Id id={id} href={subjectHref(`${kind}:${orderKey ?? id}`)} />
      </>
    ),
  },
  {
    title: 'Status',
    cell: ({ change, previousStatus, status }) =>
      change === 'status' ? `${previousStatus ?? 'new'} → ${status}` : `${status}, as before`,
  },
];

const WEBHOOKS: readonly Column<MessageRow>[] = [
  {
    title: 'Message',
    cell: ({ number, id }) => <Id id={id} href={messageHref(number)} />,
  },
  { title: 'Type', cell: ({ content }) => (content.kind === 'order' ? content.type : '') },
  { title: 'State', cell: ({ state }) => state },
];

const FINDINGS: readonly Column<Concern<FindingRow>>[] = [
  {
    title: 'Finding',
    cell: ({ row }) => (
      <a href={findingHref(row.id)}>{`${row.id}: ${findingMeaning(row.class)}`}</a>
    ),
  },
  { title: 'By this event', cell: ({ how }) => how },
  { title: 'State now', cell: ({ row }) => <State state={row.state} /> },
  { title: 'About', cell: ({ row }) => <Id id={row.subject} href={subjectHref(row.subject)} /> },
];

const ALERTS: readonly Column<Concern<AlertRow>>[] = [
  {
    title: 'Alert',
    cell: ({ row }) => <a href={alertHref(row.id)}>{`${row.id}: ${ruleTitle(row.rule)}`}</a>,
  },
  { title: 'By this event', cell: ({ how }) => how },
  { title: 'State now', cell: ({ row }) => <State state={row.state} /> },
  { title: 'About', cell: ({ row }) => <Id id={row.subject} href={subjectHref(row.subject)} /> },
];

function State({ state }: { readonly state: string }) {
  return <Badge tone={state === 'open' ? 'warn' : 'plain'}>{state}</Badge>;
}
