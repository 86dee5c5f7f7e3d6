/** The list of findings, and the acceptance of one. */
import type { ComponentChildren } from 'preact';
import { z } from 'zod';
import { acceptFindingAs } from '../../actions/acceptFinding.ts';
import { cursor, number, reasonGiven } from '../../console/schemas.ts';
import { findingMeaning } from '../../ledger/domain/findings.ts';
import {
  FINDING_STATES,
  type FindingRow,
  readFinding,
  searchFindings,
} from '../../ledger/read/store/findings.ts';
import { numberCursor, numberPlace, readCursor } from '../../representation/cursor.ts';
import { notAcceptedText } from '../../representation/finding.ts';
import { type Column, DataTable, KeyValues, Section } from '../components/blocks.tsx';
import {
  ActionForm,
  Check,
  Field,
  FilterForm,
  Hidden,
  Reason,
  RowsForm,
  Select,
} from '../components/forms.tsx';
import { Badge, Id, Time, type Tone } from '../components/values.tsx';
import {
  acceptFindingsHref,
  findingHref,
  findingsHref,
  type LinkQuery,
  subjectHref,
} from '../links.ts';
import { emptyText, ListEnd, PAGE_SIZE } from '../lists/ListFrame.tsx';
import { defineAction, definePage, type Viewer } from '../page.ts';
import { Related, readRelated } from '../related/Related.tsx';
import { acceptSeveral } from './acceptPage.tsx';
import { Facts } from './Facts.tsx';
import { detailDigest, findingClass, findingSubject } from './findingFilter.ts';

export const findingsPage = definePage({
  path: '/findings',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({
    state: z.enum([...FINDING_STATES, 'any']).default('open'),
    class: findingClass.optional(),
    subject: findingSubject.optional(),
    cursor,
  }),
  load: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const { rows: findings, next } = await searchFindings(
      db,
      {
        state: query.state === 'any' ? undefined : query.state,
        findingClass: query.class,
        subject: query.subject,
      },
      { below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER, limit: PAGE_SIZE },
    );
    return { outcome: 'ok', data: { findings, next: numberCursor(next), query } };
  },
  topics: () => ['findings'],
  view: ({ findings, next, query: { cursor: current, ...filter } }, viewer) => ({
    title: 'Findings',
    body: (
      <>
        <FilterForm action={findingsHref()}>
          <Select
            name="state"
            label="State"
            value={filter.state}
            options={[...FINDING_STATES, 'any']}
          />
          <Field name="class" label="Class" value={filter.class} />
          <Field name="subject" label="About" value={filter.subject} />
        </FilterForm>
        <Choice
          viewer={viewer}
          filter={{ class: filter.class, subject: filter.subject }}
          list={findingsHref({ ...filter, cursor: current })}
          isEmpty={findings.every(({ state }) => state !== 'open')}
        >
          <DataTable
            caption="Findings, newest first"
            columns={
              viewer.may(acceptSeveral.permission) ? COLUMNS.toSpliced(1, 0, SELECT) : COLUMNS
            }
            rows={findings}
            keyOf={(row) => String(row.id)}
            empty={emptyText(
              { current, next },
              'No finding matches: the ledger and the service agree on everything that was compared.',
            )}
          />
        </Choice>
        <ListEnd
          found={findings.length}
          query={filter}
          current={current}
          next={next}
          hrefOf={findingsHref}
        />
      </>
    ),
  }),
});

/** Around the table: the way to accept the selected findings, or all of the filter. */
function Choice({
  viewer,
  filter,
  list,
  isEmpty,
  children,
}: {
  readonly viewer: Viewer;
  readonly filter: LinkQuery;
  /** The page with its filter, to which the acceptance leads back. */
  readonly list: string;
  /** No finding is open. */
  readonly isEmpty: boolean;
  readonly children: ComponentChildren;
}) {
  if (isEmpty || !viewer.may(acceptSeveral.permission)) return <>{children}</>;
  return (
    <RowsForm action={acceptFindingsHref()}>
      <Hidden name="next" value={list} />
      {children}
      <p class="choices">
        <button type="submit">Accept the checked findings</button>{' '}
        <a href={acceptFindingsHref({ ...filter, next: list })}>
          Accept all open findings of this filter
        </a>
      </p>
    </RowsForm>
  );
}

const SELECT: Column<FindingRow> = {
  title: 'Select',
  cell: ({ id, state }) =>
    state === 'open' ? (
      <Check
        name="finding"
        value={String(id)}
        label={<span class="hidden">{`Select finding ${id}`}</span>}
      />
    ) : null,
};

const COLUMNS: readonly Column<FindingRow>[] = [
  {
    title: 'Finding',
    cell: (row) => <a href={findingHref(row.id)}>{`${row.id}: ${row.class}`}</a>,
  },
  { title: 'State', cell: ({ state }) => <FindingState state={state} /> },
  { title: 'Meaning', cell: (row) => <p class="sentence">{findingMeaning(row.class)}</p> },
  { title: 'About', cell: ({ subject }) => <Id id={subject} href={subjectHref(subject)} /> },
  { title: 'Opened', cell: ({ openedAt }) => <Time at={openedAt} /> },
];

const TONES: Readonly<Record<FindingRow['state'], Tone>> = {
  open: 'warn',
  accepted: 'plain',
  closed: 'good',
};

function FindingState({ state }: Pick<FindingRow, 'state'>) {
  return <Badge tone={TONES[state]}>{state}</Badge>;
}

const params = z.strictObject({ finding_number: number });

export const acceptFinding = defineAction({
  path: '/findings/{finding_number}/accept',
  permission: 'operate',
  params,
  form: z.strictObject({ facts: detailDigest, reason: reasonGiven }),
  act: async ({ db }, { params: { finding_number: place }, form: { facts, reason }, actor }) => {
    const chosen = { number: place, digest: facts, reason };
    const { outcome } = await acceptFindingAs({ db }, actor, chosen);
    if (outcome === 'accepted') {
      const notice = `Finding ${place} is accepted. It closes by itself when its cause is gone.`;
      return { outcome: 'done', to: findingHref(place), notice };
    }
    const message = notAcceptedText(place, outcome);
    if (outcome === 'unknown') return { outcome: 'not_found', message };
    const about = { label: `Show finding ${place}`, href: findingHref(place) };
    return { outcome: 'conflict', message, about };
  },
});

export const findingPage = definePage({
  path: '/findings/{finding_number}',
  permission: 'read',
  params,
  query: z.strictObject({}),
  load: async ({ db }, { params: { finding_number: place } }) => {
    const row = await readFinding(db, place);
    if (row) {
      const related = await readRelated(db, [row.subject]);
      const findings = related.findings.filter(({ id: other }) => other !== place);
      return { outcome: 'ok', data: { finding: row, related: { ...related, findings } } };
    }
    const message = `There is no finding ${place}. Retention removes closed findings after some time.`;
    return { outcome: 'not_found', message };
  },
  topics: ({ finding }) => [`finding:${finding.id}`, 'alerts'],
  view: ({ finding, related }, viewer) => ({
    title: `Finding ${finding.id}: ${finding.class}`,
    crumbs: [{ label: 'Findings', href: findingsHref() }],
    body: (
      <>
        <p>{findingMeaning(finding.class)}</p>
        <Summary finding={finding} />
        <Section title="Facts">
          <Facts detail={finding.detail} />
        </Section>
        <Related related={related} />
        {finding.state === 'open' ? (
          <Section title="Accept it">
            <p>It no longer counts as a difference, and counts again if its facts change.</p>
            <ActionForm
              viewer={viewer}
              action={acceptFinding}
              params={{ finding_number: finding.id }}
              label="Accept"
            >
              <Hidden name="facts" value={finding.digest} />
              <Reason />
            </ActionForm>
          </Section>
        ) : null}
      </>
    ),
  }),
});

function Summary({ finding }: { readonly finding: FindingRow }) {
  const { subject, state, acceptedAt, acceptedBy, acceptedReason } = finding;
  return (
    <KeyValues
      rows={[
        ['State', <FindingState key="state" state={state} />],
        ['About', <Id key="subject" id={subject} href={subjectHref(subject)} />],
        ['Opened', <Time key="opened" at={finding.openedAt} />],
        ['Updated', <Time key="updated" at={finding.updatedAt} />],
        ['Closed', <Time key="closed" at={finding.closedAt} />],
        ...(acceptedAt === null
          ? []
          : [['Accepted', `by ${acceptedBy}: ${acceptedReason}`] as const]),
      ]}
    />
  );
}
