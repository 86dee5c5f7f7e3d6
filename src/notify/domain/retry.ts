/**
 * When a message that was not taken is tried again, and when its channel is.
 *
 * 1. A channel that is *away* (no answer, 5xx, 408, 425, 429) is left alone for a while, all of it:
 *    5 s, twice that, and so on up to 5 minutes, or for as long as it asks, up to an hour. Then one
 *    message, the *probe*, finds out whether it is back, and not the same one each time: there are
 *    receivers that fail at one message and would take all others. Attempts that were under way when
 *    the channel was found away are of the same outage: only probes make the wait longer.
 * 2. A message that is *refused* (any other answer but 2xx) waits alone, 30 s, then twice that, up to
 *    6 hours; others go on. Whoever mends the receiver within three days gets it.
 * 3. A message that is not taken three days after it was made is given up; one whose receiver says
 *    410, which means never again, at once.
 * 4. Half of each wait is drawn by lot, so that many do not come back at one moment.
 * 5. A channel that took nothing for DEAD_AFTER_MS although it was tried is reported on the others;
 *    one that said 410 at once.
 */

/** What came of an attempt. The answer is for people: a status, never a body or an address. */
export type Attempted =
  | { readonly outcome: 'delivered'; readonly answer: string }
  | { readonly outcome: 'refused'; readonly answer: string }
  | { readonly outcome: 'gone'; readonly answer: string }
  | {
      readonly outcome: 'away';
      readonly answer: string;
      /** What the receiver asked for. */
      readonly retryAfterMs?: number | undefined;
    };

/** An attempt that failed. */
export type Failed = Exclude<Attempted, { readonly outcome: 'delivered' }>;

/** How a channel fares that took nothing lately. */
export interface Health {
  readonly failingSinceMs: number;
  readonly lastError: string;
  /** Undefined where it answers, and refuses. */
  readonly away: Away | undefined;
}

export interface Away {
  /** How often in a row it was found so. */
  readonly times: number;
  /** Until then it is left alone. */
  readonly retryAtMs: number;
}

export interface FailedAttempt {
  readonly attempted: Failed;
  /** Of this message, this one included. */
  readonly attempts: number;
  readonly createdMs: number;
  /** It was made to find out whether the channel is back. */
  readonly isProbe: boolean;
  /** Of the channel, as it is known now; undefined when all is well. */
  readonly health: Health | undefined;
  readonly nowMs: number;
  /** From 0 to below 1. */
  readonly lot: number;
}

export interface Verdict {
  /** Undefined: it is given up. */
  readonly nextAttemptMs: number | undefined;
  readonly health: Health;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

export const GIVE_UP_AFTER_MS = 72 * HOUR_MS;
const DEAD_AFTER_MS = 10 * MINUTE_MS;
const MAX_ASKED_MS = HOUR_MS;

export function judge(failed: FailedAttempt): Verdict {
  const { attempted, attempts, createdMs, health: known, isProbe, nowMs, lot } = failed;
  const health = {
    failingSinceMs: known?.failingSinceMs ?? nowMs,
    lastError: attempted.answer,
    // What was under way when the channel was found away neither ends the outage nor prolongs it.
    away: isProbe ? undefined : known?.away,
  };
  const isTooOld = nowMs - createdMs >= GIVE_UP_AFTER_MS;
  switch (attempted.outcome) {
    case 'away': {
      const ownMs = nowMs + awayMs(attempts, lot);
      if (health.away) return { nextAttemptMs: isTooOld ? undefined : ownMs, health };
      const times = (known?.away?.times ?? 0) + 1;
      const asked = Math.min(attempted.retryAfterMs ?? 0, MAX_ASKED_MS);
      const retryAtMs = nowMs + Math.max(asked, awayMs(times, lot));
      return {
        nextAttemptMs: isTooOld ? undefined : Math.max(retryAtMs, ownMs),
        health: { ...health, away: { times, retryAtMs } },
      };
    }
    case 'refused': {
      const waitMs = backoffMs(attempts, 30 * SECOND_MS, 6 * HOUR_MS, lot);
      return { nextAttemptMs: isTooOld ? undefined : nowMs + waitMs, health };
    }
    case 'gone':
      return {
        nextAttemptMs: undefined,
        // As if it had been failing for long enough to be reported.
        health: {
          ...health,
          failingSinceMs: Math.min(health.failingSinceMs, nowMs - DEAD_AFTER_MS),
        },
      };
  }
}

/** Whether a channel has to be reported. */
export function isDead({ failingSinceMs }: Health, nowMs: number): boolean {
  return nowMs - failingSinceMs >= DEAD_AFTER_MS;
}

function awayMs(times: number, lot: number): number {
  return backoffMs(times, 5 * SECOND_MS, 5 * MINUTE_MS, lot);
}

/** `times`: how often it failed, from 1. */
function backoffMs(times: number, firstMs: number, mostMs: number, lot: number): number {
  const waitMs = Math.min(firstMs * 2 ** Math.min(times - 1, 30), mostMs);
  return Math.round(waitMs * (0.5 + lot / 2));
}
