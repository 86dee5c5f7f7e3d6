/**
 * Speaks of deadlines at their thresholds, and again of alerts whose snooze has ended; run by the
 * scheduler every minute.
 *
 * 1. Each threshold is spoken of once, and of several that were missed only the last: a clock that
 *    was moved and a long stop change nothing else.
 * 2. The condition is checked again under the resource's lock, in the transaction that speaks.
 * 3. Several schedulers may run side by side: each passes over what another holds.
 */
import type { Clock } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import type { Settled } from './domain/alert.ts';
import { deadlineAlert, NEEDS_ANSWER } from './domain/rules/dispute.ts';
import { nextThresholdMs } from './domain/rules/evidence.ts';
import { subjectOf } from './domain/words.ts';
import { settleAlerts } from './raise.ts';
import { endSnoozes, insertOutbox } from './store/alerts.ts';
import {
  advanceDeadlines,
  type DueDeadline,
  dropDeadlines,
  lockDue,
  readDue,
} from './store/deadlines.ts';

const ROWS_PER_TRANSACTION = 200;

export interface DeadlineCheckParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes what the scheduler runs. */
export function createDeadlineCheck({ db, clock, log }: DeadlineCheckParts): () => Promise<void> {
  return async () => {
    const nowMs = clock.nowMs();
    const spoken = await inBatches(db, (tx) => speak(tx, nowMs));
    const woken = await inBatches(db, (tx) => wake(tx, nowMs));
    if (spoken + woken > 0) log.info({ spoken, woken }, 'alerts.reminded');
  };
}

/** Runs transactions until one meets less than it would take. @returns how many all of them met */
async function inBatches(db: Database, work: (tx: Queryable) => Promise<number>): Promise<number> {
  let met = 0;
  for (;;) {
    const rows = await db.transaction(work);
    met += rows;
    if (rows < ROWS_PER_TRANSACTION) return met;
  }
}

/** @returns how many deadlines were due */
async function speak(tx: Queryable, nowMs: number): Promise<number> {
  const now = new Date(nowMs);
  const refs = await lockDue(tx, { now, limit: ROWS_PER_TRANSACTION });
  if (refs.length === 0) return 0;
  const due = await readDue(tx, refs, now);
  const waiting = due.filter(({ status }) => status === NEEDS_ANSWER);
  await settleAlerts(
    tx,
    waiting.flatMap((one) => settledOf(one, nowMs) ?? []),
  );
  const going = waiting.flatMap((one) => {
    const nextMs = nextThresholdMs(one.deadlineMs, nowMs);
    return nextMs === undefined ? [] : [{ ...one, nextAt: new Date(nextMs) }];
  });
  if (going.length > 0) await advanceDeadlines(tx, going);
  const goOn = new Set(going.map(subjectOf));
  const ended = due.filter((one) => !goOn.has(subjectOf(one)));
  if (ended.length > 0) await dropDeadlines(tx, ended);
  return refs.length;
}

function settledOf(due: DueDeadline, nowMs: number): Settled | undefined {
  const near = deadlineAlert(due, due.deadlineMs, nowMs);
  if (near === undefined) return undefined;
  return {
    subject: subjectOf(due),
    rules: ['dispute_deadline'],
    standing: [near],
    isAtThreshold: true,
  };
}

/** Says what still stands when its snooze ends. @returns how many */
async function wake(tx: Queryable, nowMs: number): Promise<number> {
  const ids = await endSnoozes(tx, { now: new Date(nowMs), limit: ROWS_PER_TRANSACTION });
  const entries = ids.map((alertId) => ({ alertId, occasion: 'reminder' as const }));
  if (entries.length > 0) await insertOutbox(tx, entries);
  return ids.length;
}
