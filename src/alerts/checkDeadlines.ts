/**
 * Sends reminders of deadlines at their thresholds, and of alerts after their snooze. The scheduler
 * runs it every minute.
 *
 * 1. Each threshold sends one reminder. Of several missed thresholds only the last one does, so that a
 *    long stop or a changed clock sends no series of reminders.
 * 2. The dispute is retrieved first, because it may have a response or a decision without a webhook. Where that is
 *    not possible, the reminder is sent all the same, and states that it is not confirmed.
 * 3. The condition is checked again under the resource's lock, in the transaction that sends the reminder.
 * 4. Several schedulers can run at the same time: each skips what another one has locked.
 */
import type { Clock } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import type { Confirm } from './confirm.ts';
import type { SubjectAlerts } from './domain/alert.ts';
import { subjectOf } from './domain/format.ts';
import { deadlineAlert, NEEDS_RESPONSE } from './domain/rules/dispute.ts';
import { nextThresholdMs } from './domain/rules/evidence.ts';
import { endSnoozes, insertOutbox } from './store/alerts.ts';
import {
  advanceDeadlines,
  type DeadlineRef,
  type DueDeadline,
  dropDeadlines,
  lockDue,
  readDue,
  readDueRefs,
} from './store/deadlines.ts';
import { syncAlerts } from './syncAlerts.ts';

const ROWS_PER_TRANSACTION = 200;

export interface DeadlineCheckParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined where no API key is set. */
  readonly confirm?: Confirm | undefined;
}

/** Creates the check that the scheduler runs. */
export function createDeadlineCheck(parts: DeadlineCheckParts): () => Promise<void> {
  const { db, clock, log } = parts;
  return async () => {
    const nowMs = clock.nowMs();
    const deadlines = await inBatches(() => remindOfDeadlines(parts, nowMs));
    const snoozes = await inBatches(() => db.transaction((tx) => remindOfSnoozed(tx, nowMs)));
    if (deadlines + snoozes > 0) log.info({ deadlines, snoozes }, 'alerts.reminders_enqueued');
  };
}

/** Processes batches until one is not full. @returns the rows of all of them */
async function inBatches(work: () => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    const rows = await work();
    total += rows;
    if (rows < ROWS_PER_TRANSACTION) return total;
  }
}

/** @returns how many deadlines were due */
async function remindOfDeadlines(
  { db, confirm }: DeadlineCheckParts,
  nowMs: number,
): Promise<number> {
  const now = new Date(nowMs);
  const found = await readDueRefs(db, { now, limit: ROWS_PER_TRANSACTION });
  if (found.length === 0) return 0;
  const confirmed = confirm ? await confirm(found) : new Set<string>();
  if (confirmed === undefined) return 0;
  return await db.transaction((tx) => remindOfThese(tx, { found, confirmed, nowMs }));
}

interface FoundDeadlines {
  readonly found: readonly DeadlineRef[];
  /** Subjects that were just retrieved. */
  readonly confirmed: ReadonlySet<string>;
  readonly nowMs: number;
}

/** @returns how many were found; 0 if none of them is left to this transaction */
async function remindOfThese(
  tx: Queryable,
  { found, confirmed, nowMs }: FoundDeadlines,
): Promise<number> {
  const now = new Date(nowMs);
  const refs = await lockDue(tx, found, now);
  if (refs.length === 0) return 0;
  const due = await readDue(tx, refs, now);
  const waiting = due.filter(({ status }) => status === NEEDS_RESPONSE);
  await syncAlerts(
    tx,
    waiting.flatMap((deadline) => {
      const isConfirmed = confirmed.has(subjectOf(deadline));
      return reminderOf(deadline, { isConfirmed, nowMs }) ?? [];
    }),
  );
  const remaining = waiting.flatMap((deadline) => {
    const nextMs = nextThresholdMs(deadline.deadlineMs, nowMs);
    return nextMs === undefined ? [] : [{ ...deadline, nextAt: new Date(nextMs) }];
  });
  if (remaining.length > 0) await advanceDeadlines(tx, remaining);
  const remainingSubjects = new Set(remaining.map(subjectOf));
  const ended = due.filter((deadline) => !remainingSubjects.has(subjectOf(deadline)));
  if (ended.length > 0) await dropDeadlines(tx, ended);
  return found.length;
}

function reminderOf(
  due: DueDeadline,
  when: { readonly isConfirmed: boolean; readonly nowMs: number },
): SubjectAlerts | undefined {
  const near = deadlineAlert(due, due.deadlineMs, when);
  if (near === undefined) return undefined;
  return {
    subject: subjectOf(due),
    rules: ['dispute_deadline'],
    active: [near],
    isReminderDue: true,
  };
}

/** Sends a reminder of each active alert when its snooze ends. @returns how many */
async function remindOfSnoozed(tx: Queryable, nowMs: number): Promise<number> {
  const ids = await endSnoozes(tx, { now: new Date(nowMs), limit: ROWS_PER_TRANSACTION });
  const entries = ids.map((alertId) => ({ alertId, type: 'reminder' as const }));
  if (entries.length > 0) await insertOutbox(tx, entries);
  return ids.length;
}
