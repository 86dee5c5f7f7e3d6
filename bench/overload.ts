/**
 * A receiver that is sent three times what its database takes: how much it accepts, how long the replies
 * take, and whether its memory grows. The database is slowed down, so that the machine has processors left
 * for the load and for the refusals: each inserted event takes a connection of the receiver a few
 * milliseconds more.
 */
import {
  type Accounts,
  account,
  type Bench,
  postgresOf,
  rateOf,
  startBare,
  warningsOf,
} from './bench.ts';
import { type CpuUse, watchCpu } from './cpu.ts';
import { type BenchDatabase, countKept } from './database.ts';
import type { Latency, RunResult } from './loadProtocol.ts';
import { memoryMib } from './memory.ts';
import { type Thirds, thirdsOf } from './quantiles.ts';
import { startTallyhook } from './tallyhook.ts';

export interface OverloadReport {
  readonly barePerSecond: number;
  /** Accepted when a few connections send as fast as they receive replies. */
  readonly capacityPerSecond: number;
  readonly offeredPerSecond: number;
  readonly acceptedPerSecond: number;
  readonly acceptedOfCapacity: number;
  readonly seconds: number;
  readonly replyMicros: Latency;
  readonly refusalMicros: Latency;
  readonly refused: Readonly<Record<string, number>>;
  readonly ranOut: boolean;
  /** Connections that ended with a request in flight. */
  readonly broken: number;
  /** Mean of the receiver's memory in each third of the run. */
  readonly memoryMib: Thirds;
  readonly recovery: Recovery;
  readonly cpu: CpuUse;
  readonly accounts: Accounts;
  readonly warnings: Readonly<Record<string, readonly string[]>>;
}

/** Half of the capacity, from the moment at which the overload ends. */
interface Recovery {
  readonly offeredPerSecond: number;
  readonly acceptedPerSecond: number;
  readonly refused: number;
  readonly replyMicros: Latency;
}

const SEED = 6;
/** Of the bare route's rate: three times as much must leave the receiver's thread idle for half of the time. */
const CAPACITY_OF_BARE = 1 / 6;
const MAX_CAPACITY_PER_SECOND = 500;
const CONCURRENT_BATCHES = 2;
const OVERLOAD_FACTOR = 3;
/** Enough to keep both batches large, and fewer than the events that a receiver holds. */
const CAPACITY_CONNECTIONS = 400;
/** Fewer than a receiver keeps open for verified senders. */
const OVERLOAD_CONNECTIONS = 950;
const CAPACITY_SECONDS = 10;
const WARM_UP_SECONDS = 8;
const RECOVERY_SECONDS = 10;
const RECOVERY_SHARE = 0.5;
const MEMORY_EVERY_MS = 500;

export async function runOverload(bench: Bench): Promise<OverloadReport> {
  const { load, options, postgres } = bench;
  const bare = await startBare(bench, SEED);
  await bare.stop();
  const db = await postgres.createDatabase('bench_overload');
  const aimPerSecond = Math.min(MAX_CAPACITY_PER_SECOND, bare.roughRate * CAPACITY_OF_BARE);
  await slowDown(db, CONCURRENT_BATCHES / aimPerSecond);
  const receiver = await startTallyhook(bench, 'receiver', db.url);
  const [{ pid } = { pid: 0 }] = receiver.processes;
  const { port } = receiver;
  const prepareFor = (perSecond: number, seconds: number) => load.prepare(perSecond * seconds);

  await load.openStream(SEED);
  await prepareFor(aimPerSecond, WARM_UP_SECONDS + CAPACITY_SECONDS + 5);
  const capacity = await load.run({
    port,
    seconds: CAPACITY_SECONDS,
    warmUpSeconds: WARM_UP_SECONDS,
    connections: CAPACITY_CONNECTIONS,
  });
  const capacityPerSecond = rateOf(capacity);
  const offeredPerSecond = Math.round(OVERLOAD_FACTOR * capacityPerSecond);

  await prepareFor(offeredPerSecond, options.seconds + WARM_UP_SECONDS + RECOVERY_SECONDS);
  const memory = watchMemory(pid);
  const cpu = watchCpu([...receiver.processes, load.process, postgresOf(bench)]);
  const overload = await load.run(
    {
      port,
      seconds: options.seconds,
      warmUpSeconds: WARM_UP_SECONDS,
      ratePerSecond: offeredPerSecond,
      connections: OVERLOAD_CONNECTIONS,
    },
    {
      onCounting: () => {
        cpu.start();
        memory.start();
      },
    },
  );
  const use = cpu.stop();
  const memoryThirds = memory.stop();
  const recoveryPerSecond = Math.round(RECOVERY_SHARE * capacityPerSecond);
  const after = await load.run({
    port,
    seconds: RECOVERY_SECONDS,
    ratePerSecond: recoveryPerSecond,
  });
  const accounts = account([capacity, overload, after], await countKept(db), false);
  await receiver.stop();
  await db.drop();
  const { refused, ranOut, broken, replyMicros, refusalMicros, countedSeconds } = overload;
  return {
    barePerSecond: bare.roughRate,
    capacityPerSecond,
    offeredPerSecond,
    acceptedPerSecond: rateOf(overload),
    acceptedOfCapacity: rateOf(overload) / capacityPerSecond,
    seconds: countedSeconds,
    replyMicros,
    refusalMicros,
    refused,
    ranOut,
    broken,
    memoryMib: memoryThirds,
    recovery: recoveryOf(after, recoveryPerSecond),
    cpu: use,
    accounts,
    warnings: warningsOf(receiver.processes),
  };
}

/** Makes each inserted event take as long as it would on a disk or a standby that is slow. */
async function slowDown(db: BenchDatabase, secondsPerEvent: number): Promise<void> {
  await db.query(
    `create function bench_slow_down() returns trigger language plpgsql as $$
     begin
       perform pg_sleep((select count(*) from added) * ${secondsPerEvent});
       return null;
     end $$`,
  );
  await db.query(
    `create trigger bench_slow_down after insert on webhook_events
       referencing new table as added
       for each statement execute function bench_slow_down()`,
  );
}

function recoveryOf(run: RunResult, offeredPerSecond: number): Recovery {
  const refused = Object.values(run.refused).reduce((sum, count) => sum + count, 0);
  const { replyMicros } = run;
  return { offeredPerSecond, acceptedPerSecond: rateOf(run), refused, replyMicros };
}

function watchMemory(pid: number) {
  const samples: number[] = [];
  let sampler: NodeJS.Timeout | undefined;
  return {
    start: (): void => {
      sampler = setInterval(() => samples.push(memoryMib(pid)), MEMORY_EVERY_MS);
    },
    stop: (): Thirds => {
      clearInterval(sampler);
      return thirdsOf(samples);
    },
  };
}
