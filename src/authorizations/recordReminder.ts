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
}

/**
 * Assesses the locked payment and records what follows (checkAuthorizations.ts, rule 1).
 * @returns undefined when nothing can be captured
 */
export async function recordReminder(
  tx: Queryable,
  { clock, ...rules }: AuthorizationRules & { readonly clock: Clock },
  { paymentId, isConfirmed, isAfterAttempt = false }: CheckedHold,
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
    const detail = detailOf(hold, reminder.dueHours, isConfirmed);
    await openFindings(tx, [{ class: CLASS, subject, detail }]);
    const facts = factsOf(hold, reminder.dueHours, isConfirmed);
    await syncAlerts(tx, [holdAlerts(paymentId, facts)]);
  } else if (reminder.latest === undefined) {
    // The deadline moved, so that no reminder about it has been sent.
    await closeFindings(tx, [{ class: CLASS, subject }]);
    if (row.reminderHours !== null) await syncAlerts(tx, [holdAlerts(paymentId, undefined)]);
  } else if (isAfterAttempt) {
    const facts = factsOf(hold, reminder.latest.hours, isConfirmed);
    await syncAlerts(tx, [{ ...holdAlerts(paymentId, facts), isReminderDue: isNews(hold) }]);
  }
  return hold;
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

function detailOf(
  { row, deadlineMs, capturableMinor }: HoldAssessment,
  thresholdHours: number,
  isConfirmed: boolean,
): Readonly<Record<string, unknown>> {
  return {
    deadline: new Date(deadlineMs).toISOString(),
    threshold_hours: thresholdHours,
    amount_capturable: capturableMinor,
    currency: row.currency,
    status: row.status,
    is_confirmed: isConfirmed,
  };
}
