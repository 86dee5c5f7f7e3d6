/** Examines the installation of the settings, for the command `doctor` and for the console. */
import { readExpiringTokens } from '../access/store/tokens.ts';
import { openArchiveTarget } from '../archive/openTarget.ts';
import { readInterruptedAttempts } from '../audit/interrupted.ts';
import type { Config } from '../config/config.ts';
import { MOST_ATTEMPTS_NAMED } from '../doctor/domain/judge.ts';
import { type Check, examine, type Installation } from '../doctor/examine.ts';
import { systemClock } from '../platform/clock.ts';
import { createDatabase, type Database } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import { createLog } from '../platform/log.ts';
import { readPause } from '../reconcile/store/pauses.ts';
import { readWatermarks } from '../reconcile/store/streams.ts';
import {
  adminTokenOf,
  merchantIdOf,
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
    const installation: Installation = {
      settings: config,
      database,
      standby,
      checkQueue,
      archive,
      merchantId: attempt(() => merchantIdOf(config)),
      webhookSecrets: attempt(() => webhookSecretsOf(config, true)),
      adminTokens: attempt(() => [adminTokenOf(config)]),
      service: serviceOf(config),
      isSandbox: usesSandbox(config),
      receiver: { webhookPath: config.webhookPath, publicUrl: config.webhookPublicUrl },
      secretFiles: config.secretFiles,
      profileId: config.profileId,
      readPause,
      verifyFullDays: config.verifyFullDays,
      chainKey: signingKeyOf(config)?.publicKey,
      readOpenAttempts: (checked) => readInterruptedAttempts(checked, MOST_ATTEMPTS_NAMED + 1),
      readExpiringTokens,
      readWatermarks,
      clock: systemClock,
    };
    return await examine(installation, onCheck);
  } finally {
    archive?.close();
    await standby?.close();
  }
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

function attempt<T>(work: () => T): T | Error {
  try {
    return work();
  } catch (error) {
    return toError(error);
  }
}
