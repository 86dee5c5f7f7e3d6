/**
 * A demo that can fail: a simulated shop takes payments through the client and the sandbox, while
 * webhooks are lost, duplicated and reordered. The ledger is compared with the sandbox, reconciled,
 * and compared again: then both must be equal.
 */

import { PaymentServiceError } from '../client/index.ts';
import { RESOURCE_KINDS, type ResourceKind } from '../contract/resources/index.ts';
import {
  countPending,
  readResourcePage,
  readTotalsPage,
  type WholeResource,
  type WholeTotals,
} from '../ledger/read/store/wholeLedger.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { OperatorError, toError } from '../platform/errors.ts';
import { keysetPages } from '../platform/keyset.ts';
import { sleep } from '../platform/sleep.ts';
import type { Reconcile } from '../reconcile/run.ts';
import { STREAMS } from '../reconcile/streams.ts';
import { CLOSED_AFTER_MS, MOST_AHEAD_MS } from './clock.ts';
import { type ComparedOrder, compareSides } from './compare.ts';
import type { SandboxEvent, ServiceResource } from './control.ts';
import { type PlannedOrder, planOrders } from './plan.ts';
import { playOrder, type Shop } from './shop.ts';

export interface DemoOptions {
  readonly orders: number;
  readonly seed: number;
  /** Shares of webhooks, from 0 to 1. */
  readonly duplicates: number;
  readonly loss: number;
}

export interface DemoProgress {
  readonly phase: string;
  readonly done: number;
  /** 0 when it is not known. */
  readonly total: number;
}

export interface DemoParts {
  readonly shop: Shop;
  readonly db: Database;
  readonly reconcile: Reconcile;
  readonly clock: Clock;
  readonly onProgress: (progress: DemoProgress) => void;
  /** Ends the demonstration early. */
  readonly signal: AbortSignal;
}

export interface DemoReport {
  readonly seed: number;
  readonly orders: number;
  /** Orders with a failed story, and why. */
  readonly failures: readonly string[];
  readonly webhooks: WebhookCounts;
  /** Every order of the account, including earlier runs, by webhooks alone. */
  readonly afterWebhooks: readonly ComparedOrder[];
  readonly reconciliation: ReconcileCounts;
  /** The same orders after reconciliation. */
  readonly afterReconciliation: readonly ComparedOrder[];
  /** Before reconciliation only lost webhooks made a difference; after it nothing differs. */
  readonly passed: boolean;
}

export interface ReconcileCounts {
  readonly requests: number;
  readonly found: number;
  readonly repaired: number;
  /** Why a list could not be compared. */
  readonly failures: readonly string[];
}

export interface WebhookCounts {
  /** Events of the service. */
  readonly events: number;
  /** Requests that carried them. */
  readonly sent: number;
  /** Accepted requests beyond the first of each event. */
  readonly duplicated: number;
  /** Events that never arrived. */
  readonly lost: number;
}

/** Delays that reorder events. */
const REORDER = { reorder: 0.3, reorder_ms: 1_500, delay: 0.3, delay_ms: 1_000 } as const;
/** Old bodies that are delivered again after their object has changed. */
const LATE = { late_copy: 0.05, late_copy_ms: 3_000 } as const;

const AT_ONCE = 8;
const REQUESTS_PER_MINUTE = 60_000;
const POLL_INTERVAL_MS = 100;
/** Without progress for this long, the demo gives up. */
const NO_PROGRESS_TIMEOUT_MS = 60_000;
const PAGE_SIZE = 1_000;

/**
 * Runs the demo.
 * @throws OperatorError if this seed was used on this ledger before, or nothing makes progress; the
 *   signal's reason once it is aborted
 */
export async function runDemo(parts: DemoParts, options: DemoOptions): Promise<DemoReport> {
  const { shop } = parts;
  await expectFreshSeed(shop, options.seed);
  const lastSeq = (await shop.control.events(0)).at(-1)?.seq ?? 0;
  await shop.control.allowRequestsPerMinute(REQUESTS_PER_MINUTE);
  await shop.control.setFaults({
    seed: options.seed,
    webhooks: { drop: options.loss, duplicate: options.duplicates, ...REORDER, ...LATE },
  });
  const failures = await playAll(parts, planOrders(options.orders, options.seed));
  await waitForWebhooks(parts, lastSeq);
  await shop.control.endFaults();
  await waitForLedger(parts);
  const events = await shop.control.events(0);
  const afterWebhooks = await compare(parts, events);
  await letListsClose(parts);
  const reconciliation = await reconcileAll(parts);
  const afterReconciliation = await compare(parts, []);
  const isRight =
    afterWebhooks.every(({ outcome }) => outcome !== 'different') &&
    afterReconciliation.every(({ outcome }) => outcome === 'equal');
  return {
    seed: options.seed,
    orders: options.orders,
    failures,
    webhooks: countWebhooks(events.filter(({ seq }) => seq > lastSeq)),
    afterWebhooks,
    reconciliation,
    afterReconciliation,
    passed: failures.length === 0 && reconciliation.failures.length === 0 && isRight,
  };
}

async function expectFreshSeed({ client }: Shop, seed: number): Promise<void> {
  const [first] = planOrders(1, seed);
  try {
    await client.payments.retrieve(`${first?.orderId}-1`);
  } catch (error) {
    if (error instanceof PaymentServiceError && error.httpStatus === 404) return;
    throw error;
  }
  throw new OperatorError(
    `Seed ${seed} was used on this ledger before, so its payments already exist. ` +
      'Choose another --seed or an empty DATA_DIR.',
  );
}

/** Plays all orders, a few at a time. @returns those that failed, and why */
async function playAll(
  { shop, onProgress, signal }: DemoParts,
  plan: readonly PlannedOrder[],
): Promise<readonly string[]> {
  const failures: string[] = [];
  let next = 0;
  let done = 0;
  const play = async (): Promise<void> => {
    for (let order = plan[next]; order; order = plan[next]) {
      next += 1;
      signal.throwIfAborted();
      try {
        await playOrder(shop, order);
      } catch (error) {
        failures.push(`${order.orderId} (${order.story}): ${toError(error).message}`);
      }
      done += 1;
      onProgress({ phase: 'orders placed', done, total: plan.length });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, play));
  return failures;
}

/** Waits until the sandbox has sent every webhook. */
async function waitForWebhooks(parts: DemoParts, afterSeq: number): Promise<void> {
  await waitUntilNone(parts, 'webhooks still to be sent', async () => {
    const events = await parts.shop.control.events(afterSeq);
    return events.reduce((sum, { waiting }) => sum + waiting, 0);
  });
}

async function waitForLedger(parts: DemoParts): Promise<void> {
  await waitUntilNone(parts, 'events still to be applied', () => countPending(parts.db));
}

async function waitUntilNone(
  { clock, onProgress, signal }: DemoParts,
  phase: string,
  count: () => Promise<number>,
): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  let movedMs = clock.nowMs();
  for (;;) {
    const left = await count();
    if (left === 0) return;
    if (left < least) {
      least = left;
      movedMs = clock.nowMs();
    }
    if (clock.nowMs() - movedMs > NO_PROGRESS_TIMEOUT_MS) {
      throw new OperatorError(
        `No progress for ${NO_PROGRESS_TIMEOUT_MS / 1_000} s: ${left} ${phase}. ` +
          'Check `npx tallyhook events list --state pending` and the log.',
      );
    }
    onProgress({ phase, done: left, total: 0 });
    await sleep(POLL_INTERVAL_MS, signal);
    signal.throwIfAborted();
  }
}

/** Advances the service's clock, or waits if earlier runs have advanced it too far. */
async function letListsClose({ shop, clock, onProgress, signal }: DemoParts): Promise<void> {
  if ((await shop.control.clock()).aheadMs + CLOSED_AFTER_MS <= MOST_AHEAD_MS) {
    await shop.control.advanceClock(CLOSED_AFTER_MS);
    return;
  }
  const untilMs = clock.nowMs() + CLOSED_AFTER_MS;
  for (let leftMs = CLOSED_AFTER_MS; leftMs > 0; leftMs = untilMs - clock.nowMs()) {
    const done = Math.ceil(leftMs / 1_000);
    onProgress({ phase: "seconds until the service's lists are closed", done, total: 0 });
    await sleep(POLL_INTERVAL_MS, signal);
    signal.throwIfAborted();
  }
}

async function reconcileAll({
  reconcile,
  onProgress,
  signal,
}: DemoParts): Promise<ReconcileCounts> {
  const runs = [];
  for (const stream of STREAMS) {
    onProgress({ phase: 'lists reconciled', done: runs.length, total: STREAMS.length });
    const request = {
      stream,
      mode: 'full',
      cause: 'demo',
      isDryRun: false,
      lane: 'operator',
    } as const;
    runs.push(await reconcile(request, { signal }));
  }
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  return {
    requests: sum(runs.map(({ requests }) => requests)),
    found: sum(runs.map(({ found }) => found)),
    repaired: sum(runs.map(({ repaired }) => repaired)),
    failures: runs.flatMap(({ stream, failure }) =>
      failure === null ? [] : [`${stream}: ${failure}`],
    ),
  };
}

async function compare(
  { shop, db }: DemoParts,
  events: readonly SandboxEvent[],
): Promise<readonly ComparedOrder[]> {
  const serviceResources = new Map<ResourceKind, readonly ServiceResource[]>();
  for (const kind of RESOURCE_KINDS) serviceResources.set(kind, await shop.control.resources(kind));
  return compareSides({
    serviceResources,
    resources: await readAllResources(db),
    totals: await readAllTotals(db),
    missed: new Set(
      events.filter(({ acknowledged }) => acknowledged === 0).map((event) => event.object_id),
    ),
  });
}

async function readAllResources(db: Database): Promise<readonly WholeResource[]> {
  const all: WholeResource[] = [];
  const pages = keysetPages<WholeResource>(PAGE_SIZE, (last, limit) =>
    readResourcePage(db, { after: last ?? { kind: '', id: '' }, limit }),
  );
  for await (const page of pages) all.push(...page);
  return all;
}

async function readAllTotals(db: Database): Promise<readonly WholeTotals[]> {
  const all: WholeTotals[] = [];
  const pages = keysetPages<WholeTotals>(PAGE_SIZE, (last, limit) =>
    readTotalsPage(db, { after: last ?? { orderKey: '', currency: '' }, limit }),
  );
  for await (const page of pages) all.push(...page);
  return all;
}

function countWebhooks(events: readonly SandboxEvent[]): WebhookCounts {
  return {
    events: events.length,
    sent: events.reduce((sum, { sent }) => sum + sent, 0),
    duplicated: events.reduce((sum, { acknowledged }) => sum + Math.max(0, acknowledged - 1), 0),
    lost: events.filter(({ acknowledged }) => acknowledged === 0).length,
  };
}
