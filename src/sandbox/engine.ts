/**
 * What happens by itself: resources whose time has come, and webhooks to be sent.
 *
 * 1. Everything happens in the order of its time, and a resource's change bears the time at which it
 *    was due, not the time at which the program came round to it.
 * 2. One step after the other: the clock is moved by one hand.
 * 3. Advancing the clock runs through everything that lies between, webhooks included: it does not
 *    move on while an answer is awaited. Ended on the way, it leaves the clock where the work ended.
 * 4. By the machine's own time nothing waits for an answer: a receiver that hangs holds up neither
 *    resources nor the webhooks of other objects.
 */
import type { Database } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { SandboxClock } from './clock.ts';
import { runDue } from './domain/resource.ts';
import type { ResourceWriter } from './resourceWriter.ts';
import { isEmpty } from './store/account.ts';
import { lockDue, nextDue } from './store/resources.ts';
import type { Sender } from './webhooks/sender.ts';

export interface Engine {
  /** Says that something may be due sooner than was known. */
  wake(): void;
  /** Moves the clock and does what is due on the way; no further than it came when it is closed. */
  advanceBy(ms: number): Promise<void>;
  /**
   * Sets the clock of a sandbox that holds nothing yet, to the past or the future.
   * @returns false when it holds something, whose times it would fall behind; nothing was done then
   */
  startAt(instantMs: number): Promise<boolean>;
  /** Resolves when nothing is due now, and nothing under way. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface EngineParts {
  readonly db: Database;
  readonly clock: SandboxClock;
  readonly resources: ResourceWriter;
  readonly sender: Sender;
  readonly log: Log;
}

/** Whether a run ends before the responses to its webhooks (invariant 4) or after (invariant 3). */
type ResponseMode = 'background' | 'awaited';

const BATCH = 200;
/** Longest time without looking, for what another process left behind. */
const POLL_MS = 1_000;

export function createEngine(parts: EngineParts): Engine {
  const { clock, log } = parts;
  let isClosed = false;
  let isAwake = false;
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** Waits for its turn; a failed step does not stop the next one. */
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
  wake();
  return {
    wake,
    advanceBy: (ms) =>
      inTurn(async () => {
        const targetMs = clock.nowMs() + ms;
        await runUntil(() => Math.max(targetMs, clock.nowMs()), 'awaited');
        if (!isClosed) await clock.advanceTo(targetMs);
      }),
    startAt: (instantMs) =>
      inTurn(async () => {
        if (!(await isEmpty(parts.db))) return false;
        await clock.startAt(instantMs);
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
 * Does what is due at the earliest instant until `targetMs`.
 * @returns undefined when something was done, else when the next thing is due
 */
async function step(
  parts: EngineParts,
  targetMs: number,
  responses: ResponseMode,
): Promise<number | undefined> {
  const { clock, sender } = parts;
  // Asked before what is due: an answer that comes in between may have planned a try before that.
  const mayPlan = responses === 'awaited' && sender.inFlight().length > 0;
  const { resourceAt, deliveryAt } = await nextDue(parts.db, sender.inFlight());
  const resourceMs = resourceAt?.getTime() ?? Number.POSITIVE_INFINITY;
  const deliveryMs = deliveryAt?.getTime() ?? Number.POSITIVE_INFINITY;
  const atMs = Math.min(resourceMs, deliveryMs);
  if (mayPlan && atMs > clock.nowMs()) return awaitResponses(sender);
  if (atMs > targetMs) return atMs;
  await clock.advanceTo(atMs);
  // What is late by the machine's own time is done together; ahead of it, instant by instant.
  const until = new Date(Math.min(targetMs, clock.nowMs()));
  if (deliveryMs < resourceMs && (await sender.start(until)) > 0) return undefined;
  if (resourceMs <= until.getTime()) {
    await runResources(parts, until);
    return undefined;
  }
  // Webhooks wait for room, or for an answer about their object: the sender tells when.
  return responses === 'awaited' ? awaitResponses(sender) : resourceMs;
}

async function awaitResponses(sender: Sender): Promise<undefined> {
  await sender.drained();
}

async function runResources({ resources }: EngineParts, until: Date): Promise<void> {
  await resources.write(async (transaction, tx) => {
    for (const { dueAt, ...resource } of await lockDue(tx, { until, limit: BATCH })) {
      const dueMs = dueAt.getTime();
      const then = transaction.at(dueMs);
      await then.save(runDue(resource, then.nowMs));
    }
  });
}
