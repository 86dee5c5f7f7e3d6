/**
 * Sends what is due, and plans the next try of what was not taken.
 *
 * 1. Taken is any 2xx; a redirect is not followed. Interface document, section Events, rule 3.
 * 2. A try sends the stored body and signature: retries differ in nothing.
 * 3. Requests about one object follow each other, those about different objects run side by side.
 *    Nothing promises an order beyond that.
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
  /** Sends a batch of what is due until then. @returns how many requests were made */
  sendDue(until: Date): Promise<number>;
  /** Ends requests in flight; they count as not made. */
  abort(): void;
}

export interface SenderParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly target: () => WebhookTarget;
  /** How long a receiver may take; the family's 30 s unless a test cannot wait that long. */
  readonly answerTimeoutMs: number;
}

const BATCH = 64;
const SIDE_BY_SIDE = 8;

export function createSender(parts: SenderParts): Sender {
  const stopping = new AbortController();
  return {
    sendDue: async (until) => {
      const due = await readDueSendings(parts.db, { until, limit: BATCH });
      const objects = [...groupBy(due, ({ objectId }) => objectId).values()];
      const work = async (): Promise<void> => {
        for (let own = objects.shift(); own !== undefined; own = objects.shift()) {
          for (const sending of own) await sendOne(parts, sending, stopping.signal);
        }
      };
      await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
      return due.length;
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
