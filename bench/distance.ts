/**
 * How fast one and several workers apply a backlog from a database that is a network away. Receivers are
 * next to the database: what they accept is measured elsewhere.
 */
import { type Accounts, account, type Bench, startBare } from './bench.ts';
import { type BenchDatabase, countKept, countPending } from './database.ts';
import { drain } from './endToEnd.ts';
import { nowMs } from './loadProtocol.ts';
import { compiled, startServerModule } from './processes.ts';
import { startEventsWorker, startTallyhook } from './tallyhook.ts';

export interface DistanceReport {
  readonly barePerSecond: number;
  readonly rows: readonly DistanceRow[];
}

export interface DistanceRow {
  readonly roundTripMs: number;
  readonly workers: number;
  readonly appliedPerSecond: number;
  readonly accounts: Accounts;
}

/** On one machine, and in one data center, between zones and between regions. */
const ROUND_TRIPS_MS = [0, 0.5, 2, 5];
const WORKERS = [1, 2, 4, 8];
const SEED = 5;
/** The backlog is to last long enough that the first seconds of a worker, with cold code, do not decide. */
const FILL_SECONDS = 15;
/** More than a receiver was ever seen to accept. */
const EVENTS_PER_SECOND = 16_000;

export async function runDistance(bench: Bench): Promise<DistanceReport> {
  const bare = await startBare(bench, SEED);
  await bare.stop();
  const rows: DistanceRow[] = [];
  const { roundTripsMs } = bench.options;
  for (const roundTripMs of roundTripsMs.length > 0 ? roundTripsMs : ROUND_TRIPS_MS) {
    for (const workers of WORKERS) rows.push(await applyBacklog(bench, roundTripMs, workers));
  }
  return { barePerSecond: bare.roughRate, rows };
}

async function applyBacklog(
  bench: Bench,
  roundTripMs: number,
  workers: number,
): Promise<DistanceRow> {
  const { load, postgres } = bench;
  const db = await postgres.createDatabase('bench_distance');
  const distant = await startProxy(bench, db.url, roundTripMs);
  const receiver = await startTallyhook(bench, 'receiver', db.url);
  await load.openStream(SEED);
  await load.prepare(EVENTS_PER_SECOND * FILL_SECONDS);
  const filled = await load.run({ port: receiver.port, seconds: FILL_SECONDS });
  await receiver.stop();
  // While they start, the workers find nothing that they may claim.
  const hold = await holdPending(db);
  const started = await Promise.all(
    Array.from({ length: workers }, () => startEventsWorker(bench, distant.url)),
  );
  const waiting = await hold.release();
  const startMs = nowMs();
  await drain(db);
  const appliedPerSecond = waiting / ((nowMs() - startMs) / 1_000);
  const accounts = account([filled], await countKept(db), true);
  for (const worker of started) await worker.stop();
  await distant.stop();
  await db.drop();
  return { roundTripMs, workers, appliedPerSecond, accounts };
}

/** Starts a proxy that holds back what the server at `address` sends. */
export async function startProxy(bench: Bench, address: string, roundTripMs: number) {
  const url = new URL(address);
  const { port, stop } = await startServerModule({
    name: 'distance',
    file: compiled('bench/distanceProxy.js'),
    env: { SERVER_PORT: url.port, ROUND_TRIP_MS: String(roundTripMs) },
    cwd: bench.folder,
    cleanup: bench.cleanup,
  });
  url.port = String(port);
  return { url: url.href, stop };
}

interface Hold {
  /** Lets workers claim events. Returns how many wait. */
  release(): Promise<number>;
}

/** Locks `pending`. Workers wait for it, each with the first claim that it makes. */
async function holdPending(db: BenchDatabase): Promise<Hold> {
  let onLocked = (): void => undefined;
  const locked = new Promise<void>((resolve) => {
    onLocked = resolve;
  });
  let onRelease = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    onRelease = resolve;
  });
  const held = db.transaction(async (tx) => {
    await tx.query('lock table pending in access exclusive mode');
    onLocked();
    await released;
    return countPending(tx);
  });
  await Promise.race([locked, held]);
  return {
    release: () => {
      onRelease();
      return held;
    },
  };
}
