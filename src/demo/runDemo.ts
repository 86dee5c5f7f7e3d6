/**
 * A demonstration that can fail: a simulated shop trades through the client with the sandbox, whose
 * webhooks are lost, doubled and reordered on their way. Ledger and sandbox are compared, the ledger
 * is reconciled with what the service lists, and both are compared again: now they must be equal.
 */

import { PaymentServiceError } from '../client/index.ts';
import type { ResourceKind } from '../contract/resources/index.ts';
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
import { sleep } from '../platform/sleep.ts';
import type { Reconcile } from '../reconcile/run.ts';
import { STREAMS } from '../reconcile/streams.ts';
import { type ComparedOrder, compareSides } from './compare.ts';
import type { SandboxEvent, Truth } from './control.ts';
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
  /** Orders whose story could not be played to its end, and why. */
  readonly failures: readonly string[];
  readonly webhooks: WebhookCounts;
  /** Every order of the account, earlier runs included, by webhooks alone. */
  readonly afterWebhooks: readonly ComparedOrder[];
  readonly reconciliation: ReconcileCounts;
  /** The same orders after reconciling. */
  readonly afterReconciliation: readonly ComparedOrder[];
  /** Before reconciling nothing differed but what was lost, and after it nothing at all. */
  readonly passed: boolean;
}

export interface ReconcileCounts {
  readonly requests: number;
  readonly found: number;
  readonly healed: number;
  /** Why a list could not be compared. */
  readonly failures: readonly string[];
}

export interface WebhookCounts {
  /** Events that the service made. */
  readonly events: number;
  /** Requests that carried them. */
  readonly sent: number;
  /** Requests beyond the first of an event that was taken. */
  readonly duplicated: number;
  /** Events that never arrived. */
  readonly lost: number;
}

/** Held back for this long, later events overtake others. */
const REORDER = { reorder: 0.3, reorder_ms: 1_500, delay: 0.3, delay_ms: 1_000 } as const;
/** Bodies that come once more when their object has moved on. */
const LATE = { late_copy: 0.05, late_copy_ms: 3_000 } as const;

const AT_ONCE = 8;
const REQUESTS_PER_MINUTE = 60_000;
const LOOK_EVERY_MS = 100;
/** Without any progress for this long, something is broken. */
const PATIENCE_MS = 60_000;
const PAGE_SIZE = 1_000;

/**
 * Plays the demonstration.
 * @throws OperatorError when this seed was played on these books before, or nothing moves any more;
 *   the signal's reason once it is aborted
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
    `Seed ${seed} was played on these books before, so its payments exist already. ` +
      'Choose another --seed, or an empty DATA_DIR.',
  );
}

/** Plays all orders, a few at a time. @returns what could not be played to its end */
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

/** Waits until every request that the service means to make has been made. */
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
    if (clock.nowMs() - movedMs > PATIENCE_MS) {
      throw new OperatorError(
        `Nothing has moved for ${PATIENCE_MS / 1_000} s: ${left} ${phase}. ` +
          'See `tallyhook events list --state pending` and what the log says.',
      );
    }
    onProgress({ phase, done: left, total: 0 });
    await sleep(LOOK_EVERY_MS, signal);
    signal.throwIfAborted();
  }
}

/** Lists are read up to a minute ago by the service's clock: what is newer could still be missing. */
const CLOSED_AFTER_MS = 61_000;
/** The ledger believes no date that lies more than five minutes ahead of its own clock. */
const MOST_AHEAD_MS = 240_000;

/** Puts the service's clock forward, or waits where earlier runs did so too often. */
async function letListsClose({ shop, clock, onProgress, signal }: DemoParts): Promise<void> {
  if ((await shop.control.clockAheadMs()) + CLOSED_AFTER_MS <= MOST_AHEAD_MS) {
    await shop.control.advanceClock(CLOSED_AFTER_MS);
    return;
  }
  const untilMs = clock.nowMs() + CLOSED_AFTER_MS;
  for (let leftMs = CLOSED_AFTER_MS; leftMs > 0; leftMs = untilMs - clock.nowMs()) {
    const done = Math.ceil(leftMs / 1_000);
    onProgress({ phase: "seconds until the service's lists are closed", done, total: 0 });
    await sleep(LOOK_EVERY_MS, signal);
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
    healed: sum(runs.map(({ healed }) => healed)),
    failures: runs.flatMap(({ stream, failure }) =>
      failure === null ? [] : [`${stream}: ${failure}`],
    ),
  };
}

const KINDS: readonly ResourceKind[] = ['payment', 'refund', 'dispute', 'payout'];

async function compare(
  { shop, db }: DemoParts,
  events: readonly SandboxEvent[],
): Promise<readonly ComparedOrder[]> {
  const truths = new Map<ResourceKind, readonly Truth[]>();
  for (const kind of KINDS) truths.set(kind, await shop.control.truth(kind));
  return compareSides({
    truths,
    resources: await readAllResources(db),
    totals: await readAllTotals(db),
    unheard: new Set(events.filter(({ taken }) => taken === 0).map((event) => event.object_id)),
  });
}

async function readAllResources(db: Database): Promise<readonly WholeResource[]> {
  const all: WholeResource[] = [];
  for (let after = { kind: '', id: '' }; ; ) {
    const page = await readResourcePage(db, { after, limit: PAGE_SIZE });
    all.push(...page);
    const last = page.at(-1);
    if (!last || page.length < PAGE_SIZE) return all;
    after = last;
  }
}

async function readAllTotals(db: Database): Promise<readonly WholeTotals[]> {
  const all: WholeTotals[] = [];
  for (let after = { orderKey: '', currency: '' }; ; ) {
    const page = await readTotalsPage(db, { after, limit: PAGE_SIZE });
    all.push(...page);
    const last = page.at(-1);
    if (!last || page.length < PAGE_SIZE) return all;
    after = last;
  }
}

function countWebhooks(events: readonly SandboxEvent[]): WebhookCounts {
  return {
    events: events.length,
    sent: events.reduce((sum, { sent }) => sum + sent, 0),
    duplicated: events.reduce((sum, { taken }) => sum + Math.max(0, taken - 1), 0),
    lost: events.filter(({ taken }) => taken === 0).length,
  };
}
