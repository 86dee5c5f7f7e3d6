/**
 * Watches authorizations: finds new ones, speaks of each at its thresholds, asks the service before
 * it speaks and at the deadline, and acts where a policy says so.
 *
 * 1. What is said is decided twice by the same pure rule: once to know whether the service must be
 *    asked, and again over the locked payment, in the transaction that says it.
 * 2. A service that is away silences nothing: then what is known is said, and that it was not
 *    confirmed.
 * 3. A policy acts only on what the service has just confirmed; when it tries again, and why that can
 *    capture nothing twice, stands in domain/attempts.ts. A failed attempt is said in the alert.
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

import { CAPTURABLE_STATUSES } from '../contract/statuses.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import { SECOND_MS } from '../platform/time.ts';
import type { Policy } from './domain/authorization.ts';
import { nextLookMs, type Plan, planFor, type Rules } from './plan.ts';
import { noticeOf, speak } from './remind.ts';
import type { Acted, Asked, AuthorizationService } from './service.ts';
import {
  beginWatches,
  claimAttempt,
  readAuthorization,
  readDue,
  readSettled,
  readUnwatched,
  saveOutcome,
} from './store/authorizations.ts';

export interface AuthorizationCheckParts extends Rules {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
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

const STATUSES = [...CAPTURABLE_STATUSES];

/** A run comes every minute; what it leaves is met by the next. */
const RUN_MS = 45 * SECOND_MS;
/** New holds are written many at once; what is due is looked at one by one, and read anew in between. */
const NEW_PER_STEP = 5_000;
const DUE_PER_STEP = 200;

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
    const { startMs, deadlineMs, asks } = plan;
    return {
      paymentId: row.paymentId,
      startAt: new Date(startMs),
      deadlineAt: new Date(deadlineMs),
      nextLookAt: new Date(asks ? nowMs : nextLookMs(plan, false, nowMs)),
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

/**
 * Rule 3. Each attempt is claimed in a commit before its request is sent: a crash in between leaves an
 * attempt of unknown outcome, never two requests for one claim.
 */
async function followPolicy(
  parts: AuthorizationCheckParts,
  service: AuthorizationService,
  plan: Plan,
): Promise<void> {
  const { db, log, policy, clock } = parts;
  const { paymentId } = plan.row;
  // Rule 5: somebody may have paused it while the service was asked.
  if (!policy || plan.policy.step !== 'try' || (await parts.isPaused())) return;
  const attempt = plan.policy.number;
  const claim = await claimAttempt(db, {
    ...noticeOf(plan, policy.hours),
    action: policy.action,
    attempt,
    at: new Date(clock.nowMs()),
  });
  if (claim === undefined) return;
  const acted = await service.act({ action: policy.action, paymentId, ...reasonOf(policy) });
  await saveOutcome(db, claim, describe(acted));
  log.warn({ paymentId, attempt, action: policy.action, ...acted }, 'authorization.policy_acted');
  const asked = await service.refresh(paymentId);
  const isConfirmed = asked.outcome === 'applied';
  await db.transaction((tx) => speak(tx, parts, { paymentId, isConfirmed, isAfterAttempt: true }));
}

function reasonOf({ action, hours }: Policy): { readonly reason?: string } {
  return action === 'cancel' ? { reason: `not captured ${hours} h before the deadline` } : {};
}

function describe(acted: Acted): string {
  return acted.outcome === 'done' ? 'done' : `${acted.outcome}: ${acted.reason}`;
}
