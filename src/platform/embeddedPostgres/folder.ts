/**
 * The files of one data folder:
 *
 *   <dataDir>/postgres             the cluster
 *   <dataDir>/postgres.init-…      an unfinished cluster
 *   <dataDir>/postgres-password    password of the superuser; generated at first use
 *   <dataDir>/postgres-use-….json  a process that uses the server
 *   <dataDir>/postgres-start-lock  the start lock, while a process holds it
 *   <dataDir>/postgres.log         the server's log; one older file beside it
 */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { explainDataFolder, noAccessTo } from '../dataFolder.ts';
import { errorCode } from '../errors.ts';
import type { Account } from './account.ts';
import { EmbeddedPostgresError } from './errors.ts';

export interface DataFolder {
  readonly dataDir: string;
  readonly clusterDir: string;
  readonly passwordFile: string;
  readonly logFile: string;
}

/** Creates the data folder, for its owner only, and returns the paths in it. */
export function prepareDataFolder(dataDir: string): DataFolder {
  const wanted = path.resolve(dataDir);
  try {
    // Only the last folder is for its owner alone.
    mkdirSync(path.dirname(wanted), { recursive: true });
    if (!existsSync(wanted)) mkdirSync(wanted, { recursive: true, mode: 0o700 });
  } catch (error) {
    explainDataFolder(error, wanted);
  }
  assertUsable(wanted);
  const real = realpathSync(wanted);
  return {
    dataDir: real,
    clusterDir: path.join(real, 'postgres'),
    passwordFile: path.join(real, 'postgres-password'),
    logFile: path.join(real, 'postgres.log'),
  };
}

/** Undefined when there is no file. One call, because a server that ends removes its `postmaster.pid` between two. */
export function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes the file atomically, readable by its owner only. */
export function writePrivateFile(file: string, content: string, account: Account): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, content, { mode: 0o600, flag: 'wx', flush: true });
    account.give(draft);
    renameSync(draft, file);
  } catch (error) {
    // On a full disk, every command would leave one.
    rmSync(draft, { force: true });
    throw error;
  }
}

function assertUsable(dataDir: string): void {
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new EmbeddedPostgresError('folder_not_accessible', noAccessTo(dataDir, cause), { cause });
  }
}
