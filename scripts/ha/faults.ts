/**
 * What happens to the cluster in a drill. Each fault acts on the leader of its moment, waits until the cluster
 * has dealt with it, and is taken back.
 */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { commandOf, kill, leader, leaders, processesOf, startPatroni } from './cluster.ts';
import { NODES, type Node, PATRONI_PORT } from './nodes.ts';
import { run, until } from './run.ts';

export const FAULTS = ['kill', 'cut', 'switchover', 'hang', 'disk_full', 'etcd_away'] as const;
export type Fault = (typeof FAULTS)[number];

/** Longer than the leader's lock lives. */
const AWAY_SECONDS = 30;
const FAILOVER_SECONDS = 90;

/** @returns the leader before and after it */
export async function cause(fault: Fault): Promise<string> {
  const before = await leader();
  await FAULT[fault](before);
  const after = await leader();
  return before.name === after.name ? `${before.name} stays` : `${before.name} > ${after.name}`;
}

const FAULT: Readonly<Record<Fault, (leader: Node) => Promise<void>>> = {
  kill: async (node) => {
    // Patroni first: it would start PostgreSQL again.
    for (const pid of await databaseProcesses(node)) kill(pid, 'SIGKILL');
    await untilAnotherLeads(node);
    startPatroni(node);
  },
  cut: async (node) => {
    const others = NODES.filter((other) => other !== node);
    await route('add', node, others);
    try {
      await untilAnotherLeads(node);
    } finally {
      await route('del', node, others);
    }
  },
  switchover: async (node) => {
    await until('Patroni to accept the switchover', FAILOVER_SECONDS, async () => {
      const response = await fetch(`http://${node.address}:${PATRONI_PORT}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: node.name }),
        signal: AbortSignal.timeout(60_000),
      });
      return response.status === 200;
    });
    await untilAnotherLeads(node);
  },
  hang: async (node) => {
    const pids = await databaseProcesses(node);
    for (const pid of pids) kill(pid, 'SIGSTOP');
    try {
      await untilAnotherLeads(node);
    } finally {
      for (const pid of pids) kill(pid, 'SIGCONT');
    }
  },
  disk_full: async ({ folder }) => {
    const filler = join(folder, 'filler');
    // Ends with "no space left on device", which is the point of it.
    await run('dd', 'if=/dev/zero', `of=${filler}`, 'bs=1M').catch(() => undefined);
    try {
      await pause(AWAY_SECONDS * 1000);
    } finally {
      rmSync(filler, { force: true });
    }
  },
  etcd_away: async () => {
    const pids = (await Promise.all(NODES.map(etcdProcesses))).flat();
    for (const pid of pids) kill(pid, 'SIGSTOP');
    try {
      await pause(AWAY_SECONDS * 1000);
    } finally {
      for (const pid of pids) kill(pid, 'SIGCONT');
    }
  },
};

async function untilAnotherLeads(before: Node): Promise<void> {
  await until('another leader', FAILOVER_SECONDS, async () =>
    (await leaders()).some(({ name }) => name !== before.name),
  );
}

/** Patroni, then PostgreSQL; not the etcd member, which is another machine in most installations. */
async function databaseProcesses(node: Node): Promise<readonly number[]> {
  const etcd = new Set(await etcdProcesses(node));
  const pids = (await processesOf(node)).filter((pid) => !etcd.has(pid));
  const isPatroni = (pid: number) => commandOf(pid).includes('/usr/bin/patroni');
  return [...pids.filter(isPatroni), ...pids.filter((pid) => !isPatroni(pid))];
}

async function etcdProcesses(node: Node): Promise<readonly number[]> {
  return (await processesOf(node)).filter((pid) => commandOf(pid).startsWith('/usr/bin/etcd '));
}

/** Packets between a node and others disappear, in both directions; clients still reach all of them. */
async function route(what: 'add' | 'del', node: Node, others: readonly Node[]): Promise<void> {
  for (const other of others) {
    await run('ip', '-n', node.namespace, 'route', what, 'blackhole', other.address);
    await run('ip', '-n', other.namespace, 'route', what, 'blackhole', node.address);
  }
}
