/** What the parts of a run share. */
import type { Cleanup } from './cleanup.ts';
import type { Watched } from './cpu.ts';
import type { Kept, Postgres } from './database.ts';
import type { Load } from './loadProcess.ts';
import type { RunResult } from './loadProtocol.ts';
import { nodeFlags } from './nodeFlags.ts';
import type { Options, Scenario } from './options.ts';
import { compiled, type Server, type Started, startServerModule } from './processes.ts';

export interface Bench {
  readonly options: Options;
  readonly part: Scenario;
  readonly secret: string;
  /** A temporary folder, removed at the end. */
  readonly folder: string;
  readonly cleanup: Cleanup;
  readonly postgres: Postgres;
  readonly load: Load;
}

/** Requests that are sent to a bare server over and over. */
const BARE_REQUESTS = 20_000;
const BARE_WARM_UP_SECONDS = 3;

export interface Bare extends Server {
  /** Events a second, from a run that is not part of any figure. */
  readonly roughRate: number;
}

/** Starts and warms up the bare route. Opens a new stream of events and prepares some of them. */
export async function startBare(bench: Bench, seed: number): Promise<Bare> {
  const { cleanup, folder, load, secret } = bench;
  const server = await startServerModule({
    name: 'bare',
    file: compiled('bench/bareServer.js'),
    nodeArgs: nodeFlags('receiver'),
    env: { WEBHOOK_SECRETS: secret },
    cwd: folder,
    cleanup,
  });
  await load.openStream(seed);
  await load.prepare(BARE_REQUESTS);
  const seconds = BARE_WARM_UP_SECONDS;
  const { counted, countedSeconds } = await load.run({ port: server.port, seconds, repeat: true });
  return { ...server, roughRate: counted / countedSeconds };
}

export function postgresOf({ postgres }: Bench): Watched {
  return { name: 'postgres', pid: postgres.pid, isTree: true };
}

export function rateOf({ counted, countedSeconds }: RunResult): number {
  return counted / countedSeconds;
}

/** Whether every acknowledged event is stored and, where required, applied. */
export interface Accounts extends Kept {
  readonly sent: number;
  readonly acknowledged: number;
  readonly isComplete: boolean;
}

/**
 * Compares what was acknowledged with what is kept. Requests that were rejected, and requests on
 * a connection that broke, may or may not be stored; without any of them, both numbers must be equal.
 */
export function account(runs: readonly RunResult[], kept: Kept, mustBeApplied: boolean): Accounts {
  const sum = (read: (run: RunResult) => number) => runs.reduce((all, run) => all + read(run), 0);
  const sent = sum((run) => run.sent);
  const acknowledged = sum((run) => run.acknowledged);
  const isStored = kept.stored >= acknowledged && kept.stored <= sent;
  const isApplied = kept.pending === 0 && kept.dead === 0 && kept.notApplied === 0;
  return { ...kept, sent, acknowledged, isComplete: isStored && (isApplied || !mustBeApplied) };
}

/** The warnings and errors of the processes, by process. */
export function warningsOf(
  processes: readonly Started[],
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    processes.filter((one) => one.warnings.length > 0).map((one) => [one.name, one.warnings]),
  );
}
