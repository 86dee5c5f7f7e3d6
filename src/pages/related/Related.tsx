/** Alerts and findings about what a page shows, with links to them. */
import { ruleTitle } from '../../alerts/domain/ruleTitles.ts';
import { type AlertRow, readAlertsAbout } from '../../alerts/store/alertRows.ts';
import { findingMeaning } from '../../ledger/domain/findings.ts';
import { type FindingRow, readFindingsAbout } from '../../ledger/read/store/findings.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type Column, DataTable, Section } from '../components/blocks.tsx';
import { Badge, Id, Time } from '../components/values.tsx';
import { alertHref, findingHref, subjectHref } from '../links.ts';

export interface RelatedRows {
  readonly alerts: readonly AlertRow[];
  readonly findings: readonly FindingRow[];
  readonly isComplete: boolean;
}

const MAX_RELATED = 50;

/** @param subjects as in `payment:pay_1` */
export async function readRelated(
  db: Queryable,
  subjects: readonly string[],
): Promise<RelatedRows> {
  const alerts = await readAlertsAbout(db, subjects, MAX_RELATED + 1);
  const findings = await readFindingsAbout(db, subjects, MAX_RELATED + 1);
  return {
    alerts: alerts.slice(0, MAX_RELATED),
    findings: findings.slice(0, MAX_RELATED),
    isComplete: alerts.length <= MAX_RELATED && findings.length <= MAX_RELATED,
  };
}

export function Related({ related }: { readonly related: RelatedRows }) {
  const { alerts, findings, isComplete } = related;
  return (
    <Section title="Alerts and findings">
      {alerts.length + findings.length === 0 ? <p class="empty">None.</p> : null}
      {alerts.length === 0 ? null : (
        <DataTable
          caption="Alerts, newest first"
          columns={ALERTS}
          rows={alerts}
          keyOf={({ id }) => String(id)}
          empty="None."
        />
      )}
      {findings.length === 0 ? null : (
        <DataTable
          caption="Findings, newest first"
          columns={FINDINGS}
          rows={findings}
          keyOf={({ id }) => String(id)}
          empty="None."
        />
      )}
      {isComplete ? null : <p>{`Only the newest ${MAX_RELATED} of each are shown.`}</p>}
    </Section>
  );
}

const ALERTS: readonly Column<AlertRow>[] = [
  {
    title: 'Alert',
    cell: ({ id, rule }) => <a href={alertHref(id)}>{`${id}: ${ruleTitle(rule)}`}</a>,
  },
  {
    title: 'State',
    cell: ({ state }) => <Badge tone={state === 'open' ? 'warn' : 'plain'}>{state}</Badge>,
  },
  { title: 'About', cell: ({ subject }) => <Id id={subject} href={subjectHref(subject)} /> },
  { title: 'Opened', cell: ({ openedAt }) => <Time at={openedAt} /> },
];

const FINDINGS: readonly Column<FindingRow>[] = [
  {
    title: 'Finding',
    cell: (row) => (
      <p class="sentence">
        <a href={findingHref(row.id)}>{`${row.id}: ${findingMeaning(row.class)}`}</a>
      </p>
    ),
  },
  {
    title: 'State',
    cell: ({ state }) => <Badge tone={state === 'open' ? 'warn' : 'plain'}>{state}</Badge>,
  },
  { title: 'About', cell: ({ subject }) => <Id id={subject} href={subjectHref(subject)} /> },
  { title: 'Opened', cell: ({ openedAt }) => <Time at={openedAt} /> },
];
