/**
 * A burst of webhooks from a busy shop: many payments, their events shuffled and some sent twice, each
 * retried until it is acknowledged, and not after.
 *
 * It computes what the ledger must contain at the end without the ledger's code.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Queryable } from '../../src/platform/db/database.ts';
import { eventBody, paymentObject, sign, unique } from './events.ts';
import type { Random } from './random.ts';
import { waitFor } from './waitFor.ts';

export interface BurstEvent {
  readonly eventId: string;
  readonly body: Buffer;
}

export interface EventBurst {
  /** In sending order; some events are listed twice. */
  readonly deliveries: readonly BurstEvent[];
  readonly eventIds: readonly string[];
  readonly orders: readonly ExpectedOrder[];
}

interface ExpectedOrder {
  readonly orderId: string;
  readonly capturedMinor: number;
  readonly refundedMinor: number;
}

/** Share of events that are sent twice. */
const DUPLICATES = 0.05;

/** Orders with one payment each: created, paid, and every second one partially refunded. */
export function createEventBurst(orders: number, random: Random): EventBurst {
  const events: BurstEvent[] = [];
  const add = (object: object, eventType: string, contentType: string): void => {
    const eventId = unique('evt');
    events.push({ eventId, body: eventBody(object, { eventId, eventType, contentType }) });
  };
  const expected = Array.from({ length: orders }, (_, index): ExpectedOrder => {
    const orderId = unique('ord');
    const amount = 1_000 + Math.floor(random() * 90_000);
    const paid = paymentObject({
      amount,
      amount_received: amount,
      metadata: { order_id: orderId },
    });
    const created = {
      ...paid,
      status: 'processing',
      amount_received: 0,
      modified_at: '2026-11-01T09:59:30.000Z',
    };
    add(created, 'payment_processing', 'payment_details');
    add(paid, 'payment_succeeded', 'payment_details');
    const refundedMinor = index % 2 === 0 ? 500 : 0;
    if (refundedMinor > 0) {
      const refund = {
        refund_id: unique('ref'),
        payment_id: paid.payment_id,
        status: 'succeeded',
        amount: refundedMinor,
        currency: 'USD',
        modified_at: '2026-11-01T11:00:00.000Z',
      };
      add(refund, 'refund_succeeded', 'refund_details');
    }
    return { orderId, capturedMinor: amount, refundedMinor };
  });
  const twice = events.filter(() => random() < DUPLICATES);
  return {
    deliveries: shuffle([...events, ...twice], random),
    eventIds: events.map(({ eventId }) => eventId),
    orders: expected,
  };
}

function shuffle<T>(items: readonly T[], random: Random): readonly T[] {
  return items
    .map((item) => ({ item, key: random() }))
    .sort((one, other) => one.key - other.key)
    .map(({ item }) => item);
}

export interface Sender {
  /** Ids of the events that got status 200. */
  readonly acknowledged: ReadonlySet<string>;
  /** Number of deliveries by result: a status, or 'unreachable'. */
  readonly responses: ReadonlyMap<number | 'unreachable', number>;
  /** Responses that were neither 200 nor 503 with Retry-After. */
  readonly improper: readonly string[];
  /** Resolves when this many deliveries were acknowledged. */
  waitForAcknowledged(acknowledgements: number): Promise<void>;
  /** Resolves when all deliveries were acknowledged. */
  readonly done: Promise<void>;
  stop(): void;
}

export interface SenderOptions {
  /** The receiver's current URL; it may change when the receiver restarts. */
  readonly url: () => string;
  readonly concurrency: number;
}

/** Short, so that tests are fast; the service waits at least a minute. */
const RETRY_MS = 25;

/** Starts sending. A delivery that is not acknowledged is retried, as by the service. */
export function startSending(
  deliveries: readonly BurstEvent[],
  { url, concurrency }: SenderOptions,
): Sender {
  const acknowledged = new Set<string>();
  const responses = new Map<number | 'unreachable', number>();
  const improper: string[] = [];
  const queue = [...deliveries];
  const total = queue.length;
  let acknowledgements = 0;
  let stopped = false;
  let failure: unknown;

  const deliver = async (event: BurstEvent): Promise<boolean> => {
    const outcome = await post(url(), event.body);
    responses.set(outcome.status, (responses.get(outcome.status) ?? 0) + 1);
    if (outcome.fault !== undefined) improper.push(outcome.fault);
    return outcome.status === 200;
  };
  const send = async (): Promise<void> => {
    for (let event = queue.shift(); event !== undefined && !stopped; event = queue.shift()) {
      if (await deliver(event)) {
        acknowledged.add(event.eventId);
        acknowledgements += 1;
      } else {
        queue.push(event);
        await sleep(RETRY_MS);
      }
    }
  };
  const done = Promise.all(Array.from({ length: concurrency }, send)).then(
    () => undefined,
    (error: unknown) => {
      failure = error;
      throw error;
    },
  );
  // A failure is reported to the caller that awaits `done`; it is not an unhandled rejection.
  done.catch(() => undefined);

  return {
    acknowledged,
    responses,
    improper,
    done,
    waitForAcknowledged: (count) =>
      waitFor(`${count} of ${total} deliveries to be acknowledged`, () => {
        if (failure !== undefined) throw failure;
        return acknowledgements >= Math.min(count, total);
      }),
    stop: () => {
      stopped = true;
    },
  };
}

interface Outcome {
  readonly status: number | 'unreachable';
  readonly fault: string | undefined;
}

async function post(url: string, body: Buffer): Promise<Outcome> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { 'X-Webhook-Signature-512': sign(body) },
      body: new Uint8Array(body),
    });
  } catch {
    return { status: 'unreachable', fault: undefined };
  }
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    return { status: 'unreachable', fault: `incomplete response: ${String(error)}` };
  }
  const isProper =
    response.status === 200
      ? text.startsWith('{"received":true,"event_id":"') && text.endsWith('}')
      : response.status === 503 && response.headers.has('retry-after') && text.endsWith('}');
  return { status: response.status, fault: isProper ? undefined : `${response.status} ${text}` };
}

type Acknowledged = Pick<Sender, 'acknowledged'>;

/** Ids of events that were acknowledged but have no row in the inbox. There must never be any. */
export async function findNotPersisted(
  db: Queryable,
  { acknowledged }: Acknowledged,
): Promise<string[]> {
  const ids = [...acknowledged];
  const rows = await db.query<{ id: string }>(
    `select id from unnest($1::text[]) as u (id)
      where not exists (select from webhook_events e where e.event_id = u.id)`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/**
 * Waits until nothing is pending, or until the deadline of `waitFor`.
 * @returns the ids of acknowledged events that are then not in the inbox, not applied, or given up
 */
export async function findLost(db: Queryable, { acknowledged }: Acknowledged): Promise<string[]> {
  // What is still pending is counted below.
  await untilNonePending(db).catch(() => undefined);
  const rows = await db.query<{ id: string }>(
    `select id from unnest($1::text[]) as u (id)
      where not exists (select from webhook_events e
                         where e.event_id = u.id
                           and not exists (select from pending p where p.webhook_event_id = e.id)
                           and not exists (select from dead_events d where d.webhook_event_id = e.id))`,
    [[...acknowledged]],
  );
  return rows.map(({ id }) => id);
}

function untilNonePending(db: Queryable): Promise<void> {
  return waitFor('every event to be applied', async () => {
    const [row] = await db.query<{ waiting: number }>('select count(*) as waiting from pending');
    return row?.waiting === 0;
  });
}

/** Waits until the ledger has applied every event, and checks its content. */
export async function expectApplied(db: Queryable, burst: EventBurst): Promise<void> {
  await untilNonePending(db);
  const stored = await db.query<{ id: string }>('select event_id as id from webhook_events');
  expect(stored.map(({ id }) => id).sort()).toEqual([...burst.eventIds].sort());
  expect(await db.query('select * from dead_events')).toEqual([]);
  expect(await db.query(`select class, subject from findings where state = 'open'`)).toEqual([]);
  const unsettled = await db.query(
    `select kind, id, status from resources where status is distinct from 'succeeded'`,
  );
  expect(unsettled).toEqual([]);
  const orders = await db.query(
    `select o.order_id as "orderId", t.captured_minor as "capturedMinor",
            t.refunded_minor as "refundedMinor"
       from orders o join order_totals t using (order_key)
      where o.status in ('paid', 'partially_refunded')
      order by o.order_id`,
  );
  expect(orders).toEqual([...burst.orders].sort((a, b) => (a.orderId < b.orderId ? -1 : 1)));
}
