/** Opens a run, or the earlier one that it continues. */

import { readBeginningMs } from '../ledger/installation.ts';
import { DAY_MS, MINUTE_MS } from '../platform/time.ts';
import type { Span } from './domain/windows.ts';
import { openUnusable } from './findings.ts';
import { RunInterrupted, RunStopped } from './interruptions.ts';
import { createListReader, type ListReader } from './listReader.ts';
import { createRequester } from './requester.ts';
import type { ReconcileParts, RunContext, RunOptions, RunRequest } from './runContext.ts';
import { findLast, insertRun, isRunStopped, type RunRow, reopenRun } from './store/runs.ts';
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
export function isOver({ state }: RunRow): boolean {
  return state === 'done' || state === 'stopped';
}

/**
 * The earlier run that a request continues (run.ts, rule 3): one that is not over, or, where a job is
 * retried for the span of its slot, one that is. A person who repeats a command wants a new run.
 */
export async function findEarlierRun(
  { db, clock }: ReconcileParts,
  request: RunRequest,
): Promise<RunRow | undefined> {
  const last = await findLast(db, request, new Date(clock.nowMs() - RESUME_WITHIN_MS));
  if (!last || last.fromAt >= last.toAt) return undefined;
  const { fromMs, toMs, cause } = request;
  const isSame =
    (fromMs === undefined || fromMs === last.fromAt.getTime()) &&
    (toMs === undefined || toMs === last.toAt.getTime());
  const isOfSlot = fromMs !== undefined && toMs !== undefined && cause !== 'operator';
  return isSame && (!isOver(last) || isOfSlot) ? last : undefined;
}

/** Resumes the earlier run, or begins a new one. @throws RunInterrupted */
export async function openRun(
  parts: ReconcileParts,
  request: RunRequest,
  { options, earlier }: { readonly options: RunOptions; readonly earlier: RunRow | undefined },
): Promise<RunContext> {
  const { db, client, clock } = parts;
  const { stream, isDryRun, lane } = request;
  if (earlier) await reopenRun(db, earlier.id);
  let runId = earlier?.id;
  const { pageLimit, watermarkAt, importedAt, serviceSkewMs } = await readStream(db, stream);
  const historyUntilMs = importedAt === null ? await readBeginningMs(db, clock.nowMs()) : undefined;
  const requester = createRequester({
    retrieve: parts.retrieve,
    lane,
    isDryRun,
    historyUntilMs,
    signal: options.signal,
    sleep: parts.sleep,
    requestsBefore: earlier?.requests ?? 0,
    throwIfStopped: async () => {
      if (runId !== undefined && (await isRunStopped(db, runId))) throw new RunStopped();
    },
  });
  const reader = createListReader({
    client,
    stream,
    request: requester.request,
    nowMs: clock.nowMs,
    limit: pageLimit,
    account: parts.account,
  });
  const row = earlier ?? (await beginRun(parts, request, { reader, watermarkAt }));
  runId = row.id;
  return {
    parts,
    row,
    stream,
    requester,
    reader,
    knownPageLimit: pageLimit,
    isManual: request.cause === 'operator',
    earlierSkewMs: serviceSkewMs ?? undefined,
    historyUntilMs,
    options,
  };
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
    if (error instanceof RunInterrupted) await openUnusable(parts.db, stream, error.message);
    throw error;
  }
}

function spanFor(
  request: RunRequest,
  known: { readonly watermarkAt: Date | null; readonly serviceMs: number },
): Span {
  const ceilingMs = known.serviceMs - CEILING_MS;
  const toMs = Math.min(request.toMs ?? ceilingMs, ceilingMs);
  const tailMs =
    known.watermarkAt === null ? toMs - FIRST_SPAN_MS : known.watermarkAt.getTime() - OVERLAP_MS;
  return { fromMs: request.fromMs ?? tailMs, toMs };
}
