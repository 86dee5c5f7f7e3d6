/** The queues: whether they accept work, and each beside what is due by the database. */
import { z } from 'zod';
import { type QueueState, type QueuesReport, readQueues } from '../../monitor/read/queues.ts';
import type { FailedJob } from '../../platform/queue/index.ts';
import { roughly } from '../../representation/roughly.ts';
import { type Column, DataTable, Section } from '../components/blocks.tsx';
import { Time } from '../components/values.tsx';
import { inboxHref, queuesHref } from '../links.ts';
import { definePage } from '../page.ts';
import { SYSTEM_CRUMB, SystemNav } from './SystemNav.tsx';

export const queuesPage = definePage({
  path: '/system/queues',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({}),
  load: async (parts) => ({ outcome: 'ok', data: await readQueues(parts.queues, parts) }),
  topics: () => ['inbox', 'system'],
  view: (report, viewer) => ({
    title: 'Queues',
    crumbs: [SYSTEM_CRUMB],
    body: (
      <>
        <SystemNav viewer={viewer} current={queuesHref()} />
        <Verdict report={report} />
        <p>
          A queue is a hint: it wakes a process early. What is due is in the database, and the
          scheduler enqueues every ten seconds what the queue lost, so an empty or lost queue loses
          nothing. {`Events received in the last minute: ${report.eventsLastMinute}.`}
        </p>
        <DataTable
          caption="Jobs in each queue, beside what is due by the database"
          columns={COLUMNS}
          rows={report.queues}
          keyOf={({ name }) => name}
          empty="None."
        />
        <Failed queues={report.queues} />
      </>
    ),
  }),
});

function Verdict({ report: { backend, problem } }: { readonly report: QueuesReport }) {
  const where = backend === 'redis' ? 'Redis' : 'PostgreSQL';
  if (problem) {
    return (
      <p class="notice bad">
        {`The queues in ${where} refuse work: ${problem.reason}. ${problem.remedy} Webhooks are persisted meanwhile, and applied when the queue works again.`}
      </p>
    );
  }
  return (
    <p class="notice good">
      {`The queues are in ${where} and work: a job was added, claimed and finished.`}
    </p>
  );
}

const jobs =
  (state: 'waiting' | 'active' | 'delayed' | 'failed') =>
  ({ depth }: QueueState) =>
    depth ? depth.jobs[state] : '?';

/** Where what is due is listed. */
const DUE: Readonly<Record<QueueState['name'], { href: string; what: string } | undefined>> = {
  events: { href: inboxHref({ state: 'pending' }), what: 'pending' },
  reconcile: undefined,
};

const COLUMNS: readonly Column<QueueState>[] = [
  {
    title: 'Queue',
    cell: ({ name, error }) => (
      <>
        {name}
        {error === undefined ? null : <div>{error}</div>}
      </>
    ),
  },
  { title: 'Waiting', isNumber: true, cell: jobs('waiting') },
  {
    title: 'Oldest',
    cell: ({ oldestWaitingSeconds: age }) => (age === undefined ? 'none' : roughly(age)),
  },
  { title: 'Active', isNumber: true, cell: jobs('active') },
  { title: 'Delayed', isNumber: true, cell: jobs('delayed') },
  { title: 'Failed', isNumber: true, cell: jobs('failed') },
  {
    title: 'Due by the database',
    cell: ({ name, inDatabase }) => {
      const due = DUE[name];
      if (inDatabase === undefined || due === undefined) return 'by its schedules';
      const { due: count, oldestAgeSeconds } = inDatabase;
      return (
        <>
          <a href={due.href}>{`${count} ${due.what}`}</a>
          {count === 0 ? null : `, the oldest for ${roughly(oldestAgeSeconds)}`}
        </>
      );
    },
  },
  { title: 'What its jobs do', cell: ({ does }) => does },
];

interface FailedRow extends FailedJob {
  readonly queue: string;
}

function Failed({ queues }: { readonly queues: readonly QueueState[] }) {
  const rows = queues.flatMap(({ name, failed }) =>
    failed.map((job): FailedRow => ({ ...job, queue: name })),
  );
  return (
    <Section title="Failed jobs">
      {rows.length === 0 ? null : (
        <p>
          These used all their attempts and stay here for a week. Nothing has to be done for a job:
          what it was for is enqueued again from the database, or is a dead event in the inbox.
          Correct what the error states.
        </p>
      )}
      <DataTable
        caption="The newest ten of each queue"
        columns={FAILED}
        rows={rows}
        keyOf={({ queue, id }) => `${queue} ${id}`}
        empty="No job failed within a week."
      />
    </Section>
  );
}

const FAILED: readonly Column<FailedRow>[] = [
  { title: 'Job', cell: ({ queue, name }) => `${queue}: ${name}` },
  {
    title: 'Failed',
    cell: ({ failedMs }) => <Time at={failedMs === undefined ? null : new Date(failedMs)} />,
  },
  { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
  { title: 'Error', cell: ({ error }) => error },
];
