/**
 * Refresh: checks resources that are due, round after round, by retrieving them. Windows by created time
 * never show an old payment that changed today; a check does.
 *
 * 1. What a webhook left unclear comes first, in its own lane; then what is not final, by age
 *    (domain/checkTimes.ts).
 * 2. A resource that settled since its check was scheduled costs no request: the check is moved or
 *    dropped.
 * 3. A claimed row is due again after a lease, so that nothing is lost with a process, and two processes
 *    claim different rows. What a round that ends early did not check is due at once.
 * 4. A failure that affects every request ends the round, opens a finding and is backed off from; no
 *    resource is marked failed. The finding closes when a check succeeds, or nothing is left to check:
 *    what a pause holds back or another process has claimed is left. A failure that affects one resource
 *    postpones the check of that one.
 * 5. A 403 of the service postpones the check of that resource, because the key may lack it alone. After two
 *    in a round in which no resource of the kind was readable, the rest of the kind waits, not as long, and
 *    the round goes on with other kinds. A kind of which a round was only refused has a finding of its own.
 *    It closes when one of the kind is checked, or none is left to check; a check of another kind shows
 *    nothing about it.
 */

import type { ResourceKind } from '../contract/resources/index.ts';
import {
  type CheckedRow,
  claimDue,
  type DueRow,
  hasChecksUntil,
  postponeCheck,
  releaseDue,
  writeNextChecks,
} from '../ledger/store/checks.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { MINUTE_MS, SECOND_MS } from '../platform/time.ts';
import {
  type CheckedResource,
  isLateCheck,
  isSettled,
  lastChangedMs,
  nextCheckByAgeMs,
  nextCheckMs,
} from './domain/checkTimes.ts';
import { ageOfChangeMs, isMoneyChanged, isPastGrace } from './domain/compare.ts';
import { affectsEveryRequest } from './domain/failures.ts';
import { closeUnusable, openUnusable, type RequestSource } from './findings.ts';
import type { ReconcileMetrics } from './metrics.ts';
import type { Applied, Retrieve, Retrieved } from './retrieve.ts';
import { isPaused } from './store/pauses.ts';
import { KIND_OF, STREAM_OF, STREAMS } from './streams.ts';

export interface RefreshParts {
  readonly db: Database;
  readonly retrieve: Retrieve;
  readonly clock: Clock;
  readonly metrics: ReconcileMetrics;
  readonly log: Log;
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

/** What one round came to. */
export type Round =
  | { readonly outcome: 'done'; readonly checked: number; readonly settled: number }
  | { readonly outcome: 'unusable'; readonly reason: string };

export interface Refresh {
  /** Claims one batch of each lane and checks it. */
  round(signal: AbortSignal): Promise<Round>;
  /** Repeats rounds until the signal is aborted; resolves once the last has ended. Never throws. */
  loop(signal: AbortSignal): Promise<void>;
}

const BATCH = 20;
/** Longer than a batch takes, waits for the rate budget included. */
const LEASE_MS = 15 * MINUTE_MS;
const IDLE_MS = 2 * SECOND_MS;
const FIRST_BACKOFF_MS = 5 * SECOND_MS;
const MAX_BACKOFF_MS = 5 * MINUTE_MS;
/** Rule 5. Permissions change by hand. */
const FORBIDDEN_MS = 5 * MINUTE_MS;

/** Refusals that show that the key may not read a kind. */
const MAX_REFUSALS = 2;

/** What a round showed of what the key may read (rule 5). */
interface Permissions {
  readonly readable: Set<ResourceKind>;
  readonly refusals: Map<ResourceKind, Refusals>;
}

/** Of one kind: the reason of the first, and how many. */
interface Refusals {
  readonly reason: string;
  readonly count: number;
}

/** What a finding is about: the requests of refresh, or those of one kind alone. */
type Scope = ResourceKind | undefined;

const SCOPES: readonly Scope[] = [undefined, ...STREAMS.map((stream) => KIND_OF[stream])];

function sourceOf(scope: Scope): RequestSource {
  return scope === undefined ? 'refresh' : `refresh:${STREAM_OF[scope]}`;
}

export function createRefresh(parts: RefreshParts): Refresh {
  // All at first: the service may have been unusable for the previous process.
  const mayBeOpen = new Set<Scope>(SCOPES);
  const open = async (scope: Scope, reason: string): Promise<void> => {
    mayBeOpen.add(scope);
    await openUnusable(parts.db, sourceOf(scope), reason);
  };
  const closeEnded = async (checked: number, readable: ReadonlySet<Scope>): Promise<void> => {
    const ended: Scope[] = [];
    for (const scope of SCOPES) {
      const isShown = scope === undefined ? checked > 0 : readable.has(scope);
      if (isShown || (mayBeOpen.has(scope) && !(await isAnyLeft(parts, scope)))) ended.push(scope);
    }
    if (ended.length > 0) await closeUnusable(parts.db, ended.map(sourceOf));
    for (const scope of ended) mayBeOpen.delete(scope);
  };
  const round = async (signal: AbortSignal): Promise<Round> => {
    const permissions: Permissions = { readable: new Set(), refusals: new Map() };
    const { readable, refusals } = permissions;
    const result = await checkDue(parts, permissions, signal);
    for (const [kind, { reason }] of refusals) {
      if (!readable.has(kind)) await open(kind, reason);
    }
    if (result.outcome === 'unusable') await open(undefined, result.reason);
    else await closeEnded(result.checked, readable);
    return result;
  };
  return { round, loop: (signal) => loop(parts, round, signal) };
}

/** Whether anything is due within a lease, so that what is claimed counts as well. */
function isAnyLeft({ db, clock }: RefreshParts, kind: Scope): Promise<boolean> {
  return hasChecksUntil(db, new Date(clock.nowMs() + LEASE_MS), kind);
}

async function checkDue(
  parts: RefreshParts,
  permissions: Permissions,
  signal: AbortSignal,
): Promise<Round> {
  let [checked, settled] = [0, 0];
  if (await isPaused(parts.db)) return { outcome: 'done', checked, settled };
  for (const isWanted of [true, false]) {
    const result = await checkBatch(parts, { isWanted, permissions }, signal);
    if (result.outcome === 'unusable') return result;
    checked += result.checked;
    settled += result.settled;
  }
  return { outcome: 'done', checked, settled };
}

async function checkBatch(
  parts: RefreshParts,
  { isWanted, permissions }: { readonly isWanted: boolean; readonly permissions: Permissions },
  signal: AbortSignal,
): Promise<Round> {
  const { db, clock } = parts;
  const nowMs = clock.nowMs();
  const now = new Date(nowMs);
  const leaseUntil = new Date(nowMs + LEASE_MS);
  const due = await claimDue(db, { isWanted, now, leaseUntil, limit: BATCH });
  const settled = due.filter((row) => needsNoRequest(row, nowMs));
  if (settled.length > 0) {
    const next = settled.map((row) => nextOf(row, nowMs));
    await writeNextChecks(db, next);
  }
  const release = (rows: readonly DueRow[], afterMs = 0): Promise<void> =>
    releaseDue(db, rows, { leaseUntil, now: new Date(nowMs + afterMs) });
  let waiting = due.filter((row) => !settled.includes(row));
  let checked = 0;
  try {
    while (!signal.aborted) {
      const heldBack = waiting.filter(({ kind }) => isHeldBack(permissions, kind));
      if (heldBack.length > 0) await release(heldBack, FORBIDDEN_MS);
      waiting = waiting.filter((row) => !heldBack.includes(row));
      const [row] = waiting;
      if (!row) break;
      const failed = await check(parts, row, signal);
      if (failed?.failure === 'forbidden') {
        noteRefusal(permissions, row.kind, failed.reason);
        await release([row], 2 * FORBIDDEN_MS);
      } else if (failed) return { outcome: 'unusable', reason: failed.reason };
      else {
        permissions.readable.add(row.kind);
        checked += 1;
      }
      waiting.shift();
    }
  } finally {
    if (waiting.length > 0) await release(waiting);
  }
  return { outcome: 'done', checked, settled: settled.length };
}

function isHeldBack({ readable, refusals }: Permissions, kind: ResourceKind): boolean {
  return !readable.has(kind) && (refusals.get(kind)?.count ?? 0) >= MAX_REFUSALS;
}

function noteRefusal({ refusals }: Permissions, kind: ResourceKind, reason: string): void {
  const first = refusals.get(kind) ?? { reason, count: 0 };
  refusals.set(kind, { ...first, count: first.count + 1 });
}

/** Whether no request is needed: it settled, and no late check is due (rule 2). */
function needsNoRequest(row: DueRow, nowMs: number): boolean {
  if (row.isWanted || !isSettled(resourceOf(row))) return false;
  return row.kind === 'payment' || !isLateCheck(resourceOf(row), nowMs);
}

function resourceOf(row: CheckedRow): CheckedResource {
  const isAwaitingConfirmation = row.excessForMs !== null;
  return { ...row, isAwaitingConfirmation, changedMs: lastChangedMs(row) };
}

function nextOf(row: DueRow, nowMs: number) {
  const atMs = nextCheckMs(resourceOf(row), nowMs);
  const { kind, id, status } = row;
  return { kind, id, status, nextCheckAt: atMs === undefined ? null : new Date(atMs) };
}

type FailedCheck = Extract<Retrieved, { readonly outcome: 'failed' }>;

/** @returns a failure that affects other requests */
async function check(
  parts: RefreshParts,
  row: DueRow,
  signal: AbortSignal,
): Promise<FailedCheck | undefined> {
  const lane = row.isWanted ? 'webhook' : 'refresh';
  const retrieved = await parts.retrieve(row, { lane, signal });
  switch (retrieved.outcome) {
    case 'applied':
      if (!row.isWanted) countMissed(parts, retrieved);
      return undefined;
    case 'missing':
      return undefined;
    case 'failed': {
      const { kind, id } = row;
      if (retrieved.failure === 'forbidden') {
        parts.log.warn({ kind, reason: retrieved.reason }, 'reconcile.check_forbidden');
      }
      if (affectsEveryRequest(retrieved.failure)) return retrieved;
      const nowMs = parts.clock.nowMs();
      // What an order or an event waits for is checked again soon, however old it is.
      const waitingForMs = row.excessForMs ?? row.behindForMs;
      const sinceMs = waitingForMs === null ? lastChangedMs(row) : nowMs - waitingForMs;
      await postponeCheck(parts.db, row, new Date(nextCheckByAgeMs(sinceMs, nowMs)));
      parts.log.warn({ kind, id, reason: retrieved.reason }, 'reconcile.check_failed');
      return undefined;
    }
  }
}

function countMissed(
  { metrics }: RefreshParts,
  { before, after, observedMicros }: Omit<Applied, 'outcome' | 'body'>,
): void {
  if (!before || after.versionMicros === null || after.isContradicted) return;
  const ageMs = ageOfChangeMs(after.versionMicros, observedMicros);
  if (!isMoneyChanged(before, after) || !isPastGrace(ageMs)) return;
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
      (error: unknown): Round => ({ outcome: 'unusable', reason: toError(error).message }),
    );
    if (result.outcome === 'done') {
      backoffMs = 0;
      if (result.checked + result.settled === 0) await parts.sleep(IDLE_MS, signal);
      continue;
    }
    if (signal.aborted) return;
    backoffMs = Math.min(MAX_BACKOFF_MS, Math.max(FIRST_BACKOFF_MS, backoffMs * 2));
    parts.log.warn({ reason: result.reason, backoffMs }, 'reconcile.refresh_failed');
    await parts.sleep(backoffMs, signal);
  }
}
