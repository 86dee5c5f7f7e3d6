/** What is written of an authorization: its watch, its finding, and its alert, in one transaction. */
import { type HoldFacts, holdAlerts } from '../alerts/domain/rules/authorization.ts';
import { syncAlerts } from '../alerts/syncAlerts.ts';
import { resourceSubject } from '../ledger/domain/findings.ts';
import { namedOrderId } from '../ledger/domain/order.ts';
import { closeFindings, openFindings } from '../ledger/recordFindings.ts';
import type { Clock } from '../platform/clock.ts';
import type { Queryable } from '../platform/db/database.ts';
import { nextLookMs, type Plan, planFor, type Rules } from './plan.ts';
import { endWatch, insertNotice, lockAuthorization, saveWatch } from './store/authorizations.ts';

const CLASS = 'authorization_expiring';

export interface Occasion {
  readonly paymentId: string;
  /** The service has just said so itself. */
  readonly isConfirmed: boolean;
  /** An attempt of the policy has just ended. */
  readonly isAfterAttempt?: boolean;
}

/** Decides over the locked payment and writes what follows (rule 1). */
export async function speak(
  tx: Queryable,
  { clock, ...rules }: Rules & { readonly clock: Clock },
  { paymentId, isConfirmed, isAfterAttempt = false }: Occasion,
): Promise<Plan | undefined> {
  const nowMs = clock.nowMs();
  const row = await lockAuthorization(tx, paymentId);
  const plan = row && planFor(row, rules, nowMs);
  const subject = resourceSubject({ kind: 'payment', id: paymentId });
  if (!plan) {
    await endWatch(tx, paymentId);
    await closeFindings(tx, [{ class: CLASS, subject }]);
    if (row?.saidHours !== null) await syncAlerts(tx, [holdAlerts(paymentId, undefined)]);
    return undefined;
  }
  const { decision, deadlineMs, startMs } = plan;
  await saveWatch(tx, {
    paymentId,
    startAt: new Date(startMs),
    deadlineAt: new Date(deadlineMs),
    said: decision.said && {
      hours: decision.said.hours,
      deadlineAt: new Date(decision.said.deadlineMs),
    },
    nextLookAt: new Date(nextLookMs(plan, isConfirmed, nowMs)),
  });
  if (decision.speak !== undefined) {
    await insertNotice(tx, noticeOf(plan, decision.speak));
    const detail = detailOf(plan, decision.speak, isConfirmed);
    await openFindings(tx, [{ class: CLASS, subject, detail }]);
    await syncAlerts(tx, [holdAlerts(paymentId, holdOf(plan, decision.speak, isConfirmed))]);
  } else if (decision.said === undefined) {
    // The deadline moved away from everything that was said.
    await closeFindings(tx, [{ class: CLASS, subject }]);
    if (row.saidHours !== null) await syncAlerts(tx, [holdAlerts(paymentId, undefined)]);
  } else if (isAfterAttempt) {
    const hold = holdOf(plan, decision.said.hours, isConfirmed);
    await syncAlerts(tx, [{ ...holdAlerts(paymentId, hold), isReminderDue: isNews(plan) }]);
  }
  return plan;
}

/** Of attempts that fail, the first is worth a message, and the last. */
function isNews({ lastAttempt, policy }: Plan): boolean {
  if (lastAttempt === undefined || lastAttempt.outcome === 'done') return false;
  return lastAttempt.number === 1 || policy.step === 'none';
}

export function noticeOf({ row, deadlineMs, leftMinor }: Plan, thresholdHours: number) {
  return {
    paymentId: row.paymentId,
    deadlineAt: new Date(deadlineMs),
    thresholdHours,
    currency: row.currency,
    capturableMinor: leftMinor,
  };
}

function holdOf(plan: Plan, thresholdHours: number, isConfirmed: boolean): HoldFacts {
  const { row, leftMinor, deadlineMs, lastAttempt, policy } = plan;
  return {
    paymentId: row.paymentId,
    orderId: namedOrderId(row.orderKey),
    status: row.status ?? undefined,
    currency: row.currency ?? undefined,
    capturableMinor: leftMinor,
    deadlineMs,
    thresholdHours,
    isConfirmed,
    attempt: lastAttempt && {
      ...lastAttempt,
      nextMs: policy.step === 'wait' ? policy.untilMs : undefined,
    },
  };
}

function detailOf(plan: Plan, thresholdHours: number, isConfirmed: boolean): object & Detail {
  return {
    deadline: new Date(plan.deadlineMs).toISOString(),
    thresholdHours,
    capturableMinor: plan.leftMinor,
    currency: plan.row.currency,
    status: plan.row.status,
    isConfirmed,
  };
}

type Detail = Readonly<Record<string, unknown>>;
