/**
 * Tallyhook beside programs that do a part of what it does: in each round the bare route, each peer and
 * Tallyhook, one after the other, on one PostgreSQL with one load. Every other round has the reverse order,
 * so that a machine that becomes faster or slower favors nobody.
 *
 * Each side starts its own processes and an empty database, warms up, and is checked for what it lost.
 */
import { account, type Bench, postgresOf, rateOf, startBare, warningsOf } from '../bench.ts';
import { createChanges } from '../changes.ts';
import { type CpuUse, watchCpu } from '../cpu.ts';
import { countKept } from '../database.ts';
import { drain, measureRun } from '../endToEnd.ts';
import type { Latency, RunResult } from '../loadProtocol.ts';
import { nodeFlags } from '../nodeFlags.ts';
import { startServerModule } from '../processes.ts';
import { startTallyhook } from '../tallyhook.ts';
import { installPeer } from './install.ts';
import type { Peer, Rows } from './peer.ts';
import { PEERS } from './peers.ts';
import { type Rates, type Round, type Table, tableOf } from './table.ts';

export interface PeersReport {
  readonly peers: readonly Pick<Peer, 'name' | 'version' | 'besides'>[];
  readonly seconds: number;
  readonly rounds: readonly (Round & { readonly sides: readonly SideReport[] })[];
  readonly table: Table;
  /** Of every side of every round. */
  readonly isComplete: boolean;
}

export interface SideReport extends Rates {
  readonly name: string;
  readonly replyMicros: Latency;
  readonly refused: Readonly<Record<string, number>>;
  readonly ranOut: boolean;
  readonly cpu: CpuUse;
  /** What was sent, and what of it was found; undefined for the bare route, which keeps nothing. */
  readonly kept: Kept | undefined;
  readonly warnings: Readonly<Record<string, readonly string[]>>;
}

interface Kept {
  readonly acknowledged: number;
  readonly rows: Rows;
  readonly isComplete: boolean;
}

const SEED = 6;
const BARE = 'bare route';
const OWN = 'Tallyhook';
/** The first round, which counts for nothing: the machine and the caches of its files warm up. */
const FIRST_ROUND_SECONDS = 3;
const WARM_UP_SECONDS = 4;
/** More than a receiver was ever seen to accept. */
const EVENTS_PER_SECOND = 16_000;
const BACKLOG_EVERY_MS = 3_000;
const POLL_EVERY_MS = 1_000;

type Side = (seconds: number) => Promise<SideReport>;

export async function runPeers(bench: Bench): Promise<PeersReport> {
  const { options } = bench;
  const sides: Side[] = [(seconds) => measureBare(bench, seconds)];
  for (const peer of PEERS) {
    const folder = await installPeer(peer, bench.folder);
    sides.push((seconds) => measurePeer(bench, { peer, folder, seconds }));
  }
  sides.push((seconds) => measureOwn(bench, seconds));

  await runRound(sides, FIRST_ROUND_SECONDS);
  const rounds = [];
  for (let n = 0; n < options.rounds; n += 1) {
    rounds.push(await runRound(n % 2 === 0 ? sides : sides.toReversed(), options.seconds));
  }
  return {
    peers: PEERS.map(({ name, version, besides }) => ({ name, version, besides })),
    seconds: options.seconds,
    rounds,
    table: tableOf(rounds, OWN),
    isComplete: rounds.every((round) =>
      round.sides.every(({ kept }) => kept?.isComplete !== false),
    ),
  };
}

async function runRound(
  sides: readonly Side[],
  seconds: number,
): Promise<Round & { readonly sides: readonly SideReport[] }> {
  const reports: SideReport[] = [];
  for (const side of sides) reports.push(await side(seconds));
  const find = (name: string): SideReport => {
    const report = reports.find((one) => one.name === name);
    if (!report) throw new Error(`a round lacks ${name}`);
    return report;
  };
  return {
    barePerSecond: find(BARE).acceptedPerSecond,
    own: find(OWN),
    peers: Object.fromEntries(PEERS.map(({ name }) => [name, find(name)])),
    sides: reports,
  };
}

async function measureBare(bench: Bench, seconds: number): Promise<SideReport> {
  const bare = await startBare(bench, SEED);
  const cpu = watchCpu([bare, bench.load.process]);
  const result = await bench.load.run(
    { port: bare.port, seconds, warmUpSeconds: 1, repeat: true },
    { onCounting: cpu.start },
  );
  const report = { ...reportOf(BARE, result), cpu: cpu.stop() };
  await bare.stop();
  return { ...report, appliedPerSecond: 0, kept: undefined, warnings: {} };
}

async function measurePeer(
  bench: Bench,
  {
    peer,
    folder,
    seconds,
  }: { readonly peer: Peer; readonly folder: string; readonly seconds: number },
): Promise<SideReport> {
  const { load, postgres, secret } = bench;
  const db = await postgres.createEmptyDatabase('bench_peer');
  await peer.migrate(folder, db.url);
  const server = await startServerModule({
    name: 'peer',
    file: peer.serverFile,
    nodeArgs: nodeFlags('receiver'),
    env: {
      PEER_FOLDER: folder,
      DATABASE_URL: db.url,
      WEBHOOK_SECRET: secret,
    },
    cwd: bench.folder,
    cleanup: bench.cleanup,
  });
  await db.query('checkpoint');
  await load.openStream(SEED, peer.name);
  await load.prepare(EVENTS_PER_SECOND * (WARM_UP_SECONDS + seconds));
  const warmUp = await load.run({ port: server.port, seconds: WARM_UP_SECONDS });
  const cpu = watchCpu([server, postgresOf(bench), load.process]);
  const result = await load.run({ port: server.port, seconds }, { onCounting: cpu.start });
  const cpuUse = cpu.stop();
  const runs = [warmUp, result];
  const rows = await peer.countRows(db);
  const expected = peer.expectRows(createChanges(SEED, '').next, sumOf(runs, 'sent'));
  await server.stop();
  await db.drop();
  const report = reportOf(peer.name, result);
  return {
    ...report,
    // It replies once the row is committed.
    appliedPerSecond: report.acceptedPerSecond,
    cpu: cpuUse,
    kept: {
      acknowledged: sumOf(runs, 'acknowledged'),
      rows,
      isComplete: isEverySentAcknowledged(runs) && areEqual(rows, expected),
    },
    warnings: warningsOf([server]),
  };
}

async function measureOwn(bench: Bench, seconds: number): Promise<SideReport> {
  const { load, postgres } = bench;
  const db = await postgres.createDatabase('bench_own');
  const tallyhook = await startTallyhook(bench, 'processes', db.url);
  await db.query('checkpoint');
  await load.openStream(SEED);
  await load.prepare(EVENTS_PER_SECOND * (WARM_UP_SECONDS + seconds));
  const warmUp = await load.run({ port: tallyhook.port, seconds: WARM_UP_SECONDS });
  await drain(db);
  const { report, result } = await measureRun(
    bench,
    { db, tallyhook, backlogEveryMs: BACKLOG_EVERY_MS, pollEveryMs: POLL_EVERY_MS },
    { seconds, sampleEvery: 0 },
  );
  const runs = [warmUp, result];
  const kept = await countKept(db);
  const accounts = account(runs, kept, true);
  const { stored, payments } = kept;
  await tallyhook.stop();
  await db.drop();
  return {
    ...reportOf(OWN, result),
    appliedPerSecond: report.appliedPerSecond,
    cpu: report.cpu,
    kept: {
      acknowledged: accounts.acknowledged,
      rows: { stored, payments },
      isComplete:
        accounts.isComplete &&
        isEverySentAcknowledged(runs) &&
        payments === countPayments(sumOf(runs, 'sent')),
    },
    warnings: report.warnings,
  };
}

function reportOf(name: string, result: RunResult) {
  const { ranOut, refused, replyMicros } = result;
  return { name, acceptedPerSecond: rateOf(result), ranOut, refused, replyMicros };
}

function sumOf(runs: readonly RunResult[], field: 'sent' | 'acknowledged'): number {
  return runs.reduce((sum, run) => sum + run[field], 0);
}

/** Otherwise nobody knows which of the events were kept. */
function isEverySentAcknowledged(runs: readonly RunResult[]): boolean {
  return sumOf(runs, 'sent') === sumOf(runs, 'acknowledged');
}

function countPayments(events: number): number {
  const changes = createChanges(SEED, '');
  return new Set(Array.from({ length: events }, () => changes.next().payment.key)).size;
}

function areEqual(rows: Rows, expected: Rows): boolean {
  const names = new Set([...Object.keys(rows), ...Object.keys(expected)]);
  return [...names].every((name) => rows[name] === expected[name]);
}
