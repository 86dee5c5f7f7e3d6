/** The list of alerts. */
import { z } from 'zod';
import { RULES, SEVERITIES } from '../../alerts/domain/alert.ts';
import { ruleTitle } from '../../alerts/domain/ruleTitles.ts';
import { ALERT_STATES, type AlertRow, readAlertRows } from '../../alerts/store/alertRows.ts';
import { cursor } from '../../console/schemas.ts';
import { cutPage, numberPlace, readCursor } from '../../representation/cursor.ts';
import { type Column, DataTable, Pager } from '../components/blocks.tsx';
import { FilterForm, Select } from '../components/forms.tsx';
import { Badge, Time, type Tone } from '../components/values.tsx';
import { alertHref, alertsHref } from '../links.ts';
import { definePage } from '../page.ts';

const PAGE_SIZE = 50;
const UNRESOLVED = 'unresolved';

export const alertsPage = definePage({
  path: '/alerts',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({
    state: z.enum([UNRESOLVED, ...ALERT_STATES, 'any']).default(UNRESOLVED),
    severity: z.enum(SEVERITIES).optional(),
    rule: z.enum(RULES).optional(),
    cursor,
  }),
  load: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const rows = await readAlertRows(db, {
      states: statesOf(query.state),
      severity: query.severity,
      rule: query.rule,
      below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER,
      limit: PAGE_SIZE + 1,
    });
    const { shown, next } = cutPage(rows, PAGE_SIZE, (row) => [row.id]);
    return { outcome: 'ok', data: { alerts: shown, next, query } };
  },
  topics: () => ['alerts'],
  view: ({ alerts, next, query: { cursor: current, ...filter } }) => ({
    title: 'Alerts',
    body: (
      <>
        <Filter {...filter} />
        <DataTable
          caption="Alerts, newest first"
          columns={ALERT_COLUMNS}
          rows={alerts}
          keyOf={({ id }) => String(id)}
          empty="No alert matches: nothing waits for a person. Resolved alerts are listed with the state any."
        />
        <Pager
          first={current === undefined ? undefined : alertsHref(filter)}
          next={next === null ? undefined : alertsHref({ ...filter, cursor: next })}
        />
      </>
    ),
  }),
});

function statesOf(state: string): readonly AlertRow['state'][] | undefined {
  if (state === 'any') return undefined;
  const one = ALERT_STATES.find((known) => known === state);
  return one === undefined ? ['open', 'acknowledged'] : [one];
}

interface FilterProps {
  readonly state: string;
  readonly severity?: string | undefined;
  readonly rule?: string | undefined;
}

function Filter({ state, severity, rule }: FilterProps) {
  return (
    <FilterForm action={alertsHref()}>
      <Select
        name="state"
        label="State"
        value={state}
        options={[UNRESOLVED, ...ALERT_STATES, 'any']}
      />
      <Select name="severity" label="Severity" value={severity} any="Any" options={SEVERITIES} />
      <Select
        name="rule"
        label="Rule"
        value={rule}
        any="Any"
        options={RULES.map((value) => ({ value, label: ruleTitle(value) }))}
      />
    </FilterForm>
  );
}

export const ALERT_COLUMNS: readonly Column<AlertRow>[] = [
  {
    title: 'Alert',
    cell: ({ id, rule }) => <a href={alertHref(id)}>{`${id}: ${ruleTitle(rule)}`}</a>,
  },
  { title: 'Severity', cell: ({ severity }) => <Severity severity={severity} /> },
  { title: 'State', cell: (alert) => <Badge>{stateText(alert)}</Badge> },
  { title: 'What happened', cell: ({ sentence }) => sentence },
  { title: 'Deadline', cell: ({ deadlineAt }) => <Time at={deadlineAt} /> },
  { title: 'Opened', cell: ({ openedAt }) => <Time at={openedAt} /> },
];

const TONES: Readonly<Record<AlertRow['severity'], Tone>> = {
  info: 'plain',
  warning: 'warn',
  critical: 'bad',
};

export function Severity({ severity }: Pick<AlertRow, 'severity'>) {
  return <Badge tone={TONES[severity]}>{severity}</Badge>;
}

export function stateText({ state, snoozedUntil, assignedTo }: AlertRow): string {
  const isSnoozed = state !== 'resolved' && snoozedUntil !== null;
  const parts = [state, isSnoozed ? 'snoozed' : '', assignedTo === null ? '' : `for ${assignedTo}`];
  return parts.filter((part) => part !== '').join(', ');
}
