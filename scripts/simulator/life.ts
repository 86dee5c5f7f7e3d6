/**
 * One life: the plan is carried out under its faults, then everything heals and must converge.
 *
 * 1. First phase: any faults; what must always hold is examined every few milliseconds or seconds.
 * 2. Second phase: no more faults, every process runs, and within an hour of virtual time everything must hold.
 */

import { createModelChannel, type ModelChannel } from './channel.ts';
import { MODELS } from './database/models/index.ts';
import { Server } from './database/server.ts';
import { createLookup } from './database/statements.ts';
import { createTables, type Tables } from './database/tables.ts';
import { createNetwork, NETWORK_FAULTS, type Network, type RunningReceiver } from './network.ts';
import { brokenNow, type Facts, notConverged } from './oracle.ts';
import { CHAOS_MS, type Fault, type Plan, PROCESSES, ROLES, type Role } from './plan.ts';
import {
  type Parts,
  startAlerts,
  startEvents,
  startReceiver,
  startRepair,
  startScheduler,
  startShop,
} from './processes.ts';
import { ModelQueue } from './queue.ts';
import { integer, type Random, randomStream } from './random.ts';
import { type Actor, createScheduler, type Scheduler } from './scheduler.ts';
import { Service } from './service.ts';
import { installVirtualTime } from './virtualTime.ts';

export interface LifeResult {
  /** What is broken; empty if nothing is. */
  readonly problems: readonly string[];
  readonly phase: 'faults' | 'healed';
  readonly steps: number;
  readonly statements: number;
  readonly virtualMs: number;
  readonly lines: readonly string[];
}

const START_MS = Date.parse('2026-11-02T09:00:00Z');
const EXAMINED_EVERY_MS = 5_000;
/** Many lives begin with a burst, which corrects within milliseconds what it breaks. */
const BURST_MS = 1_000;
const EXAMINED_IN_BURSTS_MS = 20;
/** A story ends where something breaks. */
const EXAMINED_IN_STORIES_MS = 20;
const CONVERGES_WITHIN_MS = 60 * 60_000;

const lookup = createLookup(MODELS);

interface World {
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly server: Server<Tables>;
  readonly events: ModelQueue;
  readonly channel: ModelChannel;
  readonly service: Service;
  readonly network: Network;
  readonly facts: () => Facts;
  readonly trace: (line: () => string) => void;
  /** The processes that run, by role and number. */
  readonly running: Map<string, Actor>;
  readonly receivers: RunningReceiver[];
  /** Numbers of changes that the shop has read. */
  readonly read: number[];
}

/** @param isTraced whether to keep what happens, for a story */
export async function live(plan: Plan, isTraced = false): Promise<LifeResult> {
  const lines: string[] = [];
  const scheduler = createScheduler(START_MS);
  const world = createWorld(plan, scheduler, (line) => {
    if (!isTraced) return;
    const seconds = ((scheduler.nowMs() - START_MS) / 1000).toFixed(3).padStart(9);
    lines.push(`${seconds}  ${line()}`);
  });
  const restore = installVirtualTime(scheduler);
  try {
    const { problems, phase } = await carryOut(
      world,
      isTraced ? EXAMINED_IN_STORIES_MS : EXAMINED_EVERY_MS,
    );
    for (const actor of world.running.values()) actor.isAlive = false;
    return {
      problems,
      phase,
      lines,
      steps: scheduler.steps(),
      statements: world.server.statements(),
      virtualMs: scheduler.nowMs() - START_MS,
    };
  } finally {
    restore();
  }
}

function createWorld(plan: Plan, scheduler: Scheduler, trace: World['trace']): World {
  const stream = (name: string): Random => randomStream(plan.seed + plan.salt * 1_000_003, name);
  const tables = createTables();
  const delay = (name: string) => delays(stream(name), plan.pace);
  const server = new Server({
    scheduler,
    tables,
    trace,
    modelOf: lookup,
    random: stream('server'),
    delayMs: delay('database'),
  });
  const receivers: RunningReceiver[] = [];
  const network = createNetwork({
    scheduler,
    trace,
    random: stream('network'),
    receivers: () => receivers,
  });
  const service = new Service({
    scheduler,
    random: stream('service'),
    delayMs: delay('requests'),
    send: network.send,
  });
  const events = new ModelQueue({
    scheduler,
    trace,
    random: stream('events'),
    delayMs: delay('events jobs'),
  });
  const channel = createModelChannel({ scheduler, trace, random: stream('channel') });
  const read: number[] = [];
  const facts = (): Facts => ({
    tables,
    objects: service.objects(),
    acknowledged: network.acknowledged,
    deadlocks: server.deadlocks(),
    read,
    received: channel.received,
    sentAtOnce: channel.sentAtOnce,
    captures: service.captures(),
  });
  return {
    plan,
    scheduler,
    server,
    events,
    service,
    network,
    facts,
    trace,
    receivers,
    running: new Map(),
    read,
    channel,
  };
}

function delays(random: Random, pace: Plan['pace']): () => number {
  return () => {
    const kind = random();
    if (pace === 'rough' && kind < 0.02) return integer(random, 20, 500);
    if (kind < 0.1) return random() * 20;
    return 0.1 + random();
  };
}

const START: Record<Role | 'shop' | 'repair', (parts: Parts, world: World) => void> = {
  repair: (parts, { network }) => startRepair(parts, network.lost),
  shop: (parts, { read }) => startShop(parts, read),
  receiver: (parts, { receivers }) => {
    receivers.push(startReceiver(parts));
  },
  events: startEvents,
  scheduler: startScheduler,
  alerts: startAlerts,
};

function start(world: World, role: keyof typeof START, number: number): void {
  const { plan, scheduler, server, running, trace, ...rest } = world;
  const name = `${role} ${number}`;
  if (running.get(name)?.isAlive) return;
  const random = randomStream(plan.seed + plan.salt, `${name} ${scheduler.nowMs()}`);
  const actor: Actor = { name, random, isAlive: true, closing: new AbortController() };
  running.set(name, actor);
  trace(() => `${name} starts`);
  // Timers that the process begins while it starts are its own.
  scheduler.inActor(actor, 0, () => {
    const db = server.open(actor, 4);
    START[role]({ ...rest, actor, db, random, scheduler, trace }, world);
  });
}

function kill(world: World, role: Role, number: number): void {
  const { server, events, running, trace } = world;
  const actor = running.get(`${role} ${number}`);
  if (!actor?.isAlive) return;
  trace(() => `${actor.name} is killed`);
  actor.isAlive = false;
  server.forget(actor);
  events.forget(actor);
}

function strike(world: World, fault: Fault): void {
  const { scheduler, server, events, channel, service, network, running, trace } = world;
  if (fault.name !== 'kill') trace(() => `FAULT ${describe(fault)}`);
  switch (fault.name) {
    case 'kill':
      kill(world, fault.role, fault.process);
      scheduler.inModel(fault.downMs, () => start(world, fault.role, fault.process));
      break;
    case 'connections lost': {
      const actor = running.get(`${fault.role} ${fault.process}`);
      if (actor) server.cut(actor);
      break;
    }
    case 'database restarts':
      server.restart(fault.forMs);
      break;
    case 'queue loses its jobs':
      events.loseEverything();
      break;
    case 'locks of jobs run out':
      events.loseLocks();
      break;
    case 'queue unreachable':
      events.beUnreachable(fault.forMs);
      break;
    case 'service fails':
      service.failFor(fault.forMs);
      break;
    case 'service is stale':
      service.beStaleFor(fault.forMs);
      break;
    case 'channel fails':
      channel.failFor(fault.forMs);
      break;
    default:
      network.faults[fault.name] = scheduler.nowMs() + fault.forMs;
  }
}

export function describe(fault: Fault): string {
  const { atMs: _, name, ...rest } = fault;
  const details = Object.entries(rest).map(([field, value]) => `${field} ${value}`);
  return details.length === 0 ? name : `${name} (${details.join(', ')})`;
}

async function carryOut(
  world: World,
  examinedEveryMs: number,
): Promise<Pick<LifeResult, 'problems' | 'phase'>> {
  const { plan, scheduler, service, network, facts } = world;
  for (const role of ROLES) {
    for (let number = 1; number <= PROCESSES[role]; number += 1) start(world, role, number);
  }
  start(world, 'shop', 1);
  for (const payment of plan.payments) {
    for (const step of payment.steps) {
      scheduler.inModel(step.atMs, () => {
        const event = service.perform(payment, step);
        if (event) network.send(event);
      });
    }
  }
  for (const fault of plan.faults) scheduler.inModel(fault.atMs, () => strike(world, fault));

  for (let atMs = 0; atMs <= CHAOS_MS; ) {
    await scheduler.run(START_MS + atMs);
    const problems = brokenNow(facts());
    if (problems.length > 0) return { problems, phase: 'faults' };
    atMs += atMs < BURST_MS ? EXAMINED_IN_BURSTS_MS : examinedEveryMs;
  }
  return await heal(world);
}

async function heal(world: World): Promise<Pick<LifeResult, 'problems' | 'phase'>> {
  const { scheduler, service, events, channel, network, facts, trace } = world;
  trace(() => 'everything heals');
  for (const name of NETWORK_FAULTS) network.faults[name] = 0;
  service.failFor(0);
  service.beStaleFor(0);
  events.beUnreachable(0);
  channel.failFor(0);
  for (const role of ROLES) {
    for (let number = 1; number <= PROCESSES[role]; number += 1) start(world, role, number);
  }
  if (network.lost.size > 0) start(world, 'repair', 1);
  const endMs = scheduler.nowMs() + CONVERGES_WITHIN_MS;
  let problems: readonly string[] = [];
  while (scheduler.nowMs() < endMs) {
    await scheduler.run(scheduler.nowMs() + 1_000);
    problems = brokenNow(facts());
    if (problems.length > 0) break;
    problems = network.undelivered() > 0 ? ['events are not delivered'] : notConverged(facts());
    if (problems.length === 0) break;
  }
  return { problems, phase: 'healed' };
}
