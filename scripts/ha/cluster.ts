/**
 * Three PostgreSQL nodes under Patroni with an etcd member each, HAProxy and PgBouncer in front. The programs
 * are Debian's. Everything that it makes on the machine has a name of its own: namespaces, a bridge, a folder.
 *
 * 1. `down` ends the processes of its namespaces and those with its folder in their command, and no others.
 * 2. What `up` makes outlives the script, so that a person can look at it; `drill` takes it down.
 */
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import {
  ADDRESSES,
  BRIDGE,
  BRIDGE_ADDRESS,
  DISK_MB,
  ETCD_PEER_PORT,
  ETCD_PORT,
  FOLDER,
  HAPROXY_PORT,
  LOGS,
  type Mode,
  NODES,
  type Node,
  PASSWORD,
  PATRONI_PORT,
  PGBOUNCER_PORT,
  POSTGRES_PORT,
  USER,
} from './nodes.ts';
import { run, startServer, until } from './run.ts';

/** How long the cluster may take to be whole again; a node may have to copy the database. */
const WHOLE_SECONDS = 240;
/** How long a standby may take to follow by itself. */
const FOLLOW_SECONDS = 60;
const LEADER_SECONDS = 90;
const RESPONSE_MS = 5_000;

/** Makes the cluster; resolves when it has a leader and two standbys. */
export async function up(mode: Mode): Promise<void> {
  await down();
  rmSync(LOGS, { recursive: true, force: true });
  mkdirSync(LOGS, { recursive: true, mode: 0o755 });
  await makeNetwork();
  const [uid, gid] = await idsOfUser();
  for (const node of NODES) {
    mkdirSync(node.folder, { recursive: true, mode: 0o755 });
    await run('mount', '-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=0700`, 'tmpfs', node.folder);
    chownSync(node.folder, uid, gid);
    mkdirSync(etcdFolder(node), { mode: 0o700 });
    chownSync(etcdFolder(node), uid, gid);
    startEtcd(node);
  }
  for (const node of NODES) {
    give(configFile(node), JSON.stringify(patroniConfig(node, mode), null, 2), [uid, gid]);
    startPatroni(node);
  }
  startFront([uid, gid]);
  await untilWhole(mode);
}

/** Removes everything that `up` makes, in any state. */
export async function down(): Promise<void> {
  for (const signal of ['SIGCONT', 'SIGKILL'] as const) {
    for (const pid of await allProcesses()) kill(pid, signal);
  }
  await until('the processes to end', 20, async () => (await allProcesses()).length === 0);
  for (const { namespace, folder } of NODES) {
    if (existsSync(`/run/netns/${namespace}`)) await run('ip', 'netns', 'del', namespace);
    if (isMounted(folder)) await run('umount', folder);
  }
  if (existsSync(`/sys/class/net/${BRIDGE}`)) await run('ip', 'link', 'del', BRIDGE);
  rmSync(FOLDER, { recursive: true, force: true });
}

function isMounted(folder: string): boolean {
  return readFileSync('/proc/mounts', 'utf8').includes(` ${folder} `);
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** The processes of a node: those in its namespace. */
export async function processesOf({ namespace }: Node): Promise<readonly number[]> {
  if (!existsSync(`/run/netns/${namespace}`)) return [];
  return (await run('ip', 'netns', 'pids', namespace)).split('\n').filter(Boolean).map(Number);
}

async function allProcesses(): Promise<readonly number[]> {
  const inNamespaces = await Promise.all(NODES.map(processesOf));
  const inFront = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => commandOf(pid).includes(`${FOLDER}/front/`));
  return [...inNamespaces.flat(), ...inFront.map(Number)];
}

export function commandOf(pid: string | number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

async function makeNetwork(): Promise<void> {
  await run('ip', 'link', 'add', BRIDGE, 'type', 'bridge');
  await run('ip', 'addr', 'add', `${BRIDGE_ADDRESS}/24`, 'dev', BRIDGE);
  await run('ip', 'link', 'set', BRIDGE, 'up');
  for (const [place, { namespace, address }] of NODES.entries()) {
    const outside = `${BRIDGE}-${place + 1}`;
    await run('ip', 'netns', 'add', namespace);
    await run(
      'ip',
      'link',
      'add',
      outside,
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      namespace,
    );
    await run('ip', 'link', 'set', outside, 'master', BRIDGE, 'up');
    await run('ip', '-n', namespace, 'link', 'set', 'lo', 'up');
    await run('ip', '-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    await run('ip', '-n', namespace, 'link', 'set', 'eth0', 'up');
  }
}

type Owner = readonly [uid: number, gid: number];

async function idsOfUser(): Promise<Owner> {
  return [Number(await run('id', '-u', USER)), Number(await run('id', '-g', USER))];
}

function give(file: string, text: string, [uid, gid]: Owner): void {
  writeFileSync(file, text, { mode: 0o600 });
  chownSync(file, uid, gid);
}

function logFile(name: string): string {
  return join(LOGS, `${name}.log`);
}

/** Not on the disk of the database: in most installations, etcd runs on other machines. */
function etcdFolder({ name }: Node): string {
  return join(FOLDER, `etcd-${name}`);
}

function startEtcd(node: Node): void {
  const { name, address } = node;
  const urls = (port: number) => `http://${address}:${port}`;
  startServer(
    'etcd',
    { node, log: logFile(`etcd-${name}`) },
    '/usr/bin/etcd',
    '--name',
    name,
    '--data-dir',
    etcdFolder(node),
    '--listen-client-urls',
    urls(ETCD_PORT),
    '--advertise-client-urls',
    urls(ETCD_PORT),
    '--listen-peer-urls',
    urls(ETCD_PEER_PORT),
    '--initial-advertise-peer-urls',
    urls(ETCD_PEER_PORT),
    '--initial-cluster',
    NODES.map((one) => `${one.name}=http://${one.address}:${ETCD_PEER_PORT}`).join(','),
    // A busy machine must not look like a lost one.
    '--heartbeat-interval',
    '300',
    '--election-timeout',
    '3000',
    // Without it, which is the default of etcd 3.4, a member that comes back from a cut network forces an
    // election. Patroni tolerates stale reads meanwhile, and two nodes have led on one timeline for seconds.
    '--pre-vote',
  );
}

export function startPatroni(node: Node): void {
  startServer(
    'patroni',
    { node, log: logFile(`patroni-${node.name}`) },
    '/usr/bin/patroni',
    configFile(node),
  );
}

function configFile({ folder }: Node): string {
  return join(folder, 'patroni.yml');
}

/** JSON is YAML, too. */
function patroniConfig({ name, address, folder }: Node, mode: Mode): object {
  const login = { username: USER, password: PASSWORD };
  return {
    scope: 'tallyhook',
    name,
    restapi: {
      listen: `${address}:${PATRONI_PORT}`,
      connect_address: `${address}:${PATRONI_PORT}`,
    },
    etcd3: { hosts: NODES.map((one) => `${one.address}:${ETCD_PORT}`).join(',') },
    bootstrap: {
      dcs: {
        ttl: 20,
        loop_wait: 2,
        retry_timeout: 5,
        master_start_timeout: 10,
        maximum_lag_on_failover: 1_048_576,
        failsafe_mode: true,
        synchronous_mode: mode !== 'asynchronous',
        synchronous_mode_strict: mode === 'strict',
        postgresql: { use_pg_rewind: true, use_slots: true, parameters: PARAMETERS },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `${address}:${POSTGRES_PORT}`,
      connect_address: `${address}:${POSTGRES_PORT}`,
      data_dir: join(folder, 'data'),
      bin_dir: '/usr/lib/postgresql/15/bin',
      pgpass: join(folder, 'pgpass'),
      authentication: { superuser: login, replication: login, rewind: login },
      parameters: { unix_socket_directories: folder },
      pg_hba: [
        'local all all scram-sha-256',
        'host all all 10.199.77.0/24 scram-sha-256',
        'host replication all 10.199.77.0/24 scram-sha-256',
      ],
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
  };
}

/** Small, because three servers share the machine, and its disks are in memory. */
const PARAMETERS = {
  shared_buffers: '64MB',
  max_connections: 120,
  max_wal_size: '96MB',
  min_wal_size: '32MB',
  wal_keep_size: '64MB',
  max_slot_wal_keep_size: '96MB',
  wal_log_hints: 'on',
  wal_receiver_timeout: '10s',
  wal_sender_timeout: '10s',
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 10_000,
} as const;

/** HAProxy finds the leader at Patroni and ends connections to an earlier one; PgBouncer goes through it. */
function startFront(owner: Owner): void {
  const folder = join(FOLDER, 'front');
  mkdirSync(folder, { mode: 0o755 });
  const servers = NODES.map(
    ({ name, address }) =>
      `    server ${name} ${address}:${POSTGRES_PORT} check port ${PATRONI_PORT} maxconn 200`,
  );
  const haproxy = join(folder, 'haproxy.cfg');
  const lines = [
    'global',
    '    maxconn 500',
    'defaults',
    '    mode tcp',
    '    timeout connect 4s',
    '    timeout client 30m',
    '    timeout server 30m',
    '    timeout check 2s',
    'listen postgres',
    `    bind 127.0.0.1:${HAPROXY_PORT}`,
    '    option httpchk OPTIONS /primary',
    '    http-check expect status 200',
    '    default-server inter 1s fall 3 rise 1 on-marked-down shutdown-sessions',
    ...servers,
  ];
  give(haproxy, `${lines.join('\n')}\n`, owner);
  startServer(
    'haproxy',
    { node: undefined, log: logFile('haproxy') },
    '/usr/sbin/haproxy',
    '-db',
    '-f',
    haproxy,
  );
  const pgbouncer = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'users.txt');
  give(users, `"${USER}" "${PASSWORD}"\n`, owner);
  const settings = [
    '[databases]',
    `postgres = host=127.0.0.1 port=${HAPROXY_PORT}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${PGBOUNCER_PORT}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${users}`,
    'pool_mode = transaction',
    'default_pool_size = 20',
    'server_login_retry = 1',
  ];
  give(pgbouncer, `${settings.join('\n')}\n`, owner);
  startServer(
    'pgbouncer',
    { node: undefined, log: logFile('pgbouncer') },
    '/usr/sbin/pgbouncer',
    pgbouncer,
  );
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

/** The members as a node's Patroni knows them; the first node that responds. */
async function members(): Promise<readonly Member[]> {
  const responses = NODES.map(async ({ address }) => {
    const response = await fetch(`http://${address}:${PATRONI_PORT}/cluster`, {
      signal: AbortSignal.timeout(RESPONSE_MS),
    });
    const body = (await response.json()) as { readonly members?: readonly Member[] };
    if (!body.members?.length) throw new Error(`${address} knows no members`);
    return body.members;
  });
  return await Promise.any(responses);
}

/** The nodes that Patroni's own check calls the primary; there may be none, and in a split two. */
export async function leaders(): Promise<readonly Node[]> {
  const found = await Promise.all(
    NODES.map(async (node) => {
      const response = await fetch(`http://${node.address}:${PATRONI_PORT}/primary`, {
        signal: AbortSignal.timeout(RESPONSE_MS),
      }).catch(() => undefined);
      return response?.status === 200 ? [node] : [];
    }),
  );
  return found.flat();
}

/** The leader, once there is one and only one. */
export async function leader(): Promise<Node> {
  let found: readonly Node[] = [];
  await until('a leader', LEADER_SECONDS, async () => {
    found = await leaders();
    return found.length === 1;
  });
  const [first] = found;
  if (!first) throw new Error('the leader is lost');
  return first;
}

/**
 * Waits until there is one leader with two standbys that stream, synchronous where the mode demands it. A
 * standby that does not follow by itself is reinitialized, as a person on call would do it: `pg_rewind` does not help
 * a node that has recovered beyond the point where the timelines parted.
 *
 * @returns the names of those that were reinitialized
 */
export async function untilWhole(mode: Mode): Promise<readonly string[]> {
  const startedMs = performance.now();
  const reinitialized = new Set<string>();
  await until('a leader with two streaming standbys', WHOLE_SECONDS, async () => {
    const standbys = await readStandbys();
    if (!standbys) return false;
    const { behind, isSynchronous } = standbys;
    const isLate = performance.now() - startedMs > FOLLOW_SECONDS * 1000;
    for (const node of isLate ? behind : []) {
      if (!reinitialized.has(node.name) && (await reinitialize(node))) reinitialized.add(node.name);
    }
    return behind.length === 0 && (mode === 'asynchronous' || isSynchronous);
  });
  return [...reinitialized];
}

interface Standbys {
  /** Those that do not stream. */
  readonly behind: readonly Node[];
  readonly isSynchronous: boolean;
}

/** @returns undefined unless there is one leader, and all agree about it */
async function readStandbys(): Promise<Standbys | undefined> {
  const all = await members();
  if (all.filter(({ role }) => role === 'leader').length !== 1) return undefined;
  const [first, second] = await leaders();
  if (!first || second) return undefined;
  const streaming = await query<{ name: string; sync: string }>(
    `select application_name as name, sync_state as sync
       from pg_stat_replication where state = 'streaming'`,
  );
  const names = new Set(streaming.map(({ name }) => name));
  return {
    behind: NODES.filter((node) => node !== first && !names.has(node.name)),
    isSynchronous: streaming.some(({ sync }) => sync === 'sync' || sync === 'quorum'),
  };
}

/** Has Patroni copy the database of the leader again. @returns whether it accepts that */
async function reinitialize({ address }: Node): Promise<boolean> {
  const response = await fetch(`http://${address}:${PATRONI_PORT}/reinitialize`, {
    method: 'POST',
    body: JSON.stringify({ force: true }),
    signal: AbortSignal.timeout(RESPONSE_MS),
  });
  return response.status === 200;
}

/** Runs one statement on the leader. */
export async function query<Row extends object>(
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const { address } = await leader();
  const client = new pg.Client({
    connectionString: ADDRESSES.hosts.replace(/@[^/]*/, `@${address}:${POSTGRES_PORT}`),
    connectionTimeoutMillis: 3_000,
    query_timeout: 20_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
