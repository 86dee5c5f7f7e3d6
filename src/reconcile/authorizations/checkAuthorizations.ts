/**
 * Watches authorizations: finds new ones, speaks of each at its thresholds, asks the service before
 * it speaks and at the deadline, and acts where a policy says so.
 *
 * 1. What is said is decided twice by the same pure rule: once to know whether the service must be
 *    asked, and again over the locked payment, in the transaction that says it.
 * 2. A service that is away silences nothing: then what is known is said, and that it was not
 *    confirmed.
 * 3. A policy acts only on what the service has just confirmed, and once for each payment.
 * 4. Whose deadline is nearest comes first, and a run goes on while there is more, up to RUN_MS: a
 *    backlog of new holds keeps no threshold from being said.
 * 5. While reconciliation is paused the service is neither asked nor told anything; time goes on, and
 *    so does the speaking.
 * 6. Each time it speaks, an alert stands or is said again, and when nothing is held any more it ends,
 *    in the same transaction.
 *
 * The finding is not among those that follow the state of a resource: a look at the payment would
 * close it, although its time goes on.
 */
import { type HoldFacts, holdAlerts } from '../../alerts/domain/rules/authorization.ts';
import { settleAlerts } from '../../alerts/raise.ts';
import { CAPTURABLE_STATUSES } from '../../contract/statuses.ts';
import { resourceSubject } from '../../ledger/domain/findings.ts';
import { namedOrderId } from '../../ledger/domain/order.ts';
import { closeFindings, openFindings } from '../../ledger/recordFindings.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import type { Log } from '../../platform/log.ts';
import {
  type Decision,
  deadlineOf,
  decide,
  type Policy,
  policyActs,
} from './domain/authorization.ts';
import { capturableMinor } from './domain/capturable.ts';
import type { Acted, Asked, AuthorizationService } from './service.ts';
import {
  type AuthorizationRow,
  beginWatches,
  claimPolicy,
  endWatch,
  insertNotice,
  lockAuthorization,
  readAuthorization,
  readDue,
  readSettled,
  readUnwatched,
  saveOutcome,
  saveWatch,
} from './store/authorizations.ts';

export interface AuthorizationCheckParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Hours before the deadline. */
  readonly thresholds: readonly number[];
  /** Undefined: nothing is done, only said. */
  readonly policy: Policy | undefined;
  /** Undefined where no key is set. */
  readonly service: AuthorizationService | undefined;
  readonly isPaused: () => Promise<boolean>;
}

export interface AuthorizationCheck {
  /** Looks at everything that is new, due or settled, for a bounded time. */
  run(): Promise<void>;
  /** Looks at one payment now, without asking the service: somebody just has. */
  look(paymentId: string): Promise<void>;
}

const CLASS = 'authorization_expiring';
const STATUSES = [...CAPTURABLE_STATUSES];

/** A run comes every minute; what it leaves is met by the next. */
const RUN_MS = 45_000;
/** New holds are written many at once; what is due is looked at one by one, and read anew in between. */
const NEW_PER_STEP = 5_000;
const DUE_PER_STEP = 200;

/** What must be confirmed by the service, and was not. */
const ASK_AGAIN_MS = 5 * 60_000;

export function createAuthorizationCheck(parts: AuthorizationCheckParts): AuthorizationCheck {
  const { db, clock, log } = parts;

  const lookAt = async (paymentId: string, service: AuthorizationService | undefined) => {
    const before = await readAuthorization(db, paymentId);
    const plan = before && planFor(before, parts, clock.nowMs());
    const asked = plan?.asks ? await service?.refresh(paymentId) : undefined;
    if (asked?.outcome === 'stopped') return asked;
    const isConfirmed = asked?.outcome === 'applied';
    const plans = await db.transaction((tx) => speak(tx, parts, { paymentId, isConfirmed }));
    if (plans?.decision.speak !== undefined) {
      log.warn(
        { paymentId, hoursLeft: plans.decision.speak, isConfirmed },
        'authorization.expiring',
      );
    }
    if (plans && isConfirmed && service) await followPolicy(parts, service, plans);
    return asked;
  };

  return {
    look: async (paymentId) => {
      await lookAt(paymentId, undefined);
    },
    run: async () => {
      const endMs = clock.nowMs() + RUN_MS;
      // Rule 2; each of many would otherwise wait for the same silence.
      let isServiceAway = false;
      for await (const paymentId of workUntil(parts, endMs)) {
        const asks = !isServiceAway && !(await parts.isPaused());
        const asked = await lookAt(paymentId, asks ? parts.service : undefined);
        if (asked?.outcome === 'stopped') return;
        isServiceAway ||= isAway(asked);
      }
    },
  };
}

/** What is due, the most urgent first, until nothing is left or the time is over (rule 4). */
async function* workUntil(parts: AuthorizationCheckParts, endMs: number): AsyncGenerator<string> {
  const { db, clock } = parts;
  for (let isMore = true; isMore; ) {
    const begun = await watchNew(parts);
    const work = await readWork(db, clock.nowMs());
    for (const paymentId of work) {
      if (clock.nowMs() >= endMs) return;
      yield paymentId;
    }
    isMore = begun + work.size > 0 && clock.nowMs() < endMs;
  }
}

/**
 * Begins to watch what is new; what has something to be said is due at once, so that all that is due
 * comes in one order.
 * @returns how many
 */
async function watchNew(parts: AuthorizationCheckParts): Promise<number> {
  const { db, clock } = parts;
  const nowMs = clock.nowMs();
  const rows = await readUnwatched(db, { statuses: STATUSES, limit: NEW_PER_STEP });
  const watches = rows.flatMap((row) => {
    const plan = planFor(row, parts, nowMs);
    if (!plan) return [];
    const { startMs, deadlineMs, asks, decision } = plan;
    return {
      paymentId: row.paymentId,
      startAt: new Date(startMs),
      deadlineAt: new Date(deadlineMs),
      nextLookAt: new Date(asks ? nowMs : decision.nextLookMs),
    };
  });
  if (watches.length > 0) await beginWatches(db, watches);
  return watches.length;
}

async function readWork(db: Database, nowMs: number): Promise<ReadonlySet<string>> {
  const limit = DUE_PER_STEP;
  return new Set([
    ...(await readDue(db, { now: new Date(nowMs), limit })),
    ...(await readSettled(db, { statuses: STATUSES, limit })),
  ]);
}

function isAway(asked: Asked | undefined): boolean {
  return asked?.outcome === 'failed' && asked.isAway;
}

/** What an authorization comes to at an instant. */
interface Plan {
  readonly row: AuthorizationRow;
  readonly leftMinor: number;
  readonly startMs: number;
  readonly deadlineMs: number;
  readonly decision: Decision;
  /** The policy has something to do. */
  readonly isPolicyDue: boolean;
  /** The service is to be asked: before anything is said or done, and past the deadline. */
  readonly asks: boolean;
}

type Rules = Pick<AuthorizationCheckParts, 'thresholds' | 'policy'>;

/** Undefined when nothing can be captured. */
function planFor(
  row: AuthorizationRow,
  { thresholds, policy }: Rules,
  nowMs: number,
): Plan | undefined {
  const leftMinor = capturableMinor(row);
  if (leftMinor === 0) return undefined;
  const { startMs, deadlineMs } = deadlineOf({
    authorizedMs: row.authorizedMicros === null ? undefined : row.authorizedMicros / 1000,
    createdMs: row.createdAt?.getTime(),
    firstSeenMs: row.firstSeenAt.getTime(),
    captureBeforeMs: row.captureBefore?.getTime(),
  });
  const said =
    row.saidHours === null || row.saidDeadlineAt === null
      ? undefined
      : { hours: row.saidHours, deadlineMs: row.saidDeadlineAt.getTime() };
  const decision = decide({ deadlineMs, said, thresholds }, nowMs);
  const isPolicyDue =
    policy !== undefined && !row.hasPolicyActed && policyActs(policy, deadlineMs, nowMs);
  const asks = decision.speak !== undefined || isPolicyDue || nowMs >= deadlineMs;
  return { row, leftMinor, startMs, deadlineMs, decision, isPolicyDue, asks };
}

/** Decides over the locked payment and writes what follows (rule 1). */
async function speak(
  tx: Queryable,
  { clock, ...rules }: Rules & Pick<AuthorizationCheckParts, 'clock'>,
  { paymentId, isConfirmed }: { readonly paymentId: string; readonly isConfirmed: boolean },
): Promise<Plan | undefined> {
  const nowMs = clock.nowMs();
  const row = await lockAuthorization(tx, paymentId);
  const plan = row && planFor(row, rules, nowMs);
  const subject = resourceSubject({ kind: 'payment', id: paymentId });
  if (!plan) {
    await endWatch(tx, paymentId);
    await closeFindings(tx, [{ class: CLASS, subject }]);
    if (row?.saidHours !== null) await settleAlerts(tx, [holdAlerts(paymentId, undefined)]);
    return undefined;
  }
  const { decision, deadlineMs, startMs } = plan;
  const mustAskAgain = plan.isPolicyDue || (nowMs >= deadlineMs && !isConfirmed);
  await saveWatch(tx, {
    paymentId,
    startAt: new Date(startMs),
    deadlineAt: new Date(deadlineMs),
    said: decision.said && {
      hours: decision.said.hours,
      deadlineAt: new Date(decision.said.deadlineMs),
    },
    nextLookAt: new Date(
      mustAskAgain ? Math.min(nowMs + ASK_AGAIN_MS, decision.nextLookMs) : decision.nextLookMs,
    ),
  });
  if (decision.speak !== undefined) {
    await insertNotice(tx, noticeOf(plan, decision.speak));
    const detail = detailOf(plan, decision.speak, isConfirmed);
    await openFindings(tx, [{ class: CLASS, subject, detail }]);
    await settleAlerts(tx, [holdAlerts(paymentId, holdOf(plan, decision.speak, isConfirmed))]);
  } else if (decision.said === undefined) {
    // The deadline moved away from everything that was said.
    await closeFindings(tx, [{ class: CLASS, subject }]);
    if (row.saidHours !== null) await settleAlerts(tx, [holdAlerts(paymentId, undefined)]);
  }
  return plan;
}

function noticeOf({ row, deadlineMs, leftMinor }: Plan, thresholdHours: number) {
  return {
    paymentId: row.paymentId,
    deadlineAt: new Date(deadlineMs),
    thresholdHours,
    currency: row.currency,
    capturableMinor: leftMinor,
  };
}

function holdOf(
  { row, leftMinor, deadlineMs }: Plan,
  thresholdHours: number,
  isConfirmed: boolean,
): HoldFacts {
  return {
    paymentId: row.paymentId,
    orderId: namedOrderId(row.orderKey),
    status: row.status ?? undefined,
    currency: row.currency ?? undefined,
    capturableMinor: leftMinor,
    deadlineMs,
    thresholdHours,
    isConfirmed,
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

/** Rule 3. The claim is committed before the request: a crash between them leaves it undone, not twice. */
async function followPolicy(
  parts: AuthorizationCheckParts,
  service: AuthorizationService,
  plan: Plan,
): Promise<void> {
  const { db, log, policy } = parts;
  const { paymentId } = plan.row;
  // Rule 5: somebody may have paused it while the service was asked.
  if (!policy || !plan.isPolicyDue || (await parts.isPaused())) return;
  const notice = noticeOf(plan, policy.hours);
  const claim = await claimPolicy(db, { ...notice, action: policy.action });
  if (claim === undefined) return;
  const acted = await service.act({ action: policy.action, paymentId, ...reasonOf(policy) });
  await saveOutcome(db, claim, describe(acted));
  log.warn({ paymentId, action: policy.action, ...acted }, 'authorization.policy_acted');
  await service.refresh(paymentId);
  await db.transaction((tx) => speak(tx, parts, { paymentId, isConfirmed: true }));
}

function reasonOf({ action, hours }: Policy): { readonly reason?: string } {
  return action === 'cancel' ? { reason: `not captured ${hours} h before the deadline` } : {};
}

function describe(acted: Acted): string {
  return acted.outcome === 'done' ? 'done' : `${acted.outcome}: ${acted.reason}`;
}
