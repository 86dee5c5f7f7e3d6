/**
 * Refresh: retrieves what is due for a look, again and again. Created-windows never find an old
 * payment that changed today; this does.
 *
 * 1. What a webhook left unclear goes first, in its own lane; then what is not final, by the ladder
 *    (domain/checkTimes.ts).
 * 2. What settled since its time was set costs no request: its time is moved or taken away.
 * 3. A row that is taken comes due again after a lease, so that nothing is lost with a process, and
 *    two processes take different rows. What a round that ends early did not look at is due at once.
 * 4. Trouble that concerns every request ends the round, opens a finding and is backed off from; no
 *    resource is marked failed. The finding closes when a look succeeds, or nothing is left to look at.
 *    Trouble with one resource puts that one off.
 */

import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { MINUTE_MS, SECOND_MS } from '../platform/time.ts';
import {
  type CheckedResource,
  isLateLook,
  isSettled,
  nextCheckMs,
  nextRungMs,
} from './domain/checkTimes.ts';
import { ageOfChangeMs, isPastGrace } from './domain/compare.ts';
import { isGeneral } from './domain/trouble.ts';
import { closeUnusable, openUnusable } from './findings.ts';
import type { ReconcileMetrics } from './metrics.ts';
import { isPaused } from './pause.ts';
import type { Applied, Retrieve } from './retrieve.ts';
import {
  type CheckedRow,
  type DueRow,
  putBack,
  putOff,
  takeDue,
  writeNextChecks,
} from './store/checks.ts';
import { STREAM_OF } from './streams.ts';

export interface RefreshParts {
  readonly db: Database;
  readonly retrieve: Retrieve;
  readonly clock: Clock;
  readonly metrics: ReconcileMetrics;
  readonly log: Log;
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

/** What came of one round. */
export type Round =
  | { readonly outcome: 'done'; readonly looked: number; readonly settled: number }
  | { readonly outcome: 'trouble'; readonly reason: string };

export interface Refresh {
  /** Takes one batch of each lane and looks at it. */
  round(signal: AbortSignal): Promise<Round>;
  /** Rounds until the signal; resolves once the last has ended. Never throws. */
  loop(signal: AbortSignal): Promise<void>;
}

const BATCH = 20;
/** Longer than a batch takes, the waits of the rate budget included. */
const LEASE_MS = 15 * MINUTE_MS;
const IDLE_MS = 2 * SECOND_MS;
const FIRST_BACKOFF_MS = 5 * SECOND_MS;
const MAX_BACKOFF_MS = 5 * MINUTE_MS;

export function createRefresh(parts: RefreshParts): Refresh {
  // At first, too: the process before this one may have ended in trouble.
  let isTroubled = true;
  const round = async (signal: AbortSignal): Promise<Round> => {
    const result = await lookAtDue(parts, signal);
    const isOver = result.outcome === 'done' && (result.looked > 0 || isTroubled);
    isTroubled = result.outcome === 'trouble';
    if (result.outcome === 'trouble') await openUnusable(parts.db, 'refresh', result.reason);
    if (isOver) await closeUnusable(parts.db, 'refresh');
    return result;
  };
  return { round, loop: (signal) => loop(parts, round, signal) };
}

async function lookAtDue(parts: RefreshParts, signal: AbortSignal): Promise<Round> {
  let [looked, settled] = [0, 0];
  if (await isPaused(parts.db)) return { outcome: 'done', looked, settled };
  for (const isWanted of [true, false]) {
    const result = await lookAtBatch(parts, isWanted, signal);
    if (result.outcome === 'trouble') return result;
    looked += result.looked;
    settled += result.settled;
  }
  return { outcome: 'done', looked, settled };
}

async function lookAtBatch(
  parts: RefreshParts,
  isWanted: boolean,
  signal: AbortSignal,
): Promise<Round> {
  const { db, clock } = parts;
  const nowMs = clock.nowMs();
  const now = new Date(nowMs);
  const leaseUntil = new Date(nowMs + LEASE_MS);
  const due = await takeDue(db, { isWanted, now, leaseUntil, limit: BATCH });
  const quiet = due.filter((row) => isQuiet(row, nowMs));
  if (quiet.length > 0) {
    const next = quiet.map((row) => nextOf(row, nowMs));
    await writeNextChecks(db, next);
  }
  const waiting = due.filter((row) => !quiet.includes(row));
  const begun = waiting.length;
  try {
    for (let row = waiting[0]; row && !signal.aborted; row = waiting[0]) {
      const trouble = await look(parts, row, signal);
      if (trouble !== undefined) return { outcome: 'trouble', reason: trouble };
      waiting.shift();
    }
  } finally {
    if (waiting.length > 0) await putBack(db, waiting, { leaseUntil, now });
  }
  return { outcome: 'done', looked: begun - waiting.length, settled: quiet.length };
}

/** Whether nothing is to be asked: it settled, and no late look is due (rule 2). */
function isQuiet(row: DueRow, nowMs: number): boolean {
  if (row.isWanted || !isSettled(checked(row))) return false;
  return row.kind === 'payment' || !isLateLook(checked(row), nowMs);
}

function checked(row: CheckedRow): CheckedResource {
  const { versionMicros, firstSeenAt, excessForMs } = row;
  return {
    ...row,
    isAwaitingConfirmation: excessForMs !== null,
    changedMs: versionMicros === null ? firstSeenAt.getTime() : versionMicros / 1000,
  };
}

function nextOf(row: DueRow, nowMs: number) {
  const atMs = nextCheckMs(checked(row), nowMs);
  return { kind: row.kind, id: row.id, nextCheckAt: atMs === undefined ? null : new Date(atMs) };
}

/** @returns trouble that concerns every request */
async function look(
  parts: RefreshParts,
  row: DueRow,
  signal: AbortSignal,
): Promise<string | undefined> {
  const lane = row.isWanted ? 'webhook' : 'refresh';
  const retrieved = await parts.retrieve(row, { lane, signal });
  switch (retrieved.outcome) {
    case 'applied':
      if (!row.isWanted) countMissed(parts, retrieved);
      return undefined;
    case 'missing':
      return undefined;
    case 'failed': {
      if (isGeneral(retrieved.trouble)) return retrieved.reason;
      const nowMs = parts.clock.nowMs();
      // What an order waits for is asked again soon, however old it is.
      const sinceMs = row.excessForMs === null ? checked(row).changedMs : nowMs - row.excessForMs;
      await putOff(parts.db, row, new Date(nextRungMs(sinceMs, nowMs)));
      const { kind, id } = row;
      parts.log.warn({ kind, id, reason: retrieved.reason }, 'reconcile.look_failed');
      return undefined;
    }
  }
}

function countMissed(
  { metrics }: RefreshParts,
  { before, after, observedMicros }: Omit<Applied, 'outcome' | 'body'>,
): void {
  if (!before || after.versionMicros === null || after.isContradicted) return;
  const isChanged =
    before.status !== after.status ||
    before.amountMinor !== after.amountMinor ||
    before.capturedMinor !== after.capturedMinor;
  const ageMs = ageOfChangeMs(after.versionMicros, observedMicros);
  if (!isChanged || !isPastGrace(ageMs)) return;
  metrics.missed(STREAM_OF[after.kind]);
  metrics.secondsToConverge(ageMs / 1000);
}

async function loop(
  parts: RefreshParts,
  round: Refresh['round'],
  signal: AbortSignal,
): Promise<void> {
  let backoffMs = 0;
  while (!signal.aborted) {
    const result = await round(signal).catch(
      (error: unknown): Round => ({ outcome: 'trouble', reason: toError(error).message }),
    );
    if (result.outcome === 'done') {
      backoffMs = 0;
      if (result.looked + result.settled === 0) await parts.pause(IDLE_MS, signal);
      continue;
    }
    if (signal.aborted) return;
    backoffMs = Math.min(MAX_BACKOFF_MS, Math.max(FIRST_BACKOFF_MS, backoffMs * 2));
    parts.log.warn({ reason: result.reason, backoffMs }, 'reconcile.refresh_failed');
    await parts.pause(backoffMs, signal);
  }
}
