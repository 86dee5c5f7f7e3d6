/**
 * Eight days of a shop's trade under random faults, simulated in seconds: rounds of trade with random
 * pauses, on a sandbox clock that starts eight days ago and ends now. At the end the faults stop; the
 * variants of the service's behavior stay.
 */

import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/platform/time.ts';
import type { Random } from './random.ts';
import type { RandomFaults } from './randomFaults.ts';
import type { TestSandbox } from './sandbox.ts';
import { trade } from './trade.ts';

/**
 * Longer than a manual authorization, which expires after seven days. Nothing else is due just before the
 * end: a change more recent than the lag of a list would be missing from the list, and rightly so.
 */
const PERIOD_MS = 8 * DAY_MS + 6 * HOUR_MS;
/** Possible pauses between rounds; their sum stays below the period. */
const PAUSES_MS = [30 * SECOND_MS, 2 * MINUTE_MS, 2 * HOUR_MS, 1.5 * DAY_MS];
/** Lists are read up to one minute ago, and lag by at most half a minute. */
const CLOSED_AFTER_MS = 95 * SECOND_MS;

export interface TradingPeriod {
  readonly seed: number;
  readonly faults: RandomFaults;
  readonly random: Random;
  readonly rounds: number;
  readonly ordersPerRound: number;
  /** Runs concurrently with the trade of a round; the round ends when both are done. */
  readonly duringRound?: (round: number) => Promise<void>;
  /** Runs after the webhooks due in a round have been responded to. */
  readonly afterRound?: (round: number) => Promise<void>;
}

/** The time at which a sandbox's clock must start so that the period ends now. */
export function tradingPeriodStartMs(): number {
  return Date.now() - PERIOD_MS;
}

/** @param sandbox started with `startAtMs: tradingPeriodStartMs()` */
export async function simulateTradingPeriod(
  sandbox: TestSandbox,
  period: TradingPeriod,
): Promise<void> {
  const { seed, faults, random, rounds, ordersPerRound: orders } = period;
  const { during, after, isClockRepaired } = faults;
  await sandbox.control('PUT', '/faults', during);
  for (let round = 0; round < rounds; round += 1) {
    if (isClockRepaired && round === Math.floor(rounds / 2)) {
      await sandbox.control('PUT', '/faults', { ...during, clock_offset_ms: 0 });
    }
    const traded = trade(sandbox, `${seed}_${round}`, { orders, random });
    await Promise.all([traded, period.duringRound?.(round)]);
    await sandbox.control('POST', '/settle');
    await period.afterRound?.(round);
    const pauseMs = PAUSES_MS[Math.floor(random() * PAUSES_MS.length)] ?? 0;
    if (round < rounds - 1) await sandbox.advance(pauseMs);
  }
  await advanceTo(sandbox, Date.now() - CLOSED_AFTER_MS);
  await sandbox.control('PUT', '/faults', after);
  await sandbox.advance(CLOSED_AFTER_MS);
  await sandbox.control('POST', '/settle');
}

async function advanceTo(sandbox: TestSandbox, targetMs: number): Promise<void> {
  const { now } = await sandbox.control('GET', '/clock');
  await sandbox.advance(Math.max(0, targetMs - Date.parse(now)));
}
