/** Records a step of a run: its checkpoint, with everything counted on the way to it. */
import { selectAcceptedFindings } from '../ledger/read/store/openFindings.ts';
import type { FindingName } from '../ledger/store/findings.ts';
import { closeUnusable } from './findings.ts';
import { RunTakenOver } from './interruptions.ts';
import type { RunContext } from './runContext.ts';
import { afterStep, type RunState, type Step } from './runState.ts';
import { type ReportedDifference, writeStep } from './store/runs.ts';

/**
 * Records a step that listed or counted, which shows that the list can be read.
 * @throws RunTakenOver
 */
export async function recordStep(run: RunContext, before: RunState, step: Step): Promise<RunState> {
  const state = await recordCheckpoint(run, before, step);
  await closeUnusable(run.parts.db, [run.stream]);
  return state;
}

/**
 * Adds a step to the state and writes the checkpoint; this alone shows nothing about the list.
 * @throws RunTakenOver
 */
export async function recordCheckpoint(
  run: RunContext,
  before: RunState,
  step: Step,
): Promise<RunState> {
  const { parts, row, requester, options } = run;
  const differences = await markAccepted(run, step.differences);
  const state = afterStep(before, { ...step, differences }, requester.requestCount());
  const { counts, checkpointMs, span } = state;
  // Before it is written: the check of a request in progress may see the row before this process gets the reply.
  run.checkpoint.windows = counts.windows;
  const last = { id: row.id, windows: before.counts.windows };
  const isWritten = await writeStep(parts.db, last, {
    ...counts,
    positionAt: new Date(checkpointMs),
    differences: state.differences,
  });
  if (!isWritten) throw new RunTakenOver();
  options.onProgress?.({ ...counts, span, checkpointMs });
  return state;
}

/** A difference that a person accepted no longer counts. */
async function markAccepted(
  { parts }: RunContext,
  differences: readonly ReportedDifference[],
): Promise<readonly ReportedDifference[]> {
  const remaining = differences.filter(({ outcome }) => outcome === 'remaining');
  if (remaining.length === 0) return differences;
  const nameOf = (finding: FindingName): string => `${finding.class} ${finding.subject}`;
  const accepted = new Set((await selectAcceptedFindings(parts.db, remaining)).map(nameOf));
  return differences.map((difference) =>
    difference.outcome === 'remaining' && accepted.has(nameOf(difference))
      ? { ...difference, outcome: 'accepted' }
      : difference,
  );
}
