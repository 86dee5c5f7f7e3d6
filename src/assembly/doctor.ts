/** Examines the installation of the settings, for the command `doctor` and for the console. */
import { readExpiringTokens } from '../access/store/tokens.ts';
import { openArchiveTarget } from '../archive/openTarget.ts';
import { findMissingBatch } from '../archive/provePlace.ts';
import type { ArchiveTarget } from '../archive/target.ts';
import { readInterruptedAttempts } from '../audit/interrupted.ts';
import type { Config } from '../config/config.ts';
import { createSandboxControl } from '../demo/control.ts';
import { MOST_ATTEMPTS_NAMED } from '../doctor/domain/judge.ts';
import { type Check, examine, type Installation } from '../doctor/examine.ts';
import { roleStateOf } from '../monitor/domain/missingRoles.ts';
import { readProcesses } from '../monitor/store/processes.ts';
import { systemClock } from '../platform/clock.ts';
import { createDatabase, type Database } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import { createLog } from '../platform/log.ts';
import { readPause } from '../reconcile/store/pauses.ts';
import { readWatermarks } from '../reconcile/store/streams.ts';
import { formatTime } from '../representation/time.ts';
import {
  adminTokenOf,
  merchantIdOf,
  sandboxOf,
  serviceOf,
  signingKeyOf,
  usesSandbox,
  webhookSecretsOf,
} from './settings.ts';

/** @param onCheck receives each check as soon as it has a result */
export async function examineWith(
  config: Config,
  { database, checkQueue }: Pick<Installation, 'database' | 'checkQueue'>,
  onCheck?: (check: Check) => void,
): Promise<readonly Check[]> {
  const archive = config.archive && (await openArchiveTarget(config.archive));
  const standby =
    config.databaseReadUrl === undefined ? undefined : openStandby(config.databaseReadUrl);
  try {
    const sandbox = sandboxOf(config);
    const sandboxRuns = sandbox !== undefined && (await runsInReceivers(database));
    const installation: Installation = {
      settings: config,
      database,
      standby,
      checkQueue,
      archive: archive && {
        description: archive.description,
        probe: () => probeArchive(archive, database),
      },
      merchantId: attempt(() => merchantIdOf(config)),
      webhookSecrets: attempt(() => webhookSecretsOf(config, sandboxRuns)),
      adminTokens: attempt(() => [adminTokenOf(config)]),
      service: serviceOf(config),
      isSandbox: usesSandbox(config),
      readSandboxDeliveries: sandbox && (() => readDeliveries(sandbox.baseUrl)),
      receiver: { webhookPath: config.webhookPath, publicUrl: config.webhookPublicUrl },
      secretFiles: config.secretFiles,
      profileId: config.profileId,
      readPause,
      verifyFullDays: config.verifyFullDays,
      chainKey: signingKeyOf(config)?.publicKey,
      readOpenAttempts: (checked) => readInterruptedAttempts(checked, MOST_ATTEMPTS_NAMED + 1),
      readExpiringTokens,
      readApplier: async (checked) =>
        roleStateOf(await readProcesses(checked, MAX_PROCESSES), 'events'),
      readWatermarks,
      clock: systemClock,
    };
    return await examine(installation, onCheck);
  } finally {
    archive?.close();
    await standby?.close();
  }
}

/** Throws unless the archive can be reached and is the one that was written before. */
async function probeArchive(archive: ArchiveTarget, database: Database | Error): Promise<void> {
  await archive.probe();
  if (database instanceof Error) return;
  // A database that cannot be read has a check of its own.
  const missing = await findMissingBatch(database, archive).catch(() => undefined);
  if (missing !== undefined) throw new Error(`it lacks ${missing}, which was archived last`);
}

function openStandby(connectionString: string): Database {
  return createDatabase({
    connectionString,
    log: createLog('silent'),
    applicationName: 'tallyhook-doctor',
    maxConnections: 1,
    responseTimeoutMs: 10_000,
    plans: 'any',
  });
}

/**
 * Whether every receiver that runs has the sandbox in its process: without SANDBOX_WEBHOOK_SECRET, only such
 * a receiver accepts what the sandbox signs.
 */
async function runsInReceivers(database: Database | Error): Promise<boolean> {
  if (database instanceof Error) return false;
  // A database that cannot be read has a check of its own.
  const processes = await readProcesses(database, MAX_PROCESSES).catch(() => []);
  const receivers = processes.filter(({ isSeen, roles }) => isSeen && roles.includes('receiver'));
  return receivers.length > 0 && receivers.every(({ roles }) => roles.includes('sandbox'));
}

const MAX_PROCESSES = 1_000;

/** The last deliveries of the resources that changed last, newest first. */
async function readDeliveries(sandboxUrl: string) {
  const recent = await createSandboxControl(sandboxUrl).recent({ limit: 20 });
  const sent = recent
    .flatMap(({ events }) => events)
    .flatMap(({ event_id: eventId, deliveries }) =>
      deliveries.flatMap(({ sent: sentAt, http_status: httpStatus }) =>
        sentAt === null ? [] : [{ eventId, sentMs: Date.parse(sentAt), httpStatus }],
      ),
    );
  return sent
    .toSorted((a, b) => b.sentMs - a.sentMs)
    .slice(0, LAST)
    .map(({ sentMs, ...delivery }) => ({ ...delivery, sentAt: formatTime(new Date(sentMs)) }));
}

const LAST = 5;

function attempt<T>(work: () => T): T | Error {
  try {
    return work();
  } catch (error) {
    return toError(error);
  }
}
