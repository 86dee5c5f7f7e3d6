/**
 * Watches authorizations until they are captured or expire: finds new ones, sends reminders at their
 * thresholds, retrieves the payment first, and follows the policy.
 *
 * 1. What is due is decided twice by the same pure rule: once to know whether the payment must be
 *    retrieved, and again over the locked payment, in the transaction that records it.
 * 2. Reminders are sent even if the service is unavailable. They then show the ledger's state, and that
 *    it is not confirmed.
 * 3. A policy acts only on what the service has just confirmed. domain/attempts.ts has the rules by
 *    which it tries again without capturing twice. The alert reports a failed attempt. It leaves a hold alone
 *    on which a person acts, or has just acted with an unknown outcome: the claims of both exclude each other.
 * 4. The nearest deadline comes first, and a run continues while there is more, for up to RUN_MS: a
 *    backlog of new holds delays no reminder.
 * 5. While reconciliation is paused, no request is sent to the service. Reminders are still sent.
 * 6. Each reminder raises the alert or sends it again. When a part was captured since, the next run has the alert
 *    and the finding show the rest, without a notification. When nothing is held any more, the alert is resolved
 *    in the same transaction.
 * 7. A payment that cannot be checked delays no other. Before anything is sent, a run waits LOCK_WAIT_MS
 *    for what another transaction holds, such as that of a worker that hangs. It logs the failure,
 *    postpones the check and continues. A failure that affects every transaction ends the run.
 *
 * The finding is not one of those that follow the state of a resource: these close when the payment is
 * retrieved, although the deadline still approaches.
 */
import { CAPTURABLE_STATUSES } from '../contract/statuses.ts';
import type { ActionOutcome } from '../outcomes/action.ts';
import type { RefreshOutcome } from '../outcomes/refresh.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { affectsEveryTransaction } from '../platform/db/failures.ts';
import { limitingLockWaits } from '../platform/db/lockWaits.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { MINUTE_MS, SECOND_MS } from '../platform/time.ts';
import {
  type AuthorizationRules,
  assessHold,
  type HoldAssessment,
  nextCheckMs,
} from './assessHold.ts';
import type { AuthorizationService } from './authorizationService.ts';
import { isInProgress, UNKNOWN_WAIT_MS } from './domain/attempts.ts';
import type { Policy, PolicyAction } from './domain/reminders.ts';
import { recordReminder, reminderOf } from './recordReminder.ts';
import {
  beginWatches,
  claimAttempt,
  postponeDue,
  readAuthorization,
  readChanged,
  readDue,
  readUnwatched,
  saveOutcome,
} from './store/authorizations.ts';

export interface AuthorizationCheckParts extends AuthorizationRules {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined where no API key is set. */
  readonly service: AuthorizationService | undefined;
  readonly isPaused: () => Promise<boolean>;
  /**
   * The attempt of a person on a hold that began within `withinMs` and of which it is not known how it ended. It
   * makes people who claim the hold wait for the transaction.
   */
  readonly lockPersonsAttempt: (
    tx: Queryable,
    paymentId: string,
    withinMs: number,
  ) => Promise<number | undefined>;
}

/** An attempt of the policy that may be in progress. */
export interface PolicyInProgress {
  readonly action: PolicyAction;
  readonly since: Date;
}

export interface AuthorizationCheck {
  /** Checks everything that is new, due or changed, for a bounded time. */
  run(): Promise<void>;
  /**
   * Checks one payment now, without retrieving it: the caller just has.
   * @param isConfirmed the service responded with it
   */
  checkOne(paymentId: string, isConfirmed: boolean): Promise<void>;
  /** The attempt of the policy on a payment that may be in progress. */
  readInProgress(paymentId: string): Promise<PolicyInProgress | undefined>;
}

const STATUSES = [...CAPTURABLE_STATUSES];

/** A run starts every minute; the next one takes up what this one leaves. */
const RUN_MS = 45 * SECOND_MS;
/** New holds are written in bulk. Those that are due are checked one by one, and read again in between. */
const NEW_PER_BATCH = 5_000;
const DUE_PER_BATCH = 200;
/** Rule 7. Others hold a payment for milliseconds; what lasts longer may last for hours. */
const LOCK_WAIT_MS = 500;
/** Long enough that a run has time for the others, even if a worker that hangs holds hundreds of payments. */
const RETRY_CHECK_MS = 5 * MINUTE_MS;

export function createAuthorizationCheck(parts: AuthorizationCheckParts): AuthorizationCheck {
  const { db, clock, log } = parts;
  const search: ChangeSearch = { after: '' };

  const check = async (
    { paymentId, isChanged }: Wanted,
    service: AuthorizationService | undefined,
  ) => {
    const row = await readAuthorization(db, paymentId);
    const before = row && assessHold(row, parts, clock.nowMs());
    const needsRefresh = before !== undefined && (before.needsRefresh || isChanged);
    const refreshed = needsRefresh ? await service?.refresh(paymentId, LOCK_WAIT_MS) : undefined;
    if (refreshed?.outcome === 'stopped') return refreshed;
    const isConfirmed = refreshed?.outcome === 'applied';
    const hold = await limitingLockWaits(db, LOCK_WAIT_MS).transaction((tx) =>
      recordReminder(tx, parts, { paymentId, isConfirmed, isChanged }),
    );
    logReminder(parts, hold, isConfirmed);
    if (hold && isConfirmed && service) await followPolicy(parts, service, hold);
    return refreshed;
  };

  /** Rule 7. */
  const checkOrPostpone = async (
    wanted: Wanted,
    service: AuthorizationService | undefined,
  ): Promise<RefreshOutcome | undefined> => {
    const { paymentId } = wanted;
    try {
      return await check(wanted, service);
    } catch (thrown) {
      if (affectsEveryTransaction(thrown)) throw thrown;
      const now = new Date(clock.nowMs());
      const nextCheckAt = new Date(now.getTime() + RETRY_CHECK_MS);
      log.warn({ error: toError(thrown), paymentId, nextCheckAt }, 'authorization.check_failed');
      await postponeDue(db, { paymentId, now, nextCheckAt });
      return undefined;
    }
  };

  return {
    checkOne: async (paymentId, isConfirmed) => {
      const hold = await db.transaction((tx) =>
        recordReminder(tx, parts, { paymentId, isConfirmed }),
      );
      logReminder(parts, hold, isConfirmed);
    },
    readInProgress: async (paymentId) => {
      const last = (await readAuthorization(db, paymentId))?.lastAttempt;
      if (!last || !isInProgress(last, clock.nowMs())) return undefined;
      return { action: last.action, since: new Date(last.atMs) };
    },
    run: async () => {
      const endMs = clock.nowMs() + RUN_MS;
      // Rule 2. Otherwise each payment would wait for the same timeout.
      let isServiceUnavailable = false;
      for await (const wanted of workUntil(parts, search, endMs)) {
        if (wanted.isChanged) search.after = wanted.paymentId;
        const mayRequest = !isServiceUnavailable && !(await parts.isPaused());
        const refreshed = await checkOrPostpone(wanted, mayRequest ? parts.service : undefined);
        if (refreshed?.outcome === 'stopped') return;
        isServiceUnavailable ||= isUnavailable(refreshed);
      }
    },
  };
}

function logReminder(
  { log }: AuthorizationCheckParts,
  hold: HoldAssessment | undefined,
  isConfirmed: boolean,
): void {
  if (hold?.reminder.dueHours === undefined) return;
  const { row, reminder } = hold;
  log.warn(
    { paymentId: row.paymentId, hoursLeft: reminder.dueHours, isConfirmed },
    'authorization.expiring',
  );
}

/** What to check. */
interface Wanted {
  readonly paymentId: string;
  /** Another amount can be captured than at its last reminder. */
  readonly isChanged: boolean;
}

/** Where the search for what has changed continues: a run that its time ended leaves the rest to the next one. */
interface ChangeSearch {
  after: string;
}

/**
 * What is due, the most urgent first, until nothing is left or the time is over (rule 4). What is new and
 * what has changed since its reminder is found among all that is held, so a run looks again only where a
 * limit cut it off. Each payment comes once: one that could be neither checked nor postponed waits for the
 * next run.
 */
async function* workUntil(
  parts: AuthorizationCheckParts,
  search: ChangeSearch,
  endMs: number,
): AsyncGenerator<Wanted> {
  const { db, clock } = parts;
  const limit = DUE_PER_BATCH;
  let mayBeNew = true;
  let mayBeChanged = true;
  const begun = new Set<string>();
  for (let isMore = true; isMore; ) {
    mayBeNew &&= await watchNew(parts);
    const due = await readDue(db, { now: new Date(clock.nowMs()), limit });
    const found: readonly string[] = mayBeChanged
      ? await readChanged(db, { statuses: STATUSES, after: search.after, limit })
      : [];
    mayBeChanged = found.length === limit;
    const changed = new Set(found);
    const next = [...new Set([...due, ...found])].filter((paymentId) => !begun.has(paymentId));
    for (const paymentId of next) {
      if (clock.nowMs() >= endMs) return;
      begun.add(paymentId);
      yield { paymentId, isChanged: changed.has(paymentId) };
    }
    if (!mayBeChanged) search.after = '';
    isMore = (mayBeNew || next.length > 0) && clock.nowMs() < endMs;
  }
}

/**
 * Begins to watch what is new. A hold with a reminder due is due at once, so that everything due comes
 * in one order.
 * @returns whether more may be new
 */
async function watchNew(parts: AuthorizationCheckParts): Promise<boolean> {
  const { db, clock } = parts;
  const nowMs = clock.nowMs();
  const rows = await readUnwatched(db, { statuses: STATUSES, limit: NEW_PER_BATCH });
  const watches = rows.flatMap((row) => {
    const hold = assessHold(row, parts, nowMs);
    if (!hold) return [];
    const { startMs, deadlineMs, needsRefresh } = hold;
    return {
      paymentId: row.paymentId,
      startAt: new Date(startMs),
      deadlineAt: new Date(deadlineMs),
      nextCheckAt: new Date(needsRefresh ? nowMs : nextCheckMs(hold, false, nowMs)),
    };
  });
  if (watches.length > 0) await beginWatches(db, watches);
  return rows.length === NEW_PER_BATCH && watches.length > 0;
}

function isUnavailable(refreshed: RefreshOutcome | undefined): boolean {
  return refreshed?.outcome === 'failed' && refreshed.isUnavailable;
}

/**
 * Rule 3. Each attempt is claimed in a commit before its request is sent: a crash in between leaves an
 * attempt of unknown outcome, never two requests for one claim.
 */
async function followPolicy(
  parts: AuthorizationCheckParts,
  service: AuthorizationService,
  hold: HoldAssessment,
): Promise<void> {
  const { db, log, policy } = parts;
  const { paymentId } = hold.row;
  // Rule 5: reconciliation may have been paused during the retrieve.
  if (!policy || hold.policy.step !== 'try' || (await parts.isPaused())) return;
  const attempt = hold.policy.number;
  const claim = await claimForPolicy(parts, { hold, policy, attempt });
  if (claim === undefined) return;
  const result = await service.act({ action: policy.action, paymentId, ...reasonOf(policy) });
  await saveOutcome(db, claim, describe(result));
  log.warn({ paymentId, attempt, action: policy.action, ...result }, 'authorization.policy_acted');
  const refreshed = await service.refresh(paymentId);
  const isConfirmed = refreshed.outcome === 'applied';
  await db.transaction((tx) =>
    recordReminder(tx, parts, { paymentId, isConfirmed, isAfterAttempt: true }),
  );
}

interface PolicyAttempt {
  readonly hold: HoldAssessment;
  readonly policy: Policy;
  readonly attempt: number;
}

/**
 * Claims an attempt, unless a person acts on the hold, or has changed it since its retrieve.
 * @returns the id of the claim; undefined where there is none
 */
function claimForPolicy(
  parts: AuthorizationCheckParts,
  { hold, policy, attempt }: PolicyAttempt,
): Promise<number | undefined> {
  const { db, log, clock, lockPersonsAttempt } = parts;
  const { paymentId } = hold.row;
  return db.transaction(async (tx) => {
    const persons = await lockPersonsAttempt(tx, paymentId, UNKNOWN_WAIT_MS);
    if (persons !== undefined) {
      log.warn({ paymentId, attempt: persons }, 'authorization.policy_waits');
      return undefined;
    }
    const row = await readAuthorization(tx, paymentId);
    const now = row && assessHold(row, parts, clock.nowMs());
    if (now?.capturableMinor !== hold.capturableMinor) return undefined;
    return await claimAttempt(tx, {
      ...reminderOf(hold, policy.hours),
      action: policy.action,
      attempt,
      at: new Date(clock.nowMs()),
    });
  });
}

function reasonOf({ action, hours }: Policy): { readonly reason?: string } {
  return action === 'cancel' ? { reason: `not captured ${hours} h before the deadline` } : {};
}

function describe(result: ActionOutcome): string {
  return result.outcome === 'done' ? 'done' : `${result.outcome}: ${result.reason}`;
}
