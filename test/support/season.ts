/**
 * Eight days of a shop's trade under drawn faults, played through in seconds: rounds of trade with
 * drawn pauses between them, by a sandbox clock that starts eight days ago and ends now. When it is
 * over the faults stop, and the habits of the service stay.
 */
import type { DrawnFaults } from './drawnFaults.ts';
import type { TestSandbox } from './sandbox.ts';
import type { Random } from './storm.ts';
import { trade } from './trade.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/**
 * A manual authorization lapses after seven days. Nothing else is due just when the season ends: what
 * changes later than a list lags would rightly be missing from it.
 */
const SEASON_MS = 8 * DAY_MS + 6 * HOUR_MS;
/** Pauses between rounds, drawn; their sum stays below the season. */
const PAUSES_MS = [30 * SECOND_MS, 2 * MINUTE_MS, 2 * HOUR_MS, 1.5 * DAY_MS];
/** Lists are read up to a minute ago, and lag by half a minute at most. */
const CLOSED_AFTER_MS = 95 * SECOND_MS;

export interface Season {
  readonly seed: number;
  readonly drawn: DrawnFaults;
  readonly random: Random;
  readonly rounds: number;
  readonly ordersPerRound: number;
  /** Runs while a round is traded; the round ends when both have. */
  readonly duringRound?: (round: number) => Promise<void>;
  /** Runs after the webhooks of a round that are due have been answered. */
  readonly afterRound?: (round: number) => Promise<void>;
}

/** When the clock of a sandbox has to start so that the season ends now. */
export function seasonStartMs(): number {
  return Date.now() - SEASON_MS;
}

/** @param sandbox started at `seasonStartMs` */
export async function playSeason(sandbox: TestSandbox, season: Season): Promise<void> {
  const { seed, drawn, random, rounds, ordersPerRound: orders } = season;
  const { during, after, isClockRepaired } = drawn;
  await sandbox.control('PUT', '/faults', during);
  for (let round = 0; round < rounds; round += 1) {
    if (isClockRepaired && round === Math.floor(rounds / 2)) {
      await sandbox.control('PUT', '/faults', { ...during, clock_offset_ms: 0 });
    }
    const traded = trade(sandbox, `${seed}_${round}`, { orders, random });
    await Promise.all([traded, season.duringRound?.(round)]);
    await sandbox.control('POST', '/settle');
    await season.afterRound?.(round);
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
