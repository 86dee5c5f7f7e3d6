/**
 * Judges the facts of an installation and names a remedy for each problem.
 *
 * 1. A check that could not run is reported as not checked; it never passes.
 * 2. Every problem has a remedy: a setting to change or a command to run.
 * 3. No result contains a key or a secret.
 */
import { keyKindOf } from '../../contract/authentication.ts';
import { counted } from '../../platform/counted.ts';
import { DAY_MS } from '../../platform/time.ts';

export const CHECK_STATES = ['ok', 'warning', 'failed', 'not_checked'] as const;
export type CheckState = (typeof CHECK_STATES)[number];

/** The result of a check. */
export interface Judgment {
  readonly state: CheckState;
  readonly result: string;
  /** Null exactly if the state is ok. */
  readonly remedy: string | null;
}

/** A judgment other than ok. */
export interface Problem extends Judgment {
  readonly remedy: string;
}

export const ok = (result: string): Judgment => ({ state: 'ok', result, remedy: null });
const bad =
  (state: 'warning' | 'failed' | 'not_checked') =>
  (result: string, remedy: string): Problem => ({ state, result, remedy });
export const failed = bad('failed');
export const warning = bad('warning');
export const notChecked = bad('not_checked');

/** How the service responded to the key; see PaymentServiceError. */
export interface KeyResponse {
  readonly httpStatus: number | undefined;
  readonly code: string | undefined;
  /** Contains no secret. */
  readonly message: string;
}

/**
 * Judges the response of `GET /health`. service-interface.md §5.3: 401 AU_01 for
 * an invalid key, AU_02 for a revoked one, 403 for one without permission.
 */
export function judgeKey(response: KeyResponse | 'healthy', baseUrl: string): Judgment {
  if (response === 'healthy') return ok('the service accepts the key');
  const { httpStatus, code, message } = response;
  if (code === 'AU_02') {
    return failed(
      'the key was revoked',
      'Create a new key at the service, set PAYMENTS_API_KEY, and restart.',
    );
  }
  if (httpStatus === 401) {
    return failed(
      'the service does not know the key',
      'Compare PAYMENTS_API_KEY with the key at the service: complete and without quotes. A sandbox ' +
        'key works at the sandbox address only.',
    );
  }
  if (httpStatus === 403) {
    return failed(
      'the key has no permission for this',
      'Give the key the permissions of a secret key, or create one that has them.',
    );
  }
  if (httpStatus === 404) {
    return failed(
      `no payment service responds at ${baseUrl}`,
      'Set PAYMENTS_BASE_URL to the base address, without /health or any other path.',
    );
  }
  if (httpStatus === 429) {
    return failed(
      'the rate limit of the service is used up',
      'Look for a program that polls in a loop with the same key, or request a higher limit from the ' +
        'service. Run this again in a minute: the key was not checked.',
    );
  }
  return failed(
    `the service did not respond as expected (${message})`,
    `Check PAYMENTS_BASE_URL (${baseUrl}) and that this machine can reach it. The service itself may be unavailable.`,
  );
}

const SANDBOX_WORDS = /(^|[.-])(sandbox|test|staging|dev)([.-]|$)/i;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The settings that name the payment service. */
export interface ServiceSettings {
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
}

/** Judges an installation that has no service, because a setting of it is missing. */
export function judgeMissingService({ baseUrl, apiKey }: ServiceSettings): Problem {
  const effect = 'webhooks are applied, but nothing is reconciled';
  if (apiKey !== undefined) {
    return failed(
      `PAYMENTS_API_KEY is set without PAYMENTS_BASE_URL: ${effect}`,
      'Set PAYMENTS_BASE_URL to the address of the service.',
    );
  }
  if (baseUrl !== undefined) {
    return warning(
      `PAYMENTS_BASE_URL is set without PAYMENTS_API_KEY: ${effect}`,
      'Set PAYMENTS_API_KEY to a secret key of the service.',
    );
  }
  return warning(`no API key is set: ${effect}`, 'Set PAYMENTS_BASE_URL and PAYMENTS_API_KEY.');
}

/**
 * Whether the key's mode (production or sandbox) matches the address: production keys create real charges.
 * service-interface.md §1.2. The contract does not list the addresses, so the host name decides.
 */
export function judgeKeyKind(apiKey: string, baseUrl: string): Judgment {
  const host = new URL(baseUrl).hostname;
  const isTest = LOOPBACK.test(host) || SANDBOX_WORDS.test(host);
  switch (keyKindOf(apiKey)) {
    case 'productionSecret':
      return isTest
        ? failed(
            `a production key is used with ${host}, which looks like a sandbox`,
            'Set PAYMENTS_BASE_URL to the production address, or PAYMENTS_API_KEY to a sandbox key.',
          )
        : ok(`a production key, and ${host}`);
    case 'sandboxSecret':
      return isTest
        ? ok(`a sandbox key, and ${host}`)
        : warning(
            `a sandbox key is used with ${host}, which does not look like a sandbox`,
            'Make sure that PAYMENTS_BASE_URL is the sandbox address; for real payments set a production key.',
          );
    default:
      return failed(
        'the key is not a secret key of the service',
        'Set PAYMENTS_API_KEY to a secret key; they begin with snd_ or prd_.',
      );
  }
}

/** A `Date` header has whole seconds, and a response takes time to arrive. */
const CLOCK_WARNING_MS = 5_000;
/** A version more than five minutes ahead is not used (ledger/domain/snapshot.ts); this leaves a margin. */
const CLOCK_FAILURE_MS = 60_000;

/**
 * @param skewMs this machine's clock minus the service's
 * @param isSandbox whether the service is the sandbox of this process; its clock can be advanced
 */
export function judgeClock(skewMs: number, isSandbox: boolean): Judgment {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const which = `this machine's clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the service's`;
  if (isSandbox && skewMs < -CLOCK_WARNING_MS) {
    return ok(`the sandbox's clock was advanced by ${seconds} s`);
  }
  const remedy = 'Synchronize the clock by NTP, for example with `timedatectl set-ntp true`.';
  if (Math.abs(skewMs) > CLOCK_FAILURE_MS) return failed(which, remedy);
  if (Math.abs(skewMs) > CLOCK_WARNING_MS) return warning(which, remedy);
  return ok("this machine's clock agrees with the service's");
}

/** Stored times follow the database's clock; from here on, what follows a machine's clock is unreliable. */
const SKEW_WARNING_MS = 2_000;
const SKEW_FAILURE_MS = 60_000;

/** @param skewMs this machine's clock minus the database's */
export function judgeDatabaseClock(skewMs: number): Judgment {
  const isOff = Math.abs(skewMs) > SKEW_WARNING_MS;
  if (!isOff) return ok("this machine's clock agrees with the database's");
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const judge = Math.abs(skewMs) > SKEW_FAILURE_MS ? failed : warning;
  return judge(
    `this machine's clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the database's`,
    'Synchronize both clocks by NTP, for example with `timedatectl set-ntp true`. Stored times follow the ' +
      "database's clock; logs, certificates and timers follow the clock of this machine.",
  );
}

/** The watermark of a list: everything before it is compared. */
export interface WatermarkFacts {
  readonly stream: string;
  readonly at: Date;
}

/** @param nowMs the service's current time, or this machine's if the service's is unknown */
export function judgeWatermarks(watermarks: readonly WatermarkFacts[], nowMs: number): Judgment {
  const ahead = watermarks.filter(({ at }) => at.getTime() > nowMs);
  if (ahead.length === 0) return ok('no watermark is in the future');
  const named = ahead.map(({ stream, at }) => `${stream} up to ${at.toISOString()}`).join(', ');
  return failed(
    `watermarks are in the future, so new rows are not compared: ${named}`,
    'Run: npx tallyhook reconcile. It resets the watermarks and compares what was skipped; the schedule ' +
      'does the same every five minutes.',
  );
}

/** A pause of background requests that has not ended. */
export interface PauseFacts {
  readonly pausedAt: Date;
  readonly pausedBy: string;
  readonly reason: string;
}

/** @param pause the current pause, if any */
export function judgePause(pause: PauseFacts | undefined): Judgment {
  if (pause === undefined) return ok('not paused');
  return warning(
    `${pause.pausedBy} paused it at ${pause.pausedAt.toISOString()}: ${pause.reason}`,
    'When the reason is gone, run: npx tallyhook resume',
  );
}

/** An action on money or evidence without a recorded result (audit/interrupted.ts). */
export interface OpenAttempt {
  readonly id: number;
  readonly action: string;
  readonly subjectId: string;
  readonly actorName: string;
  readonly recordedAt: Date;
}

/** The most attempts that are named; one more shows that there are more. */
export const MOST_ATTEMPTS_NAMED = 20;

/** @param attempts those that no process can still be carrying out, the oldest; one more than are named if there are so many */
export function judgeOpenAttempts(attempts: readonly OpenAttempt[]): Judgment {
  if (attempts.length === 0) {
    return ok('every movement of money and every submission of evidence by a person has a result');
  }
  const named = attempts
    .slice(0, MOST_ATTEMPTS_NAMED)
    .map(
      ({ id, action, subjectId, actorName, recordedAt }) =>
        `${action} of ${subjectId} by ${actorName} at ${recordedAt.toISOString()} (attempt ${id})`,
    );
  const more =
    attempts.length > MOST_ATTEMPTS_NAMED
      ? '; and more, which npx tallyhook audit list --open lists'
      : '';
  return warning(
    `the process ended before the service responded: ${named.join('; ')}${more}`,
    remedyOf(attempts),
  );
}

const isEvidence = ({ action }: OpenAttempt) =>
  action === 'dispute.evidence' || action === 'dispute.upload';

/** How a person finds out what became of the attempts, and what comes after. */
function remedyOf(attempts: readonly OpenAttempt[]): string {
  const refresh =
    'Run npx tallyhook refresh with the id of each payment, payout or accepted dispute, and compare.';
  const evidence =
    'For evidence, run npx tallyhook disputes evidence with the id of the dispute, and compare. A file that it does not list is not evidence.';
  const record =
    'Then record what became of each attempt: npx tallyhook audit close NUMBER --outcome done|failed --reason TEXT.';
  const repeat = 'Then submit or upload again what is missing, before the deadline of the dispute.';
  return [
    ...(attempts.every(isEvidence) ? [] : [refresh]),
    ...(attempts.some(isEvidence) ? [evidence] : []),
    record,
    ...(attempts.some(isEvidence) ? [repeat] : []),
    'This warning ends after a week.',
  ].join(' ');
}

/** A token that is still valid. */
export interface ExpiringTokenFacts {
  readonly name: string;
  readonly role: string;
  readonly expiresAt: Date;
}

/** How long before a token expires its holder needs another one. */
export const TOKEN_WARNING_DAYS = 14;

/** @param tokens those that expire within TOKEN_WARNING_DAYS */
export function judgeTokens(tokens: readonly ExpiringTokenFacts[]): Judgment {
  if (tokens.length === 0) return ok(`no token expires within ${TOKEN_WARNING_DAYS} days`);
  const named = tokens.map(
    ({ name, role, expiresAt }) => `${name} (${role}) at ${expiresAt.toISOString()}`,
  );
  return warning(
    `tokens expire, and requests with them are refused then: ${named.join('; ')}`,
    'Create another token for each holder with npx tallyhook tokens create, and revoke the old one. Revoke those that nobody needs.',
  );
}

/** PostgreSQL gives up delays of its own vacuum when fewer are left, and warns of it at each statement from 40 million. */
const FEW_IDS = 500_000_000;
const VERY_FEW_IDS = 100_000_000;

/** @param left how many transaction ids the server can assign without a vacuum */
export function judgeIdsLeft(left: number): Judgment {
  const millions = Math.floor(left / 1_000_000);
  if (left >= FEW_IDS) return ok(`${millions} million are left`);
  return (left < VERY_FEW_IDS ? failed : warning)(
    `${millions} million are left; from 3 million on, PostgreSQL refuses to write, and deliveries get 503`,
    'Remove what keeps vacuum from freezing rows: prepared transactions (pg_prepared_xacts), replication slots that ' +
      'nobody reads (pg_replication_slots), transactions that stay open (pg_stat_activity). Then run VACUUM in the ' +
      'database of which age(datfrozenxid) or mxid_age(datminmxid) in pg_database is the largest.',
  );
}

/** @param bound the account that the database belongs to, if any */
export function judgeAccount(bound: string | undefined, merchantId: string): Judgment {
  if (bound === undefined) return ok(`the ledger is empty; it will belong to ${merchantId}`);
  if (bound === merchantId) return ok(`the ledger belongs to ${merchantId}`);
  return failed(
    `the ledger belongs to ${bound}, but PAYMENTS_MERCHANT_ID is ${merchantId}`,
    'Set PAYMENTS_MERCHANT_ID to the account of the ledger, or use another database.',
  );
}

/** Why the queue refuses work, and what to do. */
export interface QueueFacts {
  readonly reason: string;
  readonly remedy: string;
}

/** @param problem undefined if a job was added, claimed and finished */
export function judgeQueue(problem: QueueFacts | undefined): Judgment {
  if (problem === undefined) return ok('a job was added, claimed and finished');
  return failed(
    problem.reason,
    `${problem.remedy} No event is lost: events wait in the database until the queue works.`,
  );
}

/** @param error undefined if the archive can be reached */
export function judgeArchive(description: string, error: Error | undefined): Judgment {
  if (error === undefined) return ok(`${description} can be reached`);
  return failed(
    `${description} cannot be used (${error.message})`,
    'Check ARCHIVE_URL, its credentials, that its file system is mounted, and who may write there. Until then retention removes nothing.',
  );
}

/** Partitions of bodies are made every hour for a week ahead. */
const MIN_BODY_DAYS_AHEAD = 3;

/** @param days for how many days after today bodies have a partition; -1 if today has none */
export function judgeBodyDays(days: number): Judgment {
  const remedy =
    'Check that a process with the role scheduler runs, the database rights above, and the log for body_days.';
  if (days < 0) return failed('today has no partition: events may be refused', remedy);
  const result = `partitions exist for ${days} days after today`;
  return days < MIN_BODY_DAYS_AHEAD ? failed(result, remedy) : ok(result);
}

/** How far bodies that an older version stored are copied into their days. */
export interface CopyFacts {
  readonly isCopying: boolean;
  readonly copiedThrough: number;
  readonly lastEventId: number;
  /** Since the last step; null before the first. */
  readonly steppedAgoMs: number | null;
}

/** The schedule makes a step every minute. */
const COPY_LIMIT_MS = 10 * 60_000;

export function judgeBodyCopy(facts: CopyFacts): Judgment {
  const { isCopying, copiedThrough, lastEventId, steppedAgoMs } = facts;
  if (!isCopying) return ok('no body of an older version is left to copy');
  const result = `bodies of an older version are copied up to event ${copiedThrough} of ${lastEventId}`;
  if (steppedAgoMs !== null && steppedAgoMs <= COPY_LIMIT_MS) return ok(result);
  return warning(
    `${result}, and the copy does not continue`,
    'Check that a process with the role scheduler runs, and its log for the schedule bodies. Until they are ' +
      'copied, these bodies are readable, but retention removes none of them.',
  );
}

/** What `tallyhook verify` has proven, and when. Times are milliseconds since 1970. */
export interface ProofFacts {
  readonly lastRunMs: number | null;
  readonly fullFromMs: number | null;
  readonly fullAtMs: number | null;
  readonly failures: number;
}

/** Two nights without a run. */
const MAX_RUN_AGE_MS = 2 * DAY_MS;

/** @param fullDays in how many days everything is to be proven */
export function judgeProof(proof: ProofFacts, nowMs: number, fullDays: number): Judgment {
  const { lastRunMs, fullFromMs, fullAtMs, failures } = proof;
  if (failures > 0) {
    return failed(
      `${failures} resources, orders or events fail a check`,
      'Run: npx tallyhook verify. It names each of them.',
    );
  }
  if (lastRunMs === null) return ok('not proven yet; the scheduler begins at 01:00 UTC');
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  if (nowMs - lastRunMs > MAX_RUN_AGE_MS) {
    return warning(
      `the ledger was last proven on ${day(lastRunMs)}`,
      'Check that a process with the role scheduler runs, or run: npx tallyhook verify',
    );
  }
  if (fullFromMs === null || fullAtMs === null)
    return ok('the first proof of everything continues');
  const full = `everything was last proven from ${day(fullFromMs)} to ${day(fullAtMs)}`;
  if (nowMs - fullAtMs <= fullDays * DAY_MS + MAX_RUN_AGE_MS) return ok(full);
  return warning(
    full,
    `Run npx tallyhook verify --full in a quiet hour, or raise VERIFY_FULL_DAYS (${fullDays}): the nights are too short for a larger share.`,
  );
}

/** @param publicKey of CHAIN_KEY; undefined if it is not set here */
export function judgeChain(
  head: { readonly number: number; readonly publicKey: string | null } | undefined,
  publicKey: string | undefined,
): Judgment {
  if (head === undefined) return ok('no transfer is chained yet');
  const { number } = head;
  if (head.publicKey === null) {
    return warning(
      `block ${number} is not signed: whoever can change the database can make the chain again`,
      'Set CHAIN_KEY where the scheduler runs, for example to the output of: openssl rand -hex 32',
    );
  }
  if (publicKey === undefined || publicKey === head.publicKey) return ok(`block ${number}, signed`);
  return warning(
    `block ${number} is signed with the key ${head.publicKey}, and CHAIN_KEY of this machine has another one`,
    'Set the same CHAIN_KEY everywhere. If it is the same, run: npx tallyhook verify --chain',
  );
}

/** Events that wait to be applied. */
export interface PendingFacts {
  readonly events: number;
  readonly oldestAgeSeconds: number;
  /** Of the oldest that was not tried yet; undefined if there is none. */
  readonly untriedAgeMs: number | undefined;
  /** Whether a process with the role `events` is ready. */
  readonly applier: 'ready' | 'not_ready' | 'none';
}

/** A process that starts again is ready within it. */
const RESTART_SECONDS = 30;

export function judgePending(facts: PendingFacts, limitMs: number): Judgment {
  const { applier, events, oldestAgeSeconds, untriedAgeMs: ageMs } = facts;
  if (applier !== 'ready' && events > 0 && oldestAgeSeconds > RESTART_SECONDS) {
    const wait = `${counted(events, 'event')} ${events === 1 ? 'waits' : 'wait'} to be applied, the oldest for ${Math.round(oldestAgeSeconds)} s`;
    return applier === 'none'
      ? failed(
          `${wait}, and no process has the role events`,
          'Run: npx tallyhook start --roles events',
        )
      : failed(
          `${wait}, and no process with the role events is ready`,
          'Run: npx tallyhook processes. It has the reason.',
        );
  }
  if (ageMs === undefined) return ok('no event waits to be applied');
  const seconds = Math.round(ageMs / 1000);
  if (ageMs <= limitMs) return ok(`the oldest waits for ${seconds} s`);
  return failed(
    `events are not applied: the oldest waits for ${seconds} s`,
    'Check that a process with the role events runs, and the queue check below.',
  );
}
