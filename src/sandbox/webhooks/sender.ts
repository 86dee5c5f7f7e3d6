/**
 * Sends due deliveries, and schedules retries of those that were not acknowledged.
 *
 * *In flight*: claimed by the sender and not recorded yet.
 *
 * 1. Any 2xx acknowledges a delivery; redirects are not followed. service-interface.md §6.3.
 * 2. Every attempt sends the stored body and signature, so retries are identical. A body that was redacted
 *    has no signature and is signed when it is sent.
 * 3. Deliveries about one object are sequential; those about different objects run in parallel, up to a
 *    limit. A receiver that hangs over one object delays no other. There is no order between objects.
 * 4. A delivery is recorded after its response. If the process dies before that, it is sent again.
 */
import { SIGNATURE_HEADER } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { groupBy } from '../../platform/collections.ts';
import { toError } from '../../platform/errors.ts';
import { retryDelayMs } from '../domain/retrySchedule.ts';
import { isoTime } from '../domain/time.ts';
import type { Store } from '../store/store.ts';
import type { DueDelivery } from '../store/webhooks.ts';
import type { WebhookTarget } from './emit.ts';
import { signWebhook } from './sign.ts';

export interface Sender {
  /**
   * Starts deliveries that are due by then, as capacity allows, without waiting for responses.
   * @returns how many deliveries it started
   * @throws Error when an earlier delivery could not be recorded; it will be sent again
   */
  start(until: Date): Promise<number>;
  /** Ids of the deliveries in flight. */
  inFlight(): readonly number[];
  /** Resolves when nothing is in flight. @throws Error as `start` does */
  drained(): Promise<void>;
  /** Aborts requests in flight; they count as not sent. */
  abort(): void;
}

export interface SenderParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly target: () => WebhookTarget;
  /** How long a receiver may take to respond. */
  readonly responseTimeoutMs: number;
  /** Called when there is capacity for more. */
  readonly onCapacity: () => void;
}

/** The most deliveries in flight, and the most objects with deliveries in parallel. */
const MAX_IN_FLIGHT = 64;
const MAX_PARALLEL_OBJECTS = 8;

export function createSender(parts: SenderParts): Sender {
  const stopping = new AbortController();
  /** Deliveries in flight, by object. */
  const inFlightByObject = new Map<string, DueDelivery[]>();
  /** Those of them that no worker has started. */
  const waiting: DueDelivery[][] = [];
  const workers = new Set<Promise<void>>();
  let failure: Error | undefined;

  const inFlight = () => [...inFlightByObject.values()].flatMap((own) => own.map(({ id }) => id));
  const throwFailure = () => {
    const thrown = failure;
    failure = undefined;
    if (thrown) throw thrown;
  };
  const work = async (): Promise<void> => {
    for (let own = waiting.shift(); own !== undefined; own = waiting.shift()) {
      try {
        for (const delivery of own) await sendOne(parts, delivery, stopping.signal);
      } catch (error) {
        failure = toError(error);
      }
      inFlightByObject.delete(own[0]?.objectId ?? '');
      if (hasCapacity()) parts.onCapacity();
    }
  };
  const hasCapacity = () => inFlight().length <= MAX_IN_FLIGHT / 2;
  return {
    start: async (until) => {
      throwFailure();
      if (!hasCapacity()) return 0;
      const limit = MAX_IN_FLIGHT - inFlight().length;
      const due = await parts.store.readDueDeliveries({
        until,
        except: [...inFlightByObject.keys()],
        limit,
      });
      for (const [objectId, own] of groupBy(due, ({ objectId: id }) => id)) {
        inFlightByObject.set(objectId, own);
        waiting.push(own);
      }
      while (workers.size < MAX_PARALLEL_OBJECTS && workers.size < inFlightByObject.size) {
        const worker = work().finally(() => workers.delete(worker));
        workers.add(worker);
      }
      return due.length;
    },
    inFlight,
    drained: async () => {
      while (workers.size > 0) await Promise.all(workers);
      throwFailure();
    },
    abort: () => stopping.abort(),
  };
}

async function sendOne(
  parts: SenderParts,
  delivery: DueDelivery,
  stop: AbortSignal,
): Promise<void> {
  const outcome = await post(parts, delivery, stop);
  if (stop.aborted) return;
  const sentMs = parts.clock.nowMs();
  const isAcknowledged =
    outcome.status !== undefined && outcome.status >= 200 && outcome.status < 300;
  const delayMs =
    isAcknowledged || delivery.attempt === null ? undefined : retryDelayMs(delivery.attempt);
  await parts.store.transaction(async (tx) => {
    await tx.recordDelivery({
      id: delivery.id,
      sentAt: isoTime(sentMs),
      httpStatus: outcome.status,
      error: outcome.error,
    });
    if (delayMs === undefined) return;
    await tx.insertDeliveries([
      {
        eventSeq: delivery.eventSeq,
        reason: 'retry',
        attempt: (delivery.attempt ?? 0) + 1,
        dueAt: isoTime(sentMs + delayMs),
      },
    ]);
  });
}

interface DeliveryOutcome {
  readonly status: number | undefined;
  readonly error: string | undefined;
}

async function post(
  parts: SenderParts,
  delivery: DueDelivery,
  stop: AbortSignal,
): Promise<DeliveryOutcome> {
  const { url, secret } = parts.target();
  if (url === undefined) return { status: undefined, error: 'no webhook URL is set' };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Tallyhook-Sandbox',
        [SIGNATURE_HEADER]: delivery.signature ?? signWebhook(delivery.body, secret),
      },
      body: delivery.body,
      redirect: 'manual',
      signal: AbortSignal.any([stop, AbortSignal.timeout(parts.responseTimeoutMs)]),
    });
    // Read to the end, so that the connection can be reused.
    await response.arrayBuffer();
    return { status: response.status, error: undefined };
  } catch (thrown) {
    const error = toError(thrown);
    const cause = error.cause === undefined ? '' : `: ${toError(error.cause).message}`;
    return { status: undefined, error: `${error.message}${cause}` };
  }
}
