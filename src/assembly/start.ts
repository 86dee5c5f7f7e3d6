/**
 * Starts the roles of a process, each from its own file. A file is loaded only with its role, so a process of
 * one role starts without the code of the others and keeps none of it in memory.
 */

import { setTimeout } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import type { Clock } from '../platform/clock.ts';
import type { Queryable } from '../platform/db/database.ts';
import { toError, UsageError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { packageVersion } from '../platform/packageRoot.ts';
import type { RunningSandbox } from '../sandbox/startSandbox.ts';
import { openDatabase } from './database.ts';
import { startHealth } from './health.ts';
import { explainPortInUse, refuseUsedPorts } from './portInUse.ts';
import type { Role } from './roles.ts';
import { adminTokenOf, merchantIdOf, webhookSecretsOf } from './settings.ts';
import { closeInReverse, type ShareInput, share, shareWithRoles } from './shared.ts';
import { logSettingWarnings } from './warnings.ts';

/** The running roles and their ports. */
export interface Running {
  readonly receiverPort: number | undefined;
  readonly consolePort: number | undefined;
  /** Prepares a link to the console that signs in once. @returns its path; undefined without the console */
  readonly createSignInPath: (next?: string) => Promise<string | undefined>;
  /** Serves `/healthz`, `/readyz` and `/metrics`; undefined if the process runs only the sandbox. */
  readonly healthPort: number | undefined;
  readonly sandbox: RunningSandbox | undefined;
  readonly databaseUrl: string;
  readonly isEmbedded: boolean;
  /** Rejects with the reason when the sandbox or the embedded database ends. */
  readonly ended: Promise<void>;
  /** Goes on serving for DRAIN_SECONDS, unready, and lets clients end their connections. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export interface StartParts {
  /** The machine's clock. Roles use the database's clock and report the skew. */
  readonly machine: Clock;
  /** Replaces the database's clock, for tests at other times. */
  readonly readTimeMs?: (db: Queryable) => Promise<number>;
  readonly log: Log;
  /** The start of the sandbox's clock, if the sandbox is empty. */
  readonly sandboxStartMs?: number | undefined;
}

/**
 * Starts roles.
 * @throws OperatorError when an operator must fix something first
 */
export async function start(
  config: Config,
  roles: ReadonlySet<Role>,
  parts: StartParts,
): Promise<Running> {
  const { log, sandboxStartMs } = parts;
  // First, because what follows may generate secrets in the data folder.
  await refuseUsedPorts(config, roles);
  logSettingWarnings(config, roles, log);
  refuseMissingSettings(config, roles);
  const drainers: (() => void)[] = [];
  const drain = async (): Promise<void> => {
    for (const begin of drainers) begin();
    if (config.drainMs > 0) log.info({ forMs: config.drainMs }, 'process.draining');
    await setTimeout(config.drainMs);
  };
  const closers: (() => Promise<void>)[] = [];
  const close = (): Promise<void> => closeInReverse(closers);
  try {
    const database = await openDatabase(config, log);
    closers.push(() => database.close());
    const lost = database.supervise();
    // Callers observe this through `ended`; until they do, the rejection must not end the process.
    lost.catch(() => undefined);
    const { url: databaseUrl, isEmbedded } = database;
    const explainPort = (error: unknown) => explainPortInUse(error, { databaseUrl, log });
    const isSandboxAlone = [...roles].every((role) => role === 'sandbox');
    const ports = isSandboxAlone
      ? NO_PORTS
      : await startLedgerRoles(config, roles, { ...parts, databaseUrl, drainers, closers }).catch(
          explainPort,
        );
    const sandbox = roles.has('sandbox')
      ? await (await import('./sandbox.ts'))
          .startSandboxRole(config, {
            log,
            databaseUrl,
            receiverPort: ports.receiverPort,
            startAtMs: sandboxStartMs,
          })
          .catch(explainPort)
      : undefined;
    if (sandbox) closers.push(() => sandbox.close());
    const ended = sandbox ? Promise.race([lost, sandbox.ended]) : lost;
    ended.catch(() => undefined);
    return { ...ports, ended, sandbox, databaseUrl, isEmbedded, drain, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Names every setting that a role lacks, so that a person sets them at once. @throws UsageError */
function refuseMissingSettings(config: Config, roles: ReadonlySet<Role>): void {
  const isLedger = [...roles].some((role) => role !== 'sandbox');
  const needed = [
    ...(isLedger ? [() => merchantIdOf(config)] : []),
    ...(roles.has('receiver') ? [() => webhookSecretsOf(config, roles.has('sandbox'))] : []),
    ...(roles.has('console') ? [() => adminTokenOf(config)] : []),
  ];
  const problems = needed.flatMap((read) => {
    try {
      read();
      return [];
    } catch (error) {
      if (error instanceof UsageError) return [error.message];
      throw toError(error);
    }
  });
  if (problems.length === 1) throw new UsageError(problems.join());
  if (problems.length > 1) {
    const lines = problems.map((problem) => `  ${problem}`);
    throw new UsageError(`The settings are not complete:\n${lines.join('\n')}`);
  }
}

type Ports = Pick<Running, 'receiverPort' | 'consolePort' | 'createSignInPath' | 'healthPort'>;

const NO_PORTS: Ports = {
  receiverPort: undefined,
  consolePort: undefined,
  createSignInPath: () => Promise.resolve(undefined),
  healthPort: undefined,
};

async function startLedgerRoles(
  config: Config,
  roles: ReadonlySet<Role>,
  input: Omit<ShareInput, 'roles'>,
): Promise<Ports> {
  const shared = await share(config, { ...input, roles });
  shared.metrics.fact('tallyhook_build_info', BUILD_INFO_HELP, { version: packageVersion() });
  for (const role of roles) shared.metrics.fact('tallyhook_role_up', ROLE_UP_HELP, { role });
  const { forRole, close } = shareWithRoles(shared, input.databaseUrl);
  input.closers.push(close);
  const receiver = roles.has('receiver')
    ? await (await import('./receiver.ts')).startReceiver(forRole())
    : undefined;
  if (roles.has('events')) (await import('./events.ts')).startEvents(forRole());
  if (roles.has('reconcile')) (await import('./reconcile.ts')).startReconcile(forRole());
  if (roles.has('alerts')) (await import('./alerts.ts')).startAlerts(forRole());
  if (roles.has('scheduler')) (await import('./scheduler.ts')).startSchedules(forRole());
  const admin = roles.has('console')
    ? await (await import('./console.ts')).startConsole(forRole())
    : undefined;
  const healthPort = await startHealth(shared, roles, receiver?.probe ?? (() => shared.db.probe()));
  return {
    receiverPort: receiver?.port,
    consolePort: admin?.port,
    createSignInPath: admin?.createSignInPath ?? NO_PORTS.createSignInPath,
    healthPort,
  };
}

const BUILD_INFO_HELP = 'The version of Tallyhook that this process runs';
const ROLE_UP_HELP = 'Roles of this process; absent when no process has the role';
