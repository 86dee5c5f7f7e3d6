/** Intake alone: durable acceptance against the bare route, in alternating pairs. */
import {
  type Accounts,
  account,
  type Bare,
  type Bench,
  postgresOf,
  rateOf,
  startBare,
  warningsOf,
} from './bench.ts';
import { type CpuUse, type Watched, watchCpu } from './cpu.ts';
import { countKept } from './database.ts';
import type { Latency, RunResult } from './loadProtocol.ts';
import { median } from './quantiles.ts';
import { startTallyhook, type Tallyhook } from './tallyhook.ts';

export interface IntakeReport {
  readonly pairs: readonly Pair[];
  readonly medianRatio: number;
  readonly accounts: Accounts;
  readonly warnings: Readonly<Record<string, readonly string[]>>;
}

interface Pair {
  readonly barePerSecond: number;
  readonly acceptedPerSecond: number;
  readonly ratio: number;
  readonly replyMicros: Latency;
  readonly cpu: CpuUse;
  readonly bareCpu: CpuUse;
  readonly refused: Readonly<Record<string, number>>;
  readonly ranOut: boolean;
}

const SEED = 1;
const SIDE_SECONDS = 6;
/** Before each side: connections, caches and the other side's work need a moment to settle. */
const SETTLE_SECONDS = 1;
const WARM_UP_SECONDS = 4;
/** Above the bare rate no receiver is expected; the rate is taken while the machine warms up. */
const SPARE = 1.3;

export async function runIntake(bench: Bench): Promise<IntakeReport> {
  const { load, options, postgres } = bench;
  const db = await postgres.createDatabase('bench_intake');
  const bare = await startBare(bench, SEED);
  const tallyhook = await startTallyhook(bench, 'receiver', db.url);
  await load.prepare(bare.roughRate * WARM_UP_SECONDS * SPARE);
  const runs = [await load.run({ port: tallyhook.port, seconds: WARM_UP_SECONDS })];

  const pairs: Pair[] = [];
  for (let n = 0; n < options.pairs; n += 1) {
    const { pair, run } = await runPair(bench, { bare, tallyhook, isBareFirst: n % 2 === 0 });
    pairs.push(pair);
    runs.push(run);
  }
  const accounts = account(runs, await countKept(db), false);
  await tallyhook.stop();
  await bare.stop();
  await db.drop();
  return {
    pairs,
    medianRatio: median(pairs.map(({ ratio }) => ratio)),
    accounts,
    warnings: warningsOf(tallyhook.processes),
  };
}

interface PairInput {
  readonly bare: Bare;
  readonly tallyhook: Tallyhook;
  readonly isBareFirst: boolean;
}

async function runPair(
  bench: Bench,
  { bare, tallyhook, isBareFirst }: PairInput,
): Promise<{ readonly pair: Pair; readonly run: RunResult }> {
  await bench.load.prepare(bare.roughRate * (SIDE_SECONDS + SETTLE_SECONDS) * SPARE);
  // The bare route is sent the same requests, and leaves them to the receiver.
  const runBare = () => runSide(bench, { port: bare.port, repeat: true, servers: [bare] });
  const before = isBareFirst ? await runBare() : undefined;
  const own = await runSide(bench, {
    port: tallyhook.port,
    repeat: false,
    servers: [...tallyhook.processes, postgresOf(bench)],
  });
  const other = before ?? (await runBare());
  const barePerSecond = rateOf(other.run);
  const acceptedPerSecond = rateOf(own.run);
  return {
    run: own.run,
    pair: {
      barePerSecond,
      acceptedPerSecond,
      ratio: acceptedPerSecond / barePerSecond,
      replyMicros: own.run.replyMicros,
      cpu: own.cpu,
      bareCpu: other.cpu,
      refused: own.run.refused,
      ranOut: own.run.ranOut,
    },
  };
}

interface Side {
  readonly port: number;
  readonly repeat: boolean;
  readonly servers: readonly Watched[];
}

async function runSide(
  { load }: Bench,
  { servers, ...side }: Side,
): Promise<{ readonly run: RunResult; readonly cpu: CpuUse }> {
  const cpu = watchCpu([...servers, load.process]);
  const run = await load.run(
    { ...side, seconds: SIDE_SECONDS, warmUpSeconds: SETTLE_SECONDS },
    { onCounting: cpu.start },
  );
  return { run, cpu: cpu.stop() };
}
