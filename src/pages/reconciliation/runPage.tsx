/** One run: its span, what it compared, and each difference with its outcome. */
import { z } from 'zod';
import { counted } from '../../platform/counted.ts';
import { type ReportedDifference, type RunRow, readRun } from '../../reconcile/store/runs.ts';
import { type Column, DataTable, KeyValues, Section } from '../components/blocks.tsx';
import { ActionForm } from '../components/forms.tsx';
import { Badge, Id, Time, type Tone } from '../components/values.tsx';
import { reconciliationHref, subjectHref } from '../links.ts';
import { definePage, type Viewer } from '../page.ts';
import { stopRun } from './actions.ts';
import { percentOf, RunVerdict } from './runColumns.tsx';

export const runPage = definePage({
  path: '/reconciliation/{run_number}',
  permission: 'read',
  params: z.strictObject({
    run_number: z.coerce
      .number()
      .int()
      .min(1)
      .max(2 ** 31 - 1),
  }),
  query: z.strictObject({}),
  load: async ({ db }, { params }) => {
    const run = await readRun(db, params.run_number);
    if (run) return { outcome: 'ok', data: run };
    const message = `There is no run ${params.run_number}, or retention removed it. The page of reconciliation lists the others.`;
    return { outcome: 'not_found', message };
  },
  topics: (run) => [`run:${run.id}`],
  view: (run, viewer) => ({
    title: `Run ${run.id}`,
    crumbs: [{ label: 'Reconciliation', href: reconciliationHref() }],
    body: (
      <>
        {run.state === 'running' || run.state === 'paused' ? (
          <Progress run={run} viewer={viewer} />
        ) : null}
        <RunValues run={run} />
        {run.failure === null ? null : <p class="problem">{run.failure}</p>}
        <Section title="Differences">
          <DataTable
            caption={`${run.found} found; the first 200 are listed`}
            columns={DIFFERENCES}
            rows={run.differences}
            keyOf={({ class: name, subject }) => `${name} ${subject}`}
            empty="No difference was found."
          />
        </Section>
      </>
    ),
  }),
});

/** How much of its span a run has compared, up to its checkpoint, and how to stop it. */
function Progress({ run, viewer }: { readonly run: RunRow; readonly viewer: Viewer }) {
  const percent = percentOf(run);
  return (
    <>
      <p class="headline">
        {`${percent} % of the span is compared: ${run.found} found, ${run.repaired} repaired.`}
      </p>
      <progress max={100} value={percent} aria-label="Part of the span that is compared" />
      <p>{`So far ${counted(run.windows, 'window')} with ${counted(run.requests, 'request')} to the service.`}</p>
      <ActionForm
        viewer={viewer}
        action={stopRun}
        params={{ run_number: run.id }}
        label="Stop"
        isDangerous
      />
    </>
  );
}

function RunValues({ run }: { readonly run: RunRow }) {
  return (
    <KeyValues
      rows={[
        ['Verdict', <RunVerdict key="verdict" run={run} />],
        ['List', run.stream],
        ['Mode', run.mode],
        ['Cause', run.isDryRun ? `${run.cause}, dry run` : run.cause],
        ['State', run.stoppedBy === null ? run.state : `${run.state} by ${run.stoppedBy}`],
        ['Created from', <Time key="from" at={run.fromAt} />],
        ['Created to', <Time key="to" at={run.toAt} />],
        ['Compared up to', <Time key="checkpoint" at={run.positionAt} />],
        ['Started', <Time key="started" at={run.startedAt} />],
        ['Finished', <Time key="finished" at={run.finishedAt} />],
        ['Windows', run.windows],
        ['Requests', run.requests],
        ['Rows listed and compared', run.rowsCompared],
        ['Rows covered by equal counts', run.rowsCounted],
        ['Found', run.found],
        ['Repaired', run.repaired],
        ['Missed webhooks', run.missed],
        ['Sums of analytics', run.sums ?? 'not compared'],
      ]}
    />
  );
}

const TONES: Readonly<Record<ReportedDifference['outcome'], Tone>> = {
  repaired: 'good',
  would_repair: 'warn',
  accepted: 'plain',
  remaining: 'bad',
};

const DIFFERENCES: readonly Column<ReportedDifference>[] = [
  { title: 'Subject', cell: ({ subject }) => <Id id={subject} href={subjectHref(subject)} /> },
  { title: 'Difference', cell: (difference) => difference.class },
  {
    title: 'Outcome',
    cell: ({ outcome }) => <Badge tone={TONES[outcome]}>{outcome}</Badge>,
  },
];
