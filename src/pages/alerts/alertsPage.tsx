/** The list of alerts. */
import type { ComponentChildren } from 'preact';
import { z } from 'zod';
import { RULES, SEVERITIES } from '../../alerts/domain/alert.ts';
import { ruleTitle } from '../../alerts/domain/ruleTitles.ts';
import {
  ALERT_STATES,
  type AlertRow,
  countByRule,
  type RuleCount,
  searchAlerts,
} from '../../alerts/store/alertRows.ts';
import { cursor } from '../../console/schemas.ts';
import { numberCursor, numberPlace, readCursor } from '../../representation/cursor.ts';
import { type Column, DataTable, Section } from '../components/blocks.tsx';
import {
  Check,
  Field,
  FilterForm,
  Hidden,
  Reason,
  RowsForm,
  Select,
} from '../components/forms.tsx';
import { Badge, Time, type Tone } from '../components/values.tsx';
import { actionHref, alertHref, alertsHref, channelsHref } from '../links.ts';
import { emptyText, ListEnd, PAGE_SIZE } from '../lists/ListFrame.tsx';
import { definePage, type Viewer } from '../page.ts';
import { handleAlerts, SNOOZE_CHOICES } from './alertActions.ts';

const UNRESOLVED = 'unresolved';
/** With more alerts of one rule than this, the page shows them by rule, too. */
const GROUPED_FROM = 3;

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
    const { rows: alerts, next } = await searchAlerts(
      db,
      { states: statesOf(query.state), severity: query.severity, rule: query.rule },
      { below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER, limit: PAGE_SIZE },
    );
    const isWhole = query.cursor === undefined && query.rule === undefined;
    const groups = isWhole && query.state === UNRESOLVED ? await countByRule(db) : [];
    return { outcome: 'ok', data: { alerts, groups, next: numberCursor(next), query } };
  },
  topics: () => ['alerts'],
  view: ({ alerts, groups, next, query: { cursor: current, ...filter } }, viewer) => ({
    title: 'Alerts',
    body: (
      <>
        <p>
          <a href={channelsHref()}>Channels</a>: who is notified, and whether it works.
        </p>
        <Filter {...filter} />
        {groups.some((group) => group.alerts > GROUPED_FROM) ? <Groups groups={groups} /> : null}
        <Choice
          viewer={viewer}
          list={alertsHref({ ...filter, cursor: current })}
          isEmpty={alerts.every(({ state }) => state === 'resolved')}
        >
          <DataTable
            caption="Alerts, newest first"
            columns={
              viewer.may(handleAlerts.permission)
                ? ALERT_COLUMNS.toSpliced(1, 0, SELECT)
                : ALERT_COLUMNS
            }
            rows={alerts}
            keyOf={({ id }) => String(id)}
            empty={emptyText(
              { current, next },
              'No alert matches: nothing waits for a person. Resolved alerts are listed with the state any.',
            )}
          />
        </Choice>
        <ListEnd
          found={alerts.length}
          query={filter}
          current={current}
          next={next}
          hrefOf={alertsHref}
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

function Groups({ groups }: { readonly groups: readonly RuleCount[] }) {
  return (
    <Section title="By rule">
      <DataTable
        caption="Unresolved alerts by rule, the most severe first"
        columns={GROUP_COLUMNS}
        rows={groups}
        keyOf={({ rule, severity }) => `${rule} ${severity}`}
        empty=""
      />
    </Section>
  );
}

const GROUP_COLUMNS: readonly Column<RuleCount>[] = [
  {
    title: 'Rule',
    cell: ({ rule, severity }) => <a href={alertsHref({ rule, severity })}>{ruleTitle(rule)}</a>,
  },
  { title: 'Severity', cell: ({ severity }) => <Severity severity={severity} /> },
  { title: 'Alerts', isNumber: true, cell: ({ alerts }) => alerts },
  {
    title: 'Newest',
    cell: ({ newest, sentence, alerts }) => (
      <>
        <a href={alertHref(newest)}>{newest}</a> {sentence}
        {alerts > 1 ? <span class="cause">{` ${alerts - 1} more like this.`}</span> : null}
      </>
    ),
  },
];

const SELECT: Column<AlertRow> = {
  title: 'Select',
  cell: ({ id, state }) =>
    state === 'resolved' ? null : (
      <Check
        name="alert"
        value={String(id)}
        label={<span class="hidden">{`Select alert ${id}`}</span>}
      />
    ),
};

/** Around the table: what is done about the selected alerts. */
function Choice({
  viewer,
  list,
  isEmpty,
  children,
}: {
  readonly viewer: Viewer;
  /** The page with its filter, to which the action leads back. */
  readonly list: string;
  readonly isEmpty: boolean;
  readonly children: ComponentChildren;
}) {
  if (isEmpty || !viewer.may(handleAlerts.permission)) return <>{children}</>;
  return (
    <RowsForm method="post" action={actionHref(handleAlerts.path, {})}>
      <input type="hidden" name="form_token" value={viewer.formToken} />
      <Hidden name="next" value={list} />
      {/* Enter in a field stands for the first button. This one does nothing, so that a person chooses. */}
      <span class="hidden" aria-hidden="true">
        <button type="submit" disabled />
      </span>
      {children}
      <fieldset class="choices">
        <legend>The selected alerts</legend>
        <Reason />
        <button type="submit" name="what" value="acknowledge">
          Acknowledge
        </button>
        <Select name="for" label="For" value="4h" options={SNOOZE_CHOICES} />
        <button type="submit" name="what" value="snooze">
          Snooze
        </button>
        <Field name="to" label="To" hint="Empty: to nobody." />
        <button type="submit" name="what" value="assign">
          Assign
        </button>
      </fieldset>
    </RowsForm>
  );
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

const ALERT_COLUMNS: readonly Column<AlertRow>[] = [
  {
    title: 'Alert',
    cell: ({ id, rule }) => <a class="name" href={alertHref(id)}>{`${id}: ${ruleTitle(rule)}`}</a>,
  },
  { title: 'Severity', cell: ({ severity }) => <Severity severity={severity} /> },
  { title: 'State', cell: (alert) => <Badge>{stateText(alert)}</Badge> },
  { title: 'What happened', cell: ({ sentence }) => <p class="sentence">{sentence}</p> },
  { title: 'Deadline', cell: ({ deadlineAt }) => <Time at={deadlineAt} isRelative /> },
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
