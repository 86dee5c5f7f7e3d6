/** The audit log, with filters and as CSV. */
import { z } from 'zod';
import { AUDIT_ACTIONS, type AuditResult } from '../../audit/domain/entry.ts';
import { parseSubject } from '../../audit/domain/subject.ts';
import { type AuditFilter, type AuditRow, searchAudit } from '../../audit/store/audit.ts';
import { cursor } from '../../console/schemas.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { linkedPages } from '../../platform/keyset.ts';
import { DAY_MS } from '../../platform/time.ts';
import { numberCursor, numberPlace, readCursor } from '../../representation/cursor.ts';
import { auditCsv } from '../../representation/listCsv.ts';
import { type Column, DataTable } from '../components/blocks.tsx';
import { Field, FilterForm, Select } from '../components/forms.tsx';
import { Badge, Id, Time, type Tone } from '../components/values.tsx';
import { defineDownload } from '../download.ts';
import { auditCsvHref, auditHref, thingHref } from '../links.ts';
import { emptyText, ListEnd, PAGE_SIZE } from '../lists/ListFrame.tsx';
import { definePage, type Viewer } from '../page.ts';
import { SYSTEM_CRUMB, SystemNav } from './SystemNav.tsx';
import { sessionPage } from './sessionsPage.tsx';
import { tokensPage } from './tokensPage.tsx';

const CSV_PAGE_SIZE = 1_000;

/** PostgreSQL reads no year of five digits, which the end of the last day would have. */
const day = z.iso
  .date()
  .refine(
    (text) => text >= '1970-01-01' && text < '9999-12-31',
    'must be a day since 1970, before 9999-12-31',
  )
  .optional();

const filter = {
  person: z.string().max(255).optional(),
  action: z.enum(AUDIT_ACTIONS).optional(),
  subject: z
    .string()
    .max(300)
    .refine((text) => parseSubject(text) !== undefined, {
      message: 'must be a kind and an id, such as payment:pay_1',
    })
    .optional(),
  from: day,
  to: day,
  open: z.literal('1').optional(),
};
const filterSchema = z.strictObject(filter);
type Filter = z.output<typeof filterSchema>;

function readFilter(query: Filter): AuditFilter {
  return {
    actor: query.person,
    action: query.action,
    subject: query.subject === undefined ? undefined : parseSubject(query.subject),
    orderKeys: undefined,
    since: query.from === undefined ? undefined : new Date(query.from),
    // The day named last is included.
    before: query.to === undefined ? undefined : new Date(Date.parse(query.to) + DAY_MS),
    isOpen: query.open !== undefined,
  };
}

export const auditCsvDownload = defineDownload({
  path: '/system/audit.csv',
  permission: 'read_audit',
  fileName: 'audit.csv',
  query: filterSchema,
  open: ({ db }, query) => ({
    outcome: 'ok',
    csv: auditCsv(),
    pages: readAll(db, readFilter(query)),
  }),
});

function readAll(db: Queryable, wanted: AuditFilter): AsyncIterable<readonly AuditRow[]> {
  return linkedPages<AuditRow, number>(undefined, (below = Number.MAX_SAFE_INTEGER) =>
    searchAudit(db, wanted, { below, limit: CSV_PAGE_SIZE }),
  );
}

export const auditPage = definePage({
  path: '/system/audit',
  permission: 'read_audit',
  params: z.strictObject({}),
  query: z.strictObject({ ...filter, cursor }),
  load: async ({ db }, { query: { cursor: current, ...query } }) => {
    const from = readCursor(current, numberPlace);
    if (from.outcome !== 'read') return from;
    const { rows: entries, next } = await searchAudit(db, readFilter(query), {
      below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER,
      limit: PAGE_SIZE,
    });
    return { outcome: 'ok', data: { entries, next: numberCursor(next), query, current } };
  },
  view: ({ entries, next, query, current }, viewer) => ({
    title: 'Audit log',
    crumbs: [SYSTEM_CRUMB],
    body: (
      <>
        <SystemNav viewer={viewer} current={auditHref()} />
        <FilterFields query={query} />
        <p>
          <a href={auditCsvHref(query)}>Download CSV</a>
        </p>
        <DataTable
          caption="Who did what, newest first"
          columns={columns(viewer)}
          rows={entries}
          keyOf={({ id }) => String(id)}
          empty={emptyText(
            { current, next },
            'No entry matches. Clear the filter, or widen its days.',
          )}
        />
        <ListEnd
          found={entries.length}
          query={query}
          current={current}
          next={next}
          hrefOf={auditHref}
        />
      </>
    ),
  }),
});

function FilterFields({ query }: { readonly query: Filter }) {
  return (
    <FilterForm action={auditHref()}>
      <Field name="person" label="Person" value={query.person} />
      <Select name="action" label="Action" value={query.action} any="Any" options={AUDIT_ACTIONS} />
      <Field
        name="subject"
        label="On what"
        value={query.subject}
        hint="A kind and an id: payment:pay_1"
      />
      <Field name="from" label="From (UTC)" type="date" value={query.from} />
      <Field name="to" label="To (UTC)" type="date" value={query.to} />
      <Select
        name="open"
        label="Result"
        value={query.open}
        any="Any"
        options={[{ value: '1', label: 'none yet: running, or unknown' }]}
      />
    </FilterForm>
  );
}

const TONES: Readonly<Record<AuditResult, Tone>> = {
  requested: 'plain',
  done: 'good',
  failed: 'bad',
  refused: 'warn',
  unknown: 'bad',
};

const columns = (viewer: Viewer): readonly Column<AuditRow>[] => [
  { title: 'Time', cell: ({ recordedAt }) => <Time at={recordedAt} /> },
  {
    title: 'Who',
    cell: ({ actorName, actorRole, actorOrigin }) => (
      <>
        <a href={auditHref({ person: actorName })}>{actorName}</a>
        <div class="cause">{`${actorRole}, ${actorOrigin}`}</div>
      </>
    ),
  },
  {
    title: 'Action',
    cell: ({ action, result }) => (
      <>
        {action} <Badge tone={TONES[result]}>{result}</Badge>
      </>
    ),
  },
  {
    title: 'On what',
    cell: ({ subjectKind: kind, subjectId: id }) => (
      <Id id={`${kind}:${id}`} href={mayOpen(kind, viewer) ? thingHref({ kind, id }) : undefined} />
    ),
  },
  { title: 'Reason', cell: ({ reason }) => reason },
  { title: 'Facts', cell: ({ detail }) => <Facts detail={detail} /> },
  { title: 'Attempt', isNumber: true, cell: ({ attempt }) => attempt },
];

/** The log names sessions and tokens to more roles than may open their pages. */
function mayOpen(kind: string, viewer: Viewer): boolean {
  const permission = new Map([
    ['session', sessionPage.permission],
    ['token', tokensPage.permission],
  ]).get(kind);
  return permission === undefined || viewer.may(permission);
}

function Facts({ detail }: Pick<AuditRow, 'detail'>) {
  return (
    <>
      {Object.entries(detail).map(([name, value]) => (
        <div key={name} class="cause">
          {`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`}
        </div>
      ))}
    </>
  );
}
