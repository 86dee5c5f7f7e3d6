/**
 * Which user runs the PostgreSQL programs.
 *
 * PostgreSQL refuses to run as root, and requires that its folder belongs to the user it runs as.
 *
 * A1 An ordinary user runs the programs directly.
 * A2 Root runs them in a user namespace (`unshare --user`), where its own uid has another number.
 *    To the rest of the system they belong to root, without its privileges, so they can enter folders
 *    that only root may enter. A system user, the usual choice, could not.
 * A3 Root runs them as the folder's owner when an ordinary user made the cluster (`sudo` after a
 *    start without), or where namespaces are forbidden but the folder belongs to such a user.
 * A4 No `--fork`: unshare then replaces itself, so that the child's pid is the server's own.
 * A5 initdb needs a name for its uid. The number in the namespace is therefore one from /etc/passwd
 *    (a fixed 1000 fails on a machine without a first user), and an ordinary user without a name, as
 *    in containers, gets a namespace too.
 */
import { spawnSync } from 'node:child_process';
import { chownSync, readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { EmbeddedPostgresError } from './errors.ts';

export interface Account {
  /** How to spawn the program under this account. */
  readonly plan: (program: string, args: readonly string[]) => SpawnPlan;
  /** Gives the account ownership of a file or folder that this process created. */
  readonly give: (file: string) => void;
}

export interface SpawnPlan {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: {
    readonly env: NodeJS.ProcessEnv;
    readonly uid?: number;
    readonly gid?: number;
  };
}

export interface AccountChoice {
  readonly account: Account;
  /** Version of the programs, such as "18". */
  readonly majorVersion: string;
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Chooses the account and tests it by running `postgres --version` under it. */
export function chooseAccount(input: {
  readonly postgres: string;
  readonly dataDir: string;
  readonly clusterDir: string;
}): AccountChoice {
  const { account, fallback } = candidates(input.dataDir, input.clusterDir);
  const first = tryAccount(account, input.postgres);
  if ('majorVersion' in first) return { account, majorVersion: first.majorVersion };
  const second = fallback && tryAccount(fallback, input.postgres);
  if (fallback && second && 'majorVersion' in second) {
    return { account: fallback, majorVersion: second.majorVersion };
  }
  throw noUsableAccount(first.refusal);
}

function candidates(
  dataDir: string,
  clusterDir: string,
): { account: Account; fallback?: Account | undefined } {
  if (!isRoot()) return { account: hasName() ? ownAccount() : namespaceAccount() };
  const clusterOwner = ownerOf(clusterDir);
  if (clusterOwner !== undefined && clusterOwner.uid !== 0) {
    return { account: ownerAccount(clusterOwner) };
  }
  if (clusterOwner !== undefined) return { account: namespaceAccount() };
  // The parent counts, too: root has just created the data folder, inside another user's checkout.
  const owner = [dataDir, path.dirname(dataDir)].map(ownerOf).find((found) => found?.uid !== 0);
  return { account: namespaceAccount(), fallback: owner && ownerAccount(owner) };
}

function ownAccount(): Account {
  return {
    plan: (file, args) => ({ file, args, options: { env: childEnv() } }),
    give: () => {},
  };
}

function namespaceAccount(): Account {
  const id = namedId();
  const prefix = ['--user', `--map-user=${id}`, `--map-group=${id}`];
  return {
    plan: (program, args) => ({
      file: 'unshare',
      args: [...prefix, program, ...args],
      options: { env: childEnv() },
    }),
    give: () => {},
  };
}

function ownerAccount({ uid, gid }: Owner): Account {
  return {
    plan: (file, args) => ({ file, args, options: { env: childEnv(), uid, gid } }),
    give: (file) => chownSync(file, uid, gid),
  };
}

function tryAccount(
  account: Account,
  postgres: string,
): { majorVersion: string } | { refusal: string } {
  const plan = account.plan(postgres, ['--version']);
  const result = spawnSync(plan.file, plan.args, {
    ...plan.options,
    cwd: '/',
    encoding: 'utf8',
    timeout: 20_000,
  });
  const [, majorVersion] = /^postgres \(PostgreSQL\) (\d+)/.exec(result.stdout ?? '') ?? [];
  if (majorVersion !== undefined) return { majorVersion };
  const refusal = [result.error?.message, result.stderr?.trim()].filter(Boolean).join('; ');
  return { refusal: refusal || `exit code ${result.status}` };
}

function noUsableAccount(refusal: string): EmbeddedPostgresError {
  const message = isRoot()
    ? 'The embedded PostgreSQL cannot run here: it does not run as root, and running it as root in a user ' +
      `namespace failed (unshare --user: ${refusal}). Containers and hardened kernels often forbid ` +
      'user namespaces. Start Tallyhook as an ordinary user that owns the data folder, or set DATABASE_URL.'
    : `The embedded PostgreSQL cannot run here: ${refusal}. Its binaries need glibc (not musl) and a user ` +
      'with a name in /etc/passwd or the right to create user namespaces. Otherwise set DATABASE_URL.';
  return new EmbeddedPostgresError('no_usable_account', message);
}

function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return process.platform !== 'linux';
  }
}

function namedId(): number {
  const passwd = process.platform === 'linux' ? readFileSync('/etc/passwd', 'utf8') : '';
  const ids = passwd.split('\n').map((line) => Number(line.split(':')[2]));
  return ids.find((id) => Number.isSafeInteger(id) && id > 0) ?? 1000;
}

function ownerOf(folder: string): Owner | undefined {
  return statSync(folder, { throwIfNoEntry: false });
}

/**
 * The few variables that the programs need. With the whole environment, a PGDATA or PGOPTIONS for
 * another server would reach this one, and our secrets would reach its processes.
 */
function childEnv(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'TMPDIR', 'LD_LIBRARY_PATH'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(kept), LC_ALL: 'C', TZ: 'UTC' };
}
