/** Opens a run, or the earlier one that it continues. */

import { historyOf } from '../ledger/domain/importedHistory.ts';
import { readBeginningMs } from '../ledger/installation.ts';
import type { Queryable } from '../platform/db/database.ts';
import { DAY_MS, MINUTE_MS } from '../platform/time.ts';
import type { Span } from './domain/windows.ts';
import { openUnusable } from './findings.ts';
import { RunInterrupted, RunStopped, RunTakenOver } from './interruptions.ts';
import { createListReader, type ListReader } from './listReader.ts';
import { createRequester } from './requester.ts';
import type { ReconcileParts, RunContext, RunOptions, RunRequest } from './runContext.ts';
import { type Checkpoint, findLast, insertRun, type RunRow, readCheckpoint } from './store/runs.ts';
import { readStream, writeServiceSkew } from './store/streams.ts';
import { usableWatermark } from './watermark.ts';

/** What was created later is left to the next run. */
const CEILING_MS = MINUTE_MS;
/** How far before the watermark a tail begins. */
const OVERLAP_MS = 30 * MINUTE_MS;
/** What is imported without a start time, and what an import covers at least (run.ts, rule 6). */
export const FIRST_SPAN_MS = 120 * DAY_MS;
const RESUME_WITHIN_MS = DAY_MS;

/** Whether a run has ended for good: no request resumes it. */
function isOver({ state }: RunRow): boolean {
  return state === 'done' || state === 'stopped';
}

/**
 * The earlier run that a request continues (run.ts, rule 3): one that is not over, or, where a job is
 * retried for the span of its slot, one that is. A person who repeats a command wants a new run. One who names
 * no start wants the newest span, and not an import that is under way.
 */
export async function findEarlierRun(
  { db, clock }: ReconcileParts,
  request: RunRequest,
): Promise<RunRow | undefined> {
  const { fromMs, toMs, cause } = request;
  const bounds = {
    fromAt: fromMs === undefined ? undefined : new Date(fromMs),
    toAt: toMs === undefined ? undefined : new Date(toMs),
  };
  const since = new Date(clock.nowMs() - RESUME_WITHIN_MS);
  const last = await findLast(db, { ...request, ...bounds }, since);
  if (!last || last.fromAt >= last.toAt) return undefined;
  if (isOver(last)) {
    const isOfSlot = fromMs !== undefined && toMs !== undefined && cause !== 'operator';
    return isOfSlot ? last : undefined;
  }
  const mayBeAnother = cause === 'operator' && fromMs === undefined && last.state === 'running';
  return mayBeAnother && !(await isTail(db, last)) ? undefined : last;
}

/** Whether a run begins where a request without a start time would begin now. */
async function isTail(db: Queryable, { stream, fromAt, toAt }: RunRow): Promise<boolean> {
  const { watermarkAt } = await readStream(db, stream);
  return fromAt.getTime() === tailStartMs(watermarkAt, toAt.getTime());
}

/** Opens a run that was resumed, or begins a new one. @throws RunInterrupted */
export async function openRun(
  parts: ReconcileParts,
  request: RunRequest,
  { options, resumed }: { readonly options: RunOptions; readonly resumed: RunRow | undefined },
): Promise<RunContext> {
  const { db, client, clock } = parts;
  const { stream, isDryRun, lane } = request;
  let checkpoint = resumed && checkpointOf(resumed);
  const { pageLimit, watermarkAt, importedAt, serviceSkewMs } = await readStream(db, stream);
  const nowMs = clock.nowMs();
  const history = historyOf({
    installedMs: await readBeginningMs(db, nowMs),
    isImported: importedAt !== null,
    nowMs,
    skewMs: serviceSkewMs ?? 0,
  });
  const requester = createRequester({
    retrieve: parts.retrieve,
    lane,
    isDryRun,
    history,
    signal: options.signal,
    sleep: parts.sleep,
    requestsBefore: resumed?.requests ?? 0,
    throwIfLost: async () => {
      if (checkpoint) await throwIfLost(db, checkpoint);
    },
    onRateLimited: options.onRateLimited,
  });
  const reader = createListReader({
    client,
    stream,
    request: requester.request,
    nowMs: clock.nowMs,
    limit: pageLimit,
    account: parts.account,
  });
  const row = resumed ?? (await beginRun(parts, request, { reader, watermarkAt }));
  checkpoint ??= checkpointOf(row);
  return {
    parts,
    row,
    checkpoint,
    stream,
    requester,
    reader,
    knownPageLimit: pageLimit,
    isManual: request.cause === 'operator',
    earlierSkewMs: serviceSkewMs ?? undefined,
    history,
    isFirstImport: importedAt === null,
    options,
  };
}

function checkpointOf({ id, windows }: RunRow): Checkpoint {
  return { id, windows };
}

/** @throws RunStopped, RunTakenOver */
async function throwIfLost(db: Queryable, checkpoint: Checkpoint): Promise<void> {
  const run = await readCheckpoint(db, checkpoint.id);
  if (run?.state === 'stopped') throw new RunStopped();
  if (run?.state !== 'running' || run.windows > checkpoint.windows) throw new RunTakenOver();
}

async function beginRun(
  parts: ReconcileParts,
  request: RunRequest,
  { reader, watermarkAt }: { readonly reader: ListReader; readonly watermarkAt: Date | null },
): Promise<RunRow> {
  const { stream, isDryRun } = request;
  try {
    const serviceMs = (await reader.serviceTimeMs()) ?? parts.clock.nowMs();
    if (!isDryRun) await writeServiceSkew(parts.db, stream, serviceMs - parts.clock.nowMs());
    const usableAt = await usableWatermark(parts, { stream, watermarkAt, serviceMs, isDryRun });
    const span = spanFor(request, { watermarkAt: usableAt, serviceMs });
    return await insertRun(parts.db, {
      ...request,
      fromAt: new Date(span.fromMs),
      toAt: new Date(span.toMs),
    });
  } catch (error) {
    if (error instanceof RunInterrupted) {
      parts.metrics.run('failed');
      parts.log.warn({ stream, reason: error.message }, 'reconcile.run_failed');
      await openUnusable(parts.db, stream, error.message);
    }
    throw error;
  }
}

function spanFor(
  request: RunRequest,
  known: { readonly watermarkAt: Date | null; readonly serviceMs: number },
): Span {
  const ceilingMs = known.serviceMs - CEILING_MS;
  const toMs = Math.min(request.toMs ?? ceilingMs, ceilingMs);
  return { fromMs: request.fromMs ?? tailStartMs(known.watermarkAt, toMs), toMs };
}

function tailStartMs(watermarkAt: Date | null, toMs: number): number {
  return watermarkAt === null ? toMs - FIRST_SPAN_MS : watermarkAt.getTime() - OVERLAP_MS;
}
