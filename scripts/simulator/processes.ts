/**
 * The processes of a life: the program's own orchestration, assembled as src/assembly does, over the models of
 * database, queue, service and network. Nothing of it is rewritten here.
 */
import { raiseWaitingFindings } from '../../src/alerts/syncFindingAlerts.ts';
import { createAuthorizationCheck } from '../../src/authorizations/checkAuthorizations.ts';
import { createAuthorizationService } from '../../src/authorizations/createAuthorizationService.ts';
import { createChangeFeed } from '../../src/ledger/changeFeed.ts';
import type { ResourceRef } from '../../src/ledger/domain/snapshot.ts';
import { createEventApplier } from '../../src/ledger/inbox/applyEvents.ts';
import { batchJob, createEventsHandler, type EventsJob } from '../../src/ledger/inbox/jobs.ts';
import { createSweep } from '../../src/ledger/inbox/sweep.ts';
import { createDeliverer } from '../../src/notify/deliver.ts';
import { dispatchAlerts } from '../../src/notify/dispatch.ts';
import { runNotifier } from '../../src/notify/notifier.ts';
import { sweepMessages } from '../../src/notify/sweep.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { sleep } from '../../src/platform/sleep.ts';
import { createEnqueuer } from '../../src/receiver/enqueuer.ts';
import { createIntake } from '../../src/receiver/intake.ts';
import { createRefresh } from '../../src/reconcile/refresh.ts';
import { createRetrieve } from '../../src/reconcile/retrieve.ts';
import type { ModelChannel } from './channel.ts';
import type { RunningReceiver } from './network.ts';
import type { ModelQueue } from './queue.ts';
import { integer, type Random } from './random.ts';
import type { Actor, Scheduler } from './scheduler.ts';
import { MERCHANT_ID, type Service } from './service.ts';

export interface Parts {
  readonly actor: Actor;
  readonly db: Database;
  readonly scheduler: Scheduler;
  readonly service: Service;
  readonly events: ModelQueue;
  readonly channel: ModelChannel;
  readonly random: Random;
  readonly trace: (line: () => string) => void;
}

const log = createLog('silent');
const ACCOUNT = { merchantId: MERCHANT_ID, profileId: undefined };
const MAX_ATTEMPTS = 5;

function clockOf({ scheduler }: Parts): Clock {
  return { nowMs: () => scheduler.nowMs() };
}

/** Repeats work until the process ends. A failure is left to the next time. */
function every(parts: Parts, intervalMs: number, work: () => Promise<unknown>): void {
  const { signal } = parts.actor.closing;
  void (async () => {
    while (!signal.aborted) {
      await work().catch((error: unknown) => {
        parts.trace(() => `${parts.actor.name}: ${String(error)}`);
      });
      await sleep(intervalMs, signal);
    }
  })();
}

export function startReceiver(parts: Parts): RunningReceiver {
  const { actor, db, events, scheduler } = parts;
  const producer = events.producer<EventsJob>(actor);
  const enqueuer = createEnqueuer(
    {
      add: (ids) => producer.add([batchJob(ids)]),
      countJobs: () => producer.countJobs(),
    },
    log,
  );
  const intake = createIntake({
    db,
    clock: clockOf(parts),
    monotonicMs: () => scheduler.nowMs(),
    log,
    enqueue: enqueuer.enqueue,
    observeBatchSize: () => undefined,
    keep: () => undefined,
    makeBodyDays: () => Promise.resolve(),
  });
  return { actor, intake };
}

export function startEvents(parts: Parts): void {
  const { actor, db, events } = parts;
  const metrics = { event: () => undefined, secondsToApply: () => undefined };
  const applier = createEventApplier({ db, account: ACCOUNT, clock: clockOf(parts), metrics, log });
  const handle = createEventsHandler({
    db,
    applier,
    producer: events.producer<EventsJob>(actor),
    maxAttempts: MAX_ATTEMPTS,
    log,
    closing: actor.closing.signal,
  });
  events.consume<EventsJob>(actor, 1, handle);
}

const NO_METRICS = {
  missed: () => undefined,
  secondsToConverge: () => undefined,
  run: () => undefined,
};

export function startScheduler(parts: Parts): void {
  const { actor, db, events, service } = parts;
  const { signal } = actor.closing;
  const clock = clockOf(parts);
  const producer = events.producer<EventsJob>(actor);
  const sweep = createSweep({ db, producer, log, signal });
  let isFirst = true;
  every(parts, 10_000, () => {
    const work = isFirst ? sweep.everything() : sweep.overdue();
    isFirst = false;
    return work;
  });
  const feed = createChangeFeed(db);
  every(parts, 5_000, () => feed.publish());
  every(parts, 60_000, () => raiseWaitingFindings(db, { hasApiKey: true }));
  const client = service.client(actor);
  const retrieve = createRetrieve({ db, client, clock, account: ACCOUNT });
  const refresh = createRefresh({ db, retrieve, clock, metrics: NO_METRICS, log, sleep });
  void refresh.loop(signal);
  const check = createAuthorizationCheck({
    db,
    clock,
    log,
    thresholds: [1],
    policy: { action: 'capture', hours: 1 },
    service: createAuthorizationService(
      { db, client, clock, account: ACCOUNT },
      { lane: 'refresh', signal },
    ),
    isPaused: () => Promise.resolve(false),
    lockPersonsAttempt: () => Promise.resolve(undefined),
  });
  every(parts, 20_000, () => check.run());
}

export function startAlerts(parts: Parts): void {
  const { actor, db, channel, random } = parts;
  const { signal } = actor.closing;
  const clock = clockOf(parts);
  const channels = [channel.channel(actor)];
  const deliverer = createDeliverer({ db, clock, log, random, channels }, signal);
  const subscriptions = [{ channel: 'webhook', severity: 'info' }] as const;
  const newMessageId = () => `msg_${integer(random, 1, 1_000_000_000)}`;
  const alerts = () => dispatchAlerts({ db, clock, subscriptions, newMessageId });
  void runNotifier({ db, clock, log, alerts, orders: undefined, deliverer }, signal);
  every(parts, 60_000, () =>
    sweepMessages({
      db,
      clock,
      channels: ['webhook'],
      readSentChannels: () => Promise.resolve(undefined),
    }),
  );
}

/**
 * In place of a run over a list: retrieves and applies what the webhooks that were never sent were about. The
 * run itself has too many statements of its own to be modeled here.
 */
export function startRepair(parts: Parts, lost: ReadonlyMap<string, ResourceRef>): void {
  const { actor, db, service } = parts;
  const client = service.client(actor);
  const retrieve = createRetrieve({ db, client, clock: clockOf(parts), account: ACCOUNT });
  every(parts, 10 * 60_000, async () => {
    for (const ref of lost.values()) await retrieve(ref, { lane: 'discovery' });
  });
}

/** A program of the shop that reads the feed; it keeps its position also when the database restarts. */
export function startShop(parts: Parts, read: number[]): void {
  const feed = createChangeFeed(parts.db);
  every(parts, 1_500, async () => {
    const page = await feed.read({ after: read.at(-1) ?? 0, limit: 50 });
    if (page.outcome !== 'read') throw new Error(`the feed was read as ${page.outcome}`);
    read.push(...page.changes.map(({ number }) => number));
  });
}
