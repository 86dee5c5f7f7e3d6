/** The columns of a list of runs. */
import type { Verdict } from '../../reconcile/domain/verdict.ts';
import { verdictOf } from '../../reconcile/domain/verdict.ts';
import type { RunRow } from '../../reconcile/store/runs.ts';
import type { Column } from '../components/blocks.tsx';
import { Badge, Time, type Tone } from '../components/values.tsx';
import { runHref } from '../links.ts';

export const RUN_COLUMNS: readonly Column<RunRow>[] = [
  { title: 'Run', cell: ({ id }) => <a href={runHref(id)}>{id}</a> },
  { title: 'List', cell: ({ stream }) => stream },
  { title: 'Verdict', cell: (run) => <RunVerdict run={run} /> },
  { title: 'Cause', cell: ({ cause, isDryRun }) => (isDryRun ? `${cause}, dry run` : cause) },
  { title: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
  {
    title: 'Compared',
    isNumber: true,
    cell: ({ rowsCompared, rowsCounted }) => rowsCompared + rowsCounted,
  },
  { title: 'Found', isNumber: true, cell: ({ found }) => found },
  { title: 'Repaired', isNumber: true, cell: ({ repaired }) => repaired },
  { title: 'Remaining', isNumber: true, cell: ({ found, repaired }) => found - repaired },
  { title: 'Missed webhooks', isNumber: true, cell: ({ missed }) => missed },
  { title: 'Requests', isNumber: true, cell: ({ requests }) => requests },
];

const TONES: Readonly<Record<Verdict, Tone>> = {
  equal: 'good',
  different: 'bad',
  empty: 'plain',
  failed: 'bad',
  stopped: 'plain',
  unfinished: 'warn',
};

export function RunVerdict({ run }: { readonly run: RunRow }) {
  const verdict = verdictOf(run);
  return <Badge tone={TONES[verdict]}>{verdict}</Badge>;
}

/** How much of its span a run has compared, up to its checkpoint. */
export function percentOf({ fromAt, toAt, positionAt }: RunRow): number {
  const spanMs = Math.max(1, toAt.getTime() - fromAt.getTime());
  const share = Math.min(1, (positionAt.getTime() - fromAt.getTime()) / spanMs);
  return Math.floor(share * 100);
}
