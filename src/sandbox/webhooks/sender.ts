/**
 * Sends what is due, and plans the next try of what was not taken.
 *
 * *Under way*: taken from what is due, and not recorded yet.
 *
 * 1. Taken is any 2xx; a redirect is not followed. service-interface.md §6.3.
 * 2. A try sends the stored body and signature: retries differ in nothing.
 * 3. Requests about one object follow each other, those about different objects run side by side, up
 *    to a number. A receiver that hangs over one object holds up no other. Nothing promises an order
 *    beyond that.
 * 4. A request is recorded after its answer. If the process dies between, it is made again.
 */
import { SIGNATURE_HEADER } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { groupBy } from '../../platform/collections.ts';
import type { Database } from '../../platform/db/database.ts';
import { toError } from '../../platform/errors.ts';
import { retryDelayMs } from '../domain/retrySchedule.ts';
import { isoTime } from '../domain/time.ts';
import {
  type DueSending,
  insertSendings,
  readDueSendings,
  recordSending,
} from '../store/webhooks.ts';
import type { WebhookTarget } from './emit.ts';

export interface Sender {
  /**
   * Begins what is due until then, as far as there is room, and does not wait for the answers.
   * @returns how many requests are under way because of it
   * @throws Error when one that was under way could not be recorded; it will be made again
   */
  begin(until: Date): Promise<number>;
  /** Numbers of the sendings that are under way. */
  underWay(): readonly number[];
  /** Resolves when nothing is under way. @throws Error as `begin` does */
  drained(): Promise<void>;
  /** Ends requests in flight; they count as not made. */
  abort(): void;
}

export interface SenderParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly target: () => WebhookTarget;
  /** How long a receiver may take; the family's 30 s unless a test cannot wait that long. */
  readonly answerTimeoutMs: number;
  /** Told when there is room for more. */
  readonly onRoom: () => void;
}

/** Sendings that may be under way, and objects whose requests run at the same time. */
const MOST_UNDER_WAY = 64;
const SIDE_BY_SIDE = 8;

export function createSender(parts: SenderParts): Sender {
  const stopping = new AbortController();
  /** What is under way, by object. */
  const taken = new Map<string, DueSending[]>();
  /** Of these, what no worker has come to. */
  const waiting: DueSending[][] = [];
  const workers = new Set<Promise<void>>();
  let failure: Error | undefined;

  const underWay = () => [...taken.values()].flatMap((own) => own.map(({ id }) => id));
  const throwFailure = () => {
    const thrown = failure;
    failure = undefined;
    if (thrown) throw thrown;
  };
  const work = async (): Promise<void> => {
    for (let own = waiting.shift(); own !== undefined; own = waiting.shift()) {
      try {
        for (const sending of own) await sendOne(parts, sending, stopping.signal);
      } catch (error) {
        failure = toError(error);
      }
      taken.delete(own[0]?.objectId ?? '');
      if (hasRoom()) parts.onRoom();
    }
  };
  const hasRoom = () => underWay().length <= MOST_UNDER_WAY / 2;
  return {
    begin: async (until) => {
      throwFailure();
      if (!hasRoom()) return 0;
      const limit = MOST_UNDER_WAY - underWay().length;
      const due = await readDueSendings(parts.db, { until, except: [...taken.keys()], limit });
      for (const [objectId, own] of groupBy(due, ({ objectId: id }) => id)) {
        taken.set(objectId, own);
        waiting.push(own);
      }
      while (workers.size < SIDE_BY_SIDE && workers.size < taken.size) {
        const worker = work().finally(() => workers.delete(worker));
        workers.add(worker);
      }
      return due.length;
    },
    underWay,
    drained: async () => {
      while (workers.size > 0) await Promise.all(workers);
      throwFailure();
    },
    abort: () => stopping.abort(),
  };
}

async function sendOne(parts: SenderParts, sending: DueSending, stop: AbortSignal): Promise<void> {
  const answer = await post(parts, sending, stop);
  if (stop.aborted) return;
  const sentMs = parts.clock.nowMs();
  const isTaken = answer.status !== undefined && answer.status >= 200 && answer.status < 300;
  const delayMs = isTaken || sending.attempt === null ? undefined : retryDelayMs(sending.attempt);
  await parts.db.transaction(async (tx) => {
    await recordSending(tx, {
      id: sending.id,
      sentAt: isoTime(sentMs),
      httpStatus: answer.status,
      error: answer.error,
    });
    if (delayMs === undefined) return;
    await insertSendings(tx, [
      {
        eventSeq: sending.eventSeq,
        reason: 'retry',
        attempt: (sending.attempt ?? 0) + 1,
        dueAt: isoTime(sentMs + delayMs),
      },
    ]);
  });
}

interface Answer {
  readonly status: number | undefined;
  readonly error: string | undefined;
}

async function post(parts: SenderParts, sending: DueSending, stop: AbortSignal): Promise<Answer> {
  const { url } = parts.target();
  if (url === undefined) return { status: undefined, error: 'no webhook address is set' };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Tallyhook-Sandbox',
        [SIGNATURE_HEADER]: sending.signature,
      },
      body: sending.body,
      redirect: 'manual',
      signal: AbortSignal.any([stop, AbortSignal.timeout(parts.answerTimeoutMs)]),
    });
    // Read to its end, so that the connection can be used again.
    await response.arrayBuffer();
    return { status: response.status, error: undefined };
  } catch (thrown) {
    const error = toError(thrown);
    const cause = error.cause === undefined ? '' : `: ${toError(error.cause).message}`;
    return { status: undefined, error: `${error.message}${cause}` };
  }
}
