/** Records a check of an authorization: its watch, its finding and its alert, in one transaction. */
import { type HoldFacts, holdAlerts } from '../alerts/domain/rules/authorization.ts';
import { syncAlerts } from '../alerts/syncAlerts.ts';
import { namedOrderId } from '../ledger/domain/orderKey.ts';
import { refKey } from '../ledger/domain/snapshot.ts';
import { closeFindings, openFindings } from '../ledger/recordFindings.ts';
import type { Clock } from '../platform/clock.ts';
import type { Queryable } from '../platform/db/database.ts';
import {
  type AuthorizationRules,
  assessHold,
  type HoldAssessment,
  nextCheckMs,
} from './assessHold.ts';
import { endWatch, insertReminder, lockAuthorization, saveWatch } from './store/authorizations.ts';

const CLASS = 'authorization_expiring';

export interface CheckedHold {
  readonly paymentId: string;
  /** The service has just confirmed the hold. */
  readonly isConfirmed: boolean;
  /** An attempt of the policy has just ended. */
  readonly isAfterAttempt?: boolean;
  /** Another amount can be captured than at the last reminder. */
  readonly isChanged?: boolean;
}

/**
 * Assesses the locked payment and records what follows (checkAuthorizations.ts, rule 1).
 * @returns undefined when nothing can be captured
 */
export async function recordReminder(
  tx: Queryable,
  { clock, ...rules }: AuthorizationRules & { readonly clock: Clock },
  { paymentId, isConfirmed, isAfterAttempt = false, isChanged = false }: CheckedHold,
): Promise<HoldAssessment | undefined> {
  const nowMs = clock.nowMs();
  const row = await lockAuthorization(tx, paymentId);
  const hold = row && assessHold(row, rules, nowMs);
  const subject = refKey({ kind: 'payment', id: paymentId });
  if (!hold) {
    await endWatch(tx, paymentId);
    await closeFindings(tx, [{ class: CLASS, subject }]);
    if (row?.reminderHours !== null) await syncAlerts(tx, [holdAlerts(paymentId, undefined)]);
    return undefined;
  }
  const { reminder, deadlineMs, startMs } = hold;
  await saveWatch(tx, {
    paymentId,
    startAt: new Date(startMs),
    deadlineAt: new Date(deadlineMs),
    reminder: reminder.latest && {
      hours: reminder.latest.hours,
      deadlineAt: new Date(reminder.latest.deadlineMs),
    },
    nextCheckAt: new Date(nextCheckMs(hold, isConfirmed, nowMs)),
  });
  if (reminder.dueHours !== undefined) {
    await insertReminder(tx, reminderOf(hold, reminder.dueHours));
    await show(tx, hold, { hours: reminder.dueHours, isConfirmed, notifies: true });
  } else if (reminder.latest === undefined) {
    // The deadline moved, so that no reminder about it has been sent.
    await closeFindings(tx, [{ class: CLASS, subject }]);
    if (row.reminderHours !== null) await syncAlerts(tx, [holdAlerts(paymentId, undefined)]);
  } else if (isAfterAttempt || isChanged || isConfirmed) {
    const notifies = isAfterAttempt && isNews(hold);
    await show(tx, hold, { hours: reminder.latest.hours, isConfirmed, notifies });
  }
  return hold;
}

interface Shown {
  /** The threshold of the last reminder. */
  readonly hours: number;
  readonly isConfirmed: boolean;
  /** The alert notifies, also if it is open. */
  readonly notifies: boolean;
}

/** Has the finding and the alert show the hold as it is now. */
async function show(
  tx: Queryable,
  hold: HoldAssessment,
  { hours, isConfirmed, notifies }: Shown,
): Promise<void> {
  const { paymentId } = hold.row;
  const subject = refKey({ kind: 'payment', id: paymentId });
  const detail = detailOf(hold, hours);
  await openFindings(tx, [{ class: CLASS, subject, detail }]);
  const alerts = holdAlerts(paymentId, factsOf(hold, hours, isConfirmed));
  await syncAlerts(tx, [{ ...alerts, isReminderDue: notifies }]);
}

/** Of attempts that fail, the first and the last are each worth a notification. */
function isNews({ lastAttempt, policy }: HoldAssessment): boolean {
  if (lastAttempt === undefined || lastAttempt.outcome === 'done') return false;
  return lastAttempt.numberOnHold === 1 || policy.step === 'none';
}

/** What is stored of a reminder or an attempt. */
export function reminderOf(
  { row, deadlineMs, capturableMinor }: HoldAssessment,
  thresholdHours: number,
) {
  return {
    paymentId: row.paymentId,
    deadlineAt: new Date(deadlineMs),
    thresholdHours,
    currency: row.currency,
    capturableMinor,
  };
}

function factsOf(hold: HoldAssessment, thresholdHours: number, isConfirmed: boolean): HoldFacts {
  const { row, capturableMinor, deadlineMs, lastAttempt, policy } = hold;
  return {
    paymentId: row.paymentId,
    orderId: namedOrderId(row.orderKey),
    status: row.status ?? undefined,
    currency: row.currency ?? undefined,
    capturableMinor,
    deadlineMs,
    thresholdHours,
    isConfirmed,
    attempt: lastAttempt && {
      ...lastAttempt,
      number: lastAttempt.numberOnHold,
      nextMs: policy.step === 'wait' ? policy.untilMs : undefined,
    },
  };
}

/** Without whether it is confirmed, which only the alert shows: a retrieve of the same hold would end an acceptance. */
function detailOf(
  { row, deadlineMs, capturableMinor }: HoldAssessment,
  thresholdHours: number,
): Readonly<Record<string, unknown>> {
  return {
    deadline: new Date(deadlineMs).toISOString(),
    threshold_hours: thresholdHours,
    amount_capturable: capturableMinor,
    currency: row.currency,
    status: row.status,
  };
}
