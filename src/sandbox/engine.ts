/**
 * Runs what is due without a request: timers of resources, and webhook deliveries.
 *
 * 1. Everything runs in the order of its due time, and a resource's change has the time at which it
 *    was due, not the time at which the engine ran it.
 * 2. Steps run one at a time, and only a step moves the clock.
 * 3. Advancing the clock runs everything that falls due on the way, webhooks included: the clock does
 *    not move while a response is awaited. If it is closed meanwhile, the clock stays where the work
 *    ended.
 * 4. While the clock follows the machine's, nothing waits for a response: a receiver that hangs delays
 *    neither resources nor the webhooks of other objects.
 */

import { toError } from '../platform/errors.ts';
import type { SandboxClock } from './clock.ts';
import { runDue } from './domain/resource.ts';
import type { SandboxLog } from './log.ts';
import type { ResourceWriter } from './resourceWriter.ts';
import type { Store } from './store/store.ts';
import type { Sender } from './webhooks/sender.ts';

export interface Engine {
  /** Checks for due work now: something may be due sooner than was known. */
  wake(): void;
  /** Moves the clock and runs what is due on the way; stops where it is when it is closed. */
  advanceBy(ms: number): Promise<void>;
  /**
   * Sets the clock of an empty sandbox, to the past or the future.
   * @returns false when it holds data, with times that the clock could fall behind; nothing changes then
   */
  startAt(instantMs: number): Promise<boolean>;
  /**
   * Sets the clock to any instant. Forward, it runs what is due on the way. Backward, it first sends what
   * is due now; resources keep their times, and what is due later waits until the clock is there again.
   */
  setClock(instantMs: number): Promise<void>;
  /** Resolves when nothing is due now and nothing is in flight. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface EngineParts {
  readonly store: Store;
  readonly clock: SandboxClock;
  readonly resources: ResourceWriter;
  readonly sender: Sender;
  readonly log: SandboxLog;
}

/** Whether a run ends before the responses to its webhooks (invariant 4) or after (invariant 3). */
type ResponseMode = 'background' | 'awaited';

const BATCH = 200;
/** The longest time between two checks, for work that another process left behind. */
const POLL_MS = 1_000;

export function createEngine(parts: EngineParts): Engine {
  const { clock, log } = parts;
  let isClosed = false;
  let isAwake = false;
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** Runs steps one at a time; a failed step does not stop the next one. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
  /** @returns when something is due next */
  const runUntil = async (target: () => number, responses: ResponseMode): Promise<number> => {
    let nextMs: number | undefined;
    while (!isClosed && nextMs === undefined) nextMs = await step(parts, target(), responses);
    return nextMs ?? Number.POSITIVE_INFINITY;
  };
  const poll = (): void => {
    isAwake = false;
    clearTimeout(timer);
    if (isClosed) return;
    void inTurn(() => runUntil(clock.nowMs, 'background'))
      .catch((error: unknown) => {
        log.warn({ error: toError(error) }, 'sandbox.step_failed');
        return Number.POSITIVE_INFINITY;
      })
      .then((nextMs) => {
        if (isClosed || isAwake) return;
        clearTimeout(timer);
        timer = setTimeout(poll, Math.min(POLL_MS, Math.max(0, nextMs - clock.nowMs())));
      });
  };
  const wake = (): void => {
    if (isAwake || isClosed) return;
    isAwake = true;
    setImmediate(poll);
  };
  const advanceTo = async (targetMs: number): Promise<void> => {
    await runUntil(() => Math.max(targetMs, clock.nowMs()), 'awaited');
    if (!isClosed) await clock.advanceTo(targetMs);
  };
  wake();
  return {
    wake,
    advanceBy: (ms) => inTurn(() => advanceTo(clock.nowMs() + ms)),
    setClock: (instantMs) =>
      inTurn(async () => {
        await advanceTo(Math.max(instantMs, clock.nowMs()));
        if (!isClosed && instantMs < clock.nowMs()) await clock.setTo(instantMs);
      }),
    startAt: (instantMs) =>
      inTurn(async () => {
        if (!(await parts.store.isEmpty())) return false;
        await clock.setTo(instantMs);
        return true;
      }),
    settle: async () => {
      await inTurn(() => runUntil(clock.nowMs, 'awaited'));
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      parts.sender.abort();
      await last;
      await parts.sender.drained().catch(() => undefined);
    },
  };
}

/**
 * Runs what is due at the earliest instant up to `targetMs`.
 * @returns undefined when something ran, otherwise the next due time
 */
async function step(
  parts: EngineParts,
  targetMs: number,
  responses: ResponseMode,
): Promise<number | undefined> {
  const { clock, sender } = parts;
  // Read before the due times: a response that arrives in between may have scheduled an earlier retry.
  const mayPlan = responses === 'awaited' && sender.inFlight().length > 0;
  const { resourceAt, deliveryAt } = await parts.store.nextDue(sender.inFlight());
  const resourceMs = resourceAt?.getTime() ?? Number.POSITIVE_INFINITY;
  const deliveryMs = deliveryAt?.getTime() ?? Number.POSITIVE_INFINITY;
  const atMs = Math.min(resourceMs, deliveryMs);
  if (mayPlan && atMs > clock.nowMs()) return awaitResponses(sender);
  if (atMs > targetMs) return atMs;
  await clock.advanceTo(atMs);
  // What is overdue by the machine's clock runs together; ahead of it, one instant at a time.
  const until = new Date(Math.min(targetMs, clock.nowMs()));
  if (deliveryMs < resourceMs && (await sender.start(until)) > 0) return undefined;
  if (resourceMs <= until.getTime()) {
    await runResources(parts, until);
    return undefined;
  }
  // Deliveries wait for capacity, or for a response about their object: the sender wakes the engine.
  return responses === 'awaited' ? awaitResponses(sender) : resourceMs;
}

async function awaitResponses(sender: Sender): Promise<undefined> {
  await sender.drained();
}

async function runResources({ resources }: EngineParts, until: Date): Promise<void> {
  await resources.write(async (transaction, tx) => {
    for (const { dueAt, ...resource } of await tx.lockDue({ until, limit: BATCH })) {
      const dueMs = dueAt.getTime();
      const then = transaction.at(dueMs);
      await then.save(runDue(resource, then.nowMs));
    }
  });
}
