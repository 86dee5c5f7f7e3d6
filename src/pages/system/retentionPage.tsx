/** What is stored, how it grows, what the next run of retention removes, and what was archived. */
import { z } from 'zod';
import { type ArchivedClass, readArchivedClasses } from '../../archive/store/batches.ts';
import { counted } from '../../platform/counted.ts';
import { type ClassPlan, planRetention } from '../../retention/plan.ts';
import {
  readCountersSince,
  readTableActivity,
  type TableActivity,
} from '../../retention/store/tables.ts';
import { nextRetentionAt } from '../../scheduler/schedules.ts';
import { type Column, DataTable, Section } from '../components/blocks.tsx';
import { Time } from '../components/values.tsx';
import { retentionHref } from '../links.ts';
import { definePage } from '../page.ts';
import { SYSTEM_CRUMB, SystemNav } from './SystemNav.tsx';

const MAX_TABLES = 200;
/** Tables that are shown unfolded. */
const LARGEST = 12;

export const retentionPage = definePage({
  path: '/system/retention',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({}),
  load: async ({ db, clock, system: { retention, isArchiving } }) => {
    const [plans, tables, countersSince, archived] = await Promise.all([
      planRetention(db, retention),
      readTableActivity(db, MAX_TABLES),
      readCountersSince(db),
      readArchivedClasses(db),
    ]);
    const nextRun = nextRetentionAt(clock.nowMs());
    const data = { plans, tables, countersSince, archived, isArchiving, nextRun };
    return { outcome: 'ok', data };
  },
  view: ({ plans, tables, countersSince, archived, isArchiving, nextRun }, viewer) => ({
    title: 'Data and retention',
    crumbs: [SYSTEM_CRUMB],
    body: (
      <>
        <SystemNav viewer={viewer} current={retentionHref()} />
        <p>
          {'The next run is at '}
          <Time at={nextRun} />
          {
            ', if a process with the role scheduler runs. The journal, snapshots and the audit log are never removed.'
          }
        </p>
        <DataTable
          caption="What retention removes, by class"
          columns={PLANS}
          rows={plans}
          keyOf={({ name }) => name}
          empty="No class."
        />
        <Section title="Archive">
          <p>
            {isArchiving
              ? 'Rows are written to the archive before they are removed.'
              : 'Rows are removed without a copy. Set ARCHIVE_URL to archive them first.'}
          </p>
          <DataTable
            caption="What was archived and then removed, by class"
            columns={ARCHIVED}
            rows={archived}
            keyOf={({ className }) => className}
            empty="Nothing was archived."
          />
        </Section>
        <Section title="Tables">
          <Tables
            caption="The largest tables; rows are estimates of PostgreSQL, sizes include indexes"
            tables={tables.slice(0, LARGEST)}
          />
          {tables.length > LARGEST ? (
            <details>
              <summary>{`${tables.length - LARGEST} smaller tables`}</summary>
              <Tables caption="Smaller tables" tables={tables.slice(LARGEST)} />
            </details>
          ) : null}
          <p>
            {'Added and removed rows are counted since '}
            {countersSince === null ? 'the database was created' : <Time at={countersSince} />}.
          </p>
        </Section>
      </>
    ),
  }),
});

function Tables({
  caption,
  tables,
}: {
  readonly caption: string;
  readonly tables: readonly TableActivity[];
}) {
  return (
    <DataTable
      caption={caption}
      columns={TABLES}
      rows={tables}
      keyOf={({ table }) => table}
      empty="No table."
    />
  );
}

const count = (rows: number) => rows.toLocaleString('en');
const KIB = 1024;
const sizeOf = (bytes: number) =>
  bytes < KIB * KIB
    ? `${Math.round(bytes / KIB).toLocaleString('en')} KiB`
    : `${(bytes / KIB / KIB).toFixed(1)} MiB`;

const PLANS: readonly Column<ClassPlan>[] = [
  { title: 'Class', cell: ({ name }) => name },
  {
    title: 'Kept for',
    isNumber: true,
    cell: ({ days }) => (days === undefined ? 'ever' : counted(days, 'day')),
  },
  {
    title: 'Next run removes',
    isNumber: true,
    cell: ({ days, removable, isMoreRemovable, waitingDays }) => (
      <>
        {days === undefined
          ? 'nothing'
          : `${isMoreRemovable ? 'more than ' : ''}${count(removable)}`}
        {waitingDays === 0 ? null : (
          <div class="cause">{`${waitingDays} more past their time wait to be packed`}</div>
        )}
      </>
    ),
  },
  {
    title: 'Rows',
    isNumber: true,
    cell: ({ rows, areRowsEstimated }) => `${areRowsEstimated ? 'about ' : ''}${count(rows)}`,
  },
  { title: 'Size', isNumber: true, cell: ({ bytes }) => sizeOf(bytes) },
  { title: 'Oldest', cell: ({ oldest }) => <Time at={oldest} /> },
  {
    title: 'Removed so far',
    isNumber: true,
    cell: ({ removedRows, unit }) => `${count(removedRows)}${unit === undefined ? '' : ` ${unit}`}`,
  },
];

const ARCHIVED: readonly Column<ArchivedClass>[] = [
  { title: 'Class', cell: ({ className }) => className },
  { title: 'Batches', isNumber: true, cell: ({ batches }) => count(batches) },
  { title: 'Rows', isNumber: true, cell: ({ rows }) => count(rows) },
  { title: 'Size', isNumber: true, cell: ({ bytes }) => sizeOf(bytes) },
  { title: 'First', cell: ({ firstRemovedAt }) => <Time at={firstRemovedAt} /> },
  { title: 'Last', cell: ({ lastRemovedAt }) => <Time at={lastRemovedAt} /> },
];

const TABLES: readonly Column<TableActivity>[] = [
  { title: 'Table', cell: ({ table }) => <code>{table}</code> },
  { title: 'Size', isNumber: true, cell: ({ bytes }) => sizeOf(bytes) },
  { title: 'Rows', isNumber: true, cell: ({ estimatedRows }) => count(estimatedRows) },
  { title: 'Added', isNumber: true, cell: ({ inserted }) => count(inserted) },
  { title: 'Removed', isNumber: true, cell: ({ deleted }) => count(deleted) },
];
