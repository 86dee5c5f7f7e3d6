/**
 * An hour without the database at a big shop, in simulated time: what the service then sends again, by its
 * own schedule, is a multiple of what the database takes. The receiver must go on accepting as much as the
 * database takes, in time for the senders. A reply after their timeout is worse than a refusal: the event is
 * sent again and persisted a second time.
 *
 * The service does not read `Retry-After`, so this is the worst case.
 */
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../src/platform/time.ts';
import { type Held, hasRoom } from '../../../src/receiver/domain/intakeRoom.ts';
import { retryDelayMs } from '../../../src/sandbox/domain/retrySchedule.ts';

const TICK_MS = 500;
const TICKS_PER_MINUTE = MINUTE_MS / TICK_MS;
const CAPACITY_PER_TICK = 150;
const NEW_PER_TICK = 90;
const OUTAGE_MINUTES = 60;
const NEW_EVENTS_MINUTES = 3 * 60;
const SENDER_TIMEOUT_MS = 30_000;

interface Minute {
  offered: number;
  /** Persisted, and acknowledged before the sender gave up. */
  acknowledged: number;
}

interface Result {
  /** From the end of the outage on. */
  readonly minutes: readonly Minute[];
  readonly sent: number;
  readonly acknowledged: number;
  readonly givenUp: number;
  readonly longestReplyMs: number;
}

/** Deliveries that are alike: of the same attempt, received in the same tick. */
interface Cohort {
  readonly tick: number;
  readonly attempt: number;
  count: number;
}

function simulate(admits: (held: Held) => boolean, mostMinutes = Number.POSITIVE_INFINITY): Result {
  const due = new Map<number, number[]>();
  const minutes: Minute[] = [];
  const queue: Cohort[] = [];
  const lastNewTick = NEW_EVENTS_MINUTES * TICKS_PER_MINUTE;
  const outageTicks = OUTAGE_MINUTES * TICKS_PER_MINUTE;
  let [held, sent, acknowledged, givenUp, longestReplyMs] = [0, 0, 0, 0, 0];

  const sendAgain = (attempt: number, failedTick: number, count: number): void => {
    const delayMs = retryDelayMs(attempt);
    if (delayMs === undefined) {
      givenUp += count;
      return;
    }
    const at = failedTick + Math.round(delayMs / TICK_MS);
    const byAttempt = due.get(at) ?? [];
    byAttempt[attempt + 1] = (byAttempt[attempt + 1] ?? 0) + count;
    due.set(at, byAttempt);
  };
  const receive = (tick: number, attempt: number, count: number): void => {
    const cohort: Cohort = { tick, attempt, count: 0 };
    for (let n = 0; n < count && tick >= outageTicks; n += 1) {
      const oldestMs = (tick - (queue[0]?.tick ?? tick)) * TICK_MS;
      if (!admits({ events: held, bytes: 0, oldestMs })) break;
      cohort.count += 1;
      held += 1;
    }
    if (cohort.count > 0) queue.push(cohort);
    sendAgain(attempt, tick, count - cohort.count);
  };
  const persist = (tick: number, minute: Minute | undefined): void => {
    let room = CAPACITY_PER_TICK;
    for (let first = queue[0]; first && room > 0; first = queue[0]) {
      const count = Math.min(room, first.count);
      const replyMs = (tick + 1 - first.tick) * TICK_MS;
      room -= count;
      held -= count;
      first.count -= count;
      if (first.count === 0) queue.shift();
      if (replyMs > SENDER_TIMEOUT_MS) {
        sendAgain(first.attempt, first.tick + SENDER_TIMEOUT_MS / TICK_MS, count);
        continue;
      }
      longestReplyMs = Math.max(longestReplyMs, replyMs);
      acknowledged += count;
      if (minute) minute.acknowledged += count;
    }
  };

  const isOver = (tick: number): boolean =>
    tick > mostMinutes * TICKS_PER_MINUTE || (tick > lastNewTick && due.size === 0 && held === 0);
  for (let tick = 0; !isOver(tick); tick += 1) {
    const minute: Minute = { offered: 0, acknowledged: 0 };
    if (tick >= outageTicks && (tick - outageTicks) % TICKS_PER_MINUTE === 0) minutes.push(minute);
    const current = tick >= outageTicks ? minutes.at(-1) : undefined;
    const byAttempt = due.get(tick) ?? [];
    due.delete(tick);
    if (tick < lastNewTick) {
      byAttempt[0] = NEW_PER_TICK;
      sent += NEW_PER_TICK;
    }
    byAttempt.forEach((count, attempt) => {
      if (current) current.offered += count;
      receive(tick, attempt, count);
    });
    persist(tick, current);
  }
  return { minutes, sent, acknowledged, givenUp, longestReplyMs };
}

const capacityPerMinute = CAPACITY_PER_TICK * TICKS_PER_MINUTE;

/** The worst minute: what was acknowledged, of what could have been. */
const worstMinute = ({ minutes }: Result): number =>
  Math.min(
    ...minutes
      .filter(({ offered }) => offered > 0)
      .map(({ offered, acknowledged }) => acknowledged / Math.min(offered, capacityPerMinute)),
  );

describe('after an hour without the database', () => {
  it('the receiver accepts 0.9 of what the database takes in every minute, and every event arrives', () => {
    const result = simulate((held) => hasRoom(held, 0));

    const peak = Math.max(...result.minutes.map(({ offered }) => offered)) / capacityPerMinute;
    expect(peak).toBeGreaterThan(3);
    expect(worstMinute(result)).toBeGreaterThan(0.9);
    expect(result.longestReplyMs).toBeLessThanOrEqual(5_000);
    expect(result.givenUp).toBe(0);
    expect(result.acknowledged).toBe(result.sent);
  });

  it('a receiver that holds 10,000 events would acknowledge after the timeout of the senders', () => {
    const result = simulate(({ events }) => events < 10_000, 2 * OUTAGE_MINUTES);

    expect(worstMinute(result)).toBeLessThan(0.1);
  });
});
