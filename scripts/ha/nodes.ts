/**
 * Where the cluster of the drill is: three machines, each a network namespace with an address on a bridge
 * that only this script uses, and a small disk of its own.
 */
import { join } from 'node:path';

export const MODES = ['asynchronous', 'synchronous', 'strict'] as const;
/** How Patroni replicates: `synchronous_mode`, and `synchronous_mode_strict` beside it. */
export type Mode = (typeof MODES)[number];

export interface Node {
  readonly name: string;
  readonly namespace: string;
  readonly address: string;
  /** Its disk. */
  readonly folder: string;
}

export const BRIDGE = 'tlha0';
export const BRIDGE_ADDRESS = '10.199.77.1';
export const FOLDER = '/run/tallyhook-ha';
/** The logs of everything, which stay until the next run. */
export const LOGS = '/var/tmp/tallyhook-ha-logs';
export const DISK_MB = 600;

export const POSTGRES_PORT = 5432;
export const PATRONI_PORT = 8008;
export const ETCD_PORT = 2379;
export const ETCD_PEER_PORT = 2380;
/** Of the machine that runs the script. */
export const HAPROXY_PORT = 5500;
export const PGBOUNCER_PORT = 5501;

/** Debian's packages create this user; nothing of the cluster runs as root. */
export const USER = 'postgres';
export const PASSWORD = 'tallyhook-ha-drill';

export const NODES: readonly Node[] = [1, 2, 3].map((number) => ({
  name: `node${number}`,
  namespace: `tlha-${number}`,
  address: `10.199.77.${10 + number}`,
  folder: join(FOLDER, `node${number}`),
}));

const LOGIN = `${USER}:${PASSWORD}`;

/** The several-hosts address, and those of the proxy and the pooler. */
export const ADDRESSES = {
  hosts: `postgres://${LOGIN}@${NODES.map(({ address }) => `${address}:${POSTGRES_PORT}`).join(',')}/postgres`,
  haproxy: `postgres://${LOGIN}@127.0.0.1:${HAPROXY_PORT}/postgres`,
  pgbouncer: `postgres://${LOGIN}@127.0.0.1:${PGBOUNCER_PORT}/postgres`,
} as const;
export type Way = keyof typeof ADDRESSES;
