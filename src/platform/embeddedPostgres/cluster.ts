/**
 * Creates the cluster, the folder in which PostgreSQL keeps its data.
 *
 * C1 `postgres` appears by one rename, when it is complete and on disk: a killed initdb
 *    leaves only a `postgres.init-…`, which the next start removes.
 * C2 The password is on disk before the cluster that requires it.
 */
import { execFile } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Account } from './account.ts';
import { EmbeddedPostgresError, lastLines } from './errors.ts';
import type { DataFolder } from './folder.ts';
import { ensurePassword, SUPERUSER } from './password.ts';
import { type ProcessTable, signal, waitUntil } from './processes.ts';

const INITDB_TIMEOUT_MS = 300_000;

export interface ClusterInput {
  readonly folder: DataFolder;
  readonly account: Account;
  readonly initdb: string;
  readonly majorVersion: string;
  readonly processes: ProcessTable;
  readonly log: (message: string) => void;
}

/** Creates the cluster if there is none; rejects a folder that this PostgreSQL cannot open. */
export async function ensureCluster(input: ClusterInput): Promise<void> {
  const { clusterDir } = input.folder;
  await removeUnfinished(input);
  if (!existsSync(clusterDir) || readdirSync(clusterDir).length === 0) {
    await createCluster(input);
    return;
  }
  const versionFile = path.join(clusterDir, 'PG_VERSION');
  if (!existsSync(versionFile)) {
    throw new EmbeddedPostgresError(
      'not_a_cluster',
      `${clusterDir} is not empty but contains no PostgreSQL cluster (PG_VERSION is missing). ` +
        'Nothing in it was changed. Move it elsewhere, or choose another DATA_DIR.',
    );
  }
  const found = readFileSync(versionFile, 'utf8').trim();
  if (found !== input.majorVersion) {
    throw new EmbeddedPostgresError(
      'other_major_version',
      `${clusterDir} was created by PostgreSQL ${found}, and this is PostgreSQL ${input.majorVersion}, which cannot open it. ` +
        'Nothing in it was changed. Start the Tallyhook version that created it, dump the database there (pg_dump), ' +
        'and load the dump into a new DATA_DIR; or choose another DATA_DIR.',
    );
  }
}

async function createCluster(input: ClusterInput): Promise<void> {
  const { folder, account } = input;
  input.log(`creating a PostgreSQL ${input.majorVersion} cluster in ${folder.clusterDir}`);
  ensurePassword(folder, account);
  const draft = mkdtempSync(`${folder.clusterDir}.init-`);
  account.give(draft);
  try {
    await runInitdb(input, draft);
    renameSync(draft, folder.clusterDir);
    syncFolder(folder.dataDir);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

async function runInitdb({ folder, account, initdb }: ClusterInput, draft: string): Promise<void> {
  const plan = account.plan(initdb, [
    `--pgdata=${draft}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${folder.passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // The builtin provider sorts the same everywhere. A libc locale changes with the operating system,
    // which silently corrupts indexes on text.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--data-checksums',
    '--no-instructions',
    ...['timezone=UTC', 'log_timezone=UTC'].map((setting) => `--set=${setting}`),
  ]);
  try {
    // A later start recognizes an initdb that outlived its parent by this current folder.
    const options = { ...plan.options, cwd: draft, timeout: INITDB_TIMEOUT_MS };
    await promisify(execFile)(plan.file, plan.args, options);
  } catch (cause) {
    const { stderr, message } = cause as Error & { stderr?: string };
    throw new EmbeddedPostgresError(
      'initdb_failed',
      `PostgreSQL could not create its cluster in ${folder.dataDir}. initdb reported:\n${lastLines(stderr || message)}\n` +
        'The folder must be writable, on a disk with free space, and accessible to the user that PostgreSQL runs as.',
      { cause },
    );
  }
}

/** Removes what a killed start left (C1). Only the holder of the start lock calls this. */
async function removeUnfinished({ folder, processes, log }: ClusterInput): Promise<void> {
  const names = readdirSync(folder.dataDir).filter((name) => name.startsWith('postgres.init-'));
  for (const name of names) {
    const draft = path.join(folder.dataDir, name);
    log(`removing ${draft}, which an interrupted start left`);
    for (const pid of processes.allPostgresIn(draft)) signal(pid, 'SIGKILL');
    await waitUntil(() => processes.allPostgresIn(draft).length === 0, 10_000);
    rmSync(draft, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A rename is durable only after the folder of the name is synced. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
