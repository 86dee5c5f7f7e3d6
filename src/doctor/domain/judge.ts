/**
 * What is wrong with an installation, told from what was seen of it, and what to do about it.
 *
 * 1. A check that could not be made is said to be unmade; it never passes.
 * 2. Whatever is not right comes with a remedy: a setting to change or a command to run.
 * 3. Nothing that is said holds a key or a secret.
 */
import { keyKindOf } from '../../contract/authentication.ts';

export const CHECK_STATES = ['ok', 'warning', 'failed', 'not_checked'] as const;
export type CheckState = (typeof CHECK_STATES)[number];

/** What a check found. */
export interface Judgement {
  readonly state: CheckState;
  readonly result: string;
  /** Null exactly where all is well. */
  readonly remedy: string | null;
}

export const ok = (result: string): Judgement => ({ state: 'ok', result, remedy: null });
export const bad =
  (state: 'warning' | 'failed' | 'not_checked') =>
  (result: string, remedy: string): Judgement => ({ state, result, remedy });
const failed = bad('failed');
const warning = bad('warning');

/** How the service answered to the key; see PaymentServiceError. */
export interface KeyAnswer {
  readonly httpStatus: number | undefined;
  readonly code: string | undefined;
  /** Free of secrets. */
  readonly message: string;
}

/**
 * Judges the answer of `GET /health`. service-interface.md §5.3: 401 AU_01 for
 * an invalid key, AU_02 for a revoked one, 403 for one that may not.
 */
export function judgeKey(answer: KeyAnswer | 'healthy', baseUrl: string): Judgement {
  if (answer === 'healthy') return ok('the service takes the key');
  const { httpStatus, code, message } = answer;
  if (code === 'AU_02') {
    return failed(
      'the key was revoked',
      'Make a new key with the service, set PAYMENTS_API_KEY to it, and restart.',
    );
  }
  if (httpStatus === 401) {
    return failed(
      'the service does not know the key',
      'Compare PAYMENTS_API_KEY with the key that the service shows, whole and without quotes; a ' +
        'sandbox key is known at the sandbox address only.',
    );
  }
  if (httpStatus === 403) {
    return failed(
      'the key may not be used for this',
      'Give the key the permissions of a secret key, or make one that has them.',
    );
  }
  if (httpStatus === 404) {
    return failed(
      `there is no such service at ${baseUrl}`,
      'Set PAYMENTS_BASE_URL to the base address, without /health or any other path.',
    );
  }
  return failed(
    `the service did not answer as it should (${message})`,
    `Check PAYMENTS_BASE_URL (${baseUrl}) and that this machine may reach it; the service itself may be away.`,
  );
}

const SANDBOX_WORDS = /(^|[.-])(sandbox|test|staging|dev)([.-]|$)/i;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Whether the kind of a key fits its address: production keys create real charges even in tests.
 * service-interface.md §1.2. The contract does not list the addresses, so the host name decides.
 */
export function judgeKeyKind(apiKey: string, baseUrl: string): Judgement {
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
        'the key is no secret key of the service',
        'Set PAYMENTS_API_KEY to a secret key; they begin with snd_ or prd_.',
      );
  }
}

/** A `Date` header has whole seconds, and an answer is on its way for a while. */
const CLOCK_WARNING_MS = 5_000;
/** Bodies dated further ahead than five minutes are not believed; this leaves room. */
const CLOCK_FAILURE_MS = 60_000;

/**
 * @param skewMs our clock less the service's
 * @param isSandbox the service is the sandbox beside us, whose clock the demo and people put ahead
 */
export function judgeClock(skewMs: number, isSandbox: boolean): Judgement {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const which = `this machine's clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the service's`;
  if (isSandbox && skewMs < -CLOCK_WARNING_MS) {
    return ok(`the sandbox's clock was put ahead by ${seconds} s`);
  }
  const remedy =
    'Let the machine keep its time by NTP, for example with `timedatectl set-ntp true`.';
  if (Math.abs(skewMs) > CLOCK_FAILURE_MS) return failed(which, remedy);
  if (Math.abs(skewMs) > CLOCK_WARNING_MS) return warning(which, remedy);
  return ok("this machine's clock agrees with the service's");
}

/** Times that are stored follow the database's clock; what a machine does by its own goes wrong from here. */
const SKEW_WARNING_MS = 2_000;
const SKEW_FAILURE_MS = 60_000;

/** @param skewMs this machine's clock less the database's */
export function judgeDatabaseClock(skewMs: number): Judgement {
  const isOff = Math.abs(skewMs) > SKEW_WARNING_MS;
  if (!isOff) return ok("this machine's clock agrees with the database's");
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const judge = Math.abs(skewMs) > SKEW_FAILURE_MS ? failed : warning;
  return judge(
    `this machine's clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the database's`,
    'Let both machines keep their time by NTP, for example with `timedatectl set-ntp true`. What is ' +
      "stored follows the database's clock; logs, certificates and timers of this machine do not.",
  );
}

/** Up to where a list of the service counts as read. */
export interface WatermarkFacts {
  readonly stream: string;
  readonly at: Date;
}

/** @param nowMs the service's time of day, or the database's where the service told none */
export function judgeWatermarks(watermarks: readonly WatermarkFacts[], nowMs: number): Judgement {
  const ahead = watermarks.filter(({ at }) => at.getTime() > nowMs);
  if (ahead.length === 0) return ok('no list counts as read beyond now');
  const named = ahead.map(({ stream, at }) => `${stream} up to ${at.toISOString()}`).join(', ');
  return failed(
    `lists count as read beyond now, so that nothing new in them is compared: ${named}`,
    'Run: npx tallyhook reconcile. It sets them back and reads what was left out; the schedule does ' +
      'the same every five minutes.',
  );
}

/** A pause of reconciliation that has not ended. */
export interface PauseFacts {
  readonly pausedAt: Date;
  readonly pausedBy: string;
  readonly reason: string;
}

/** @param pause the one that is on, if one is */
export function judgePause(pause: PauseFacts | undefined): Judgement {
  if (pause === undefined) return ok('it is not paused');
  return warning(
    `${pause.pausedBy} paused it at ${pause.pausedAt.toISOString()}: ${pause.reason}`,
    'Once the reason is gone, run: npx tallyhook resume',
  );
}

/** @param bound the account that the database is stamped with, if it is */
export function judgeAccount(bound: string | undefined, merchantId: string): Judgement {
  if (bound === undefined) return ok(`nothing is kept yet; it will be of ${merchantId}`);
  if (bound === merchantId) return ok(`the books are of ${merchantId}`);
  return failed(
    `the database keeps the books of ${bound}, but PAYMENTS_MERCHANT_ID is ${merchantId}`,
    'Set PAYMENTS_MERCHANT_ID to the account of these books, or use another database.',
  );
}
