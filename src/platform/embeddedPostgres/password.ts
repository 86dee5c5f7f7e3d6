/**
 * The superuser's password: generated at first use, kept in a file for its owner only, never logged.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Account } from './account.ts';
import { EmbeddedPostgresError } from './errors.ts';
import { type DataFolder, readIfPresent, writePrivateFile } from './folder.ts';

export const SUPERUSER = 'postgres';

/** Undefined when there is no file. */
export function readPassword({ passwordFile }: DataFolder): string | undefined {
  return readIfPresent(passwordFile)?.trim();
}

/** Generates the password of a new cluster. */
export function ensurePassword(folder: DataFolder, account: Account): void {
  if (readPassword(folder) !== undefined) return;
  writePrivateFile(folder.passwordFile, `${newPassword()}\n`, account);
}

/**
 * Sets a new password for the superuser when the file was lost, for example after restoring a backup
 * of the cluster alone. Every user who can write to the folder could do that anyway, so this grants no
 * new access; without it the ledger would be inaccessible. No server may be running, because this
 * uses single-user mode.
 */
export function replaceLostPassword(folder: DataFolder, account: Account, postgres: string): void {
  const password = newPassword();
  const plan = account.plan(postgres, ['--single', '-D', folder.clusterDir, 'postgres']);
  const result = spawnSync(plan.file, plan.args, {
    ...plan.options,
    cwd: folder.clusterDir,
    input: `alter role ${SUPERUSER} password '${password}';\n`,
    encoding: 'utf8',
  });
  // A single-user server exits with 0 even after an SQL error.
  if (result.status !== 0 || /ERROR|FATAL|PANIC/.test(result.stderr)) {
    throw new EmbeddedPostgresError(
      'wrong_password',
      `${folder.passwordFile} is missing, and a new password could not be set. Restore the file, ` +
        'or move the data folder elsewhere to start with an empty ledger.',
    );
  }
  writePrivateFile(folder.passwordFile, `${password}\n`, account);
}

function newPassword(): string {
  return randomBytes(24).toString('base64url');
}
