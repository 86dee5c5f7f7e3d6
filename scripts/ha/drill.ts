/** One drill: trade, a fault, and what must hold afterwards. */
import { setTimeout as pause } from 'node:timers/promises';
import { toError } from '../../src/platform/errors.ts';
import {
  countPutBack,
  findDifferences,
  findLost,
  findRebuildFailure,
  untilApplied,
  untilDelivered,
} from './checks.ts';
import { untilWhole } from './cluster.ts';
import { cause, type Fault } from './faults.ts';
import type { Installation } from './installation.ts';
import type { Door, Load } from './load.ts';
import type { Mode } from './nodes.ts';
import { until } from './run.ts';

export interface Drilled {
  readonly fault: Fault;
  /** The leader before and after. */
  readonly leaders: string;
  readonly acknowledged: number;
  readonly lost: number;
  /** Acknowledged events that the new primary lacked, until the receivers persisted them again. */
  readonly putBack: number;
  /** Standbys that did not follow the new leader by themselves, and were reinitialized. */
  readonly reinitialized: readonly string[];
  /** Without a reply of 200, for each way to the database. */
  readonly outageMs: ReadonlyMap<string, number>;
  /** What does not hold; empty if everything does. */
  readonly failures: readonly string[];
}

export interface DrillParts {
  readonly load: Load;
  readonly installation: Installation;
  readonly mode: Mode;
  readonly ordersPerSecond: number;
}

const BEFORE_MS = 2_000;
const AFTER_MS = 3_000;
const ACCEPTED_SECONDS = 120;
/** More differences have the same cause. */
const MOST_NAMED = 20;

export async function drill(parts: DrillParts, fault: Fault): Promise<Drilled> {
  const { load, installation, mode, ordersPerSecond } = parts;
  const { doors } = installation;
  await untilWhole(mode);
  const before = load.acknowledged.size;
  const putBackBefore = await countPutBack();
  const trade = load.trade(ordersPerSecond);
  const startedMs = performance.now();
  let leaders = '';
  const failures: string[] = [];
  const holds = async (check: () => Promise<void>): Promise<void> => {
    await check().catch((error: unknown) => failures.push(toError(error).message));
  };
  try {
    await pause(BEFORE_MS);
    leaders = await cause(fault);
    const overMs = performance.now();
    await holds(() =>
      until('every receiver to acknowledge again', ACCEPTED_SECONDS, () =>
        Promise.resolve(doors.every(({ acknowledgedAtMs: times }) => (times.at(-1) ?? 0) > overMs)),
      ),
    );
    await pause(AFTER_MS);
  } finally {
    await trade.stop();
  }
  await holds(() => untilDelivered(load));
  const reinitialized = await untilWhole(mode);
  const lost = await findLost(load);
  await holds(untilApplied);
  failures.push(...(await findFailures(parts, lost)).slice(0, MOST_NAMED));
  return {
    fault,
    leaders,
    acknowledged: load.acknowledged.size - before,
    lost: lost.length,
    putBack: (await countPutBack()) - putBackBefore,
    reinitialized,
    outageMs: new Map(doors.map((door) => [door.name, longestGapMs(door, startedMs)])),
    failures,
  };
}

async function findFailures(
  { load, installation }: DrillParts,
  lost: readonly string[],
): Promise<readonly string[]> {
  const failures = lost.map((id) => `${id} was acknowledged and is not in the inbox`);
  failures.push(...installation.ended().map((name) => `the process ${name} has ended`));
  failures.push(...(await findDifferences(load)));
  const rebuild = await findRebuildFailure(installation.env);
  if (rebuild !== undefined) failures.push(rebuild);
  return failures;
}

/** The longest time between two acknowledgments since an instant. */
function longestGapMs({ acknowledgedAtMs }: Door, sinceMs: number): number {
  const times = acknowledgedAtMs.filter((ms) => ms >= sinceMs);
  return times.reduce((longest, ms, place) => Math.max(longest, ms - (times[place - 1] ?? ms)), 0);
}
