/**
 * A shop's busy minute, and the service that tells of it: many payments, their events shuffled and
 * some sent twice, each delivered again and again until it is acknowledged, never after.
 *
 * It knows by itself what the ledger must hold in the end.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Queryable } from '../../src/platform/db/database.ts';
import { eventBody, paymentObject, sign, unique } from './events.ts';
import { waitFor } from './waitFor.ts';

export interface StormEvent {
  readonly eventId: string;
  readonly body: Buffer;
}

export interface Storm {
  /** In the order of sending; some events stand here twice. */
  readonly deliveries: readonly StormEvent[];
  readonly eventIds: readonly string[];
  readonly orders: readonly ExpectedOrder[];
}

interface ExpectedOrder {
  readonly orderId: string;
  readonly capturedMinor: number;
  readonly refundedMinor: number;
}

export type Random = () => number;

/** A repeatable source of numbers from 0 to below 1 (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The seed of this run; TEST_SEED repeats an earlier one. */
export function testSeed(): number {
  const given = process.env.TEST_SEED;
  return given === undefined ? Math.floor(Math.random() * 1_000_000) : Number(given);
}

const DUPLICATES = 0.05;

/** Orders of one payment each: created, paid, and every other one refunded in part. */
export function makeStorm(orders: number, random: Random): Storm {
  const events: StormEvent[] = [];
  const add = (object: object, eventType: string, contentType: string): void => {
    const eventId = unique('evt');
    events.push({ eventId, body: eventBody(object, { eventId, eventType, contentType }) });
  };
  const expected = Array.from({ length: orders }, (_, place): ExpectedOrder => {
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
    const refundedMinor = place % 2 === 0 ? 500 : 0;
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
    .map((item) => ({ item, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

export interface Sender {
  /** Event ids that were answered with 200. */
  readonly acknowledged: ReadonlySet<string>;
  /** How many deliveries had each answer: a status, or 'unreachable'. */
  readonly answers: ReadonlyMap<number | 'unreachable', number>;
  /** Replies that were neither 200 nor a 503 with Retry-After. */
  readonly improper: readonly string[];
  /** Resolves when so many deliveries were acknowledged. */
  reached(acknowledgements: number): Promise<void>;
  /** Resolves when every delivery was acknowledged. */
  readonly done: Promise<void>;
  stop(): void;
}

export interface SenderOptions {
  /** Where the receiver is now; it may move while it is restarted. */
  readonly url: () => string;
  readonly concurrency: number;
}

/** The service waits a minute or more before it tries again. */
const RETRY_MS = 25;

/** Begins to send; a delivery that is not acknowledged is sent again, as the service does. */
export function startSending(
  deliveries: readonly StormEvent[],
  { url, concurrency }: SenderOptions,
): Sender {
  const acknowledged = new Set<string>();
  const answers = new Map<number | 'unreachable', number>();
  const improper: string[] = [];
  const queue = [...deliveries];
  const total = queue.length;
  let acknowledgements = 0;
  let stopped = false;
  let failure: unknown;

  const deliver = async (event: StormEvent): Promise<boolean> => {
    const outcome = await post(url(), event.body);
    answers.set(outcome.status, (answers.get(outcome.status) ?? 0) + 1);
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
        await pause(RETRY_MS);
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
  // Whoever waits for `done` gets the failure; until then it is nobody's.
  done.catch(() => undefined);

  return {
    acknowledged,
    answers,
    improper,
    done,
    reached: (count) =>
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
    return { status: 'unreachable', fault: `half a reply: ${String(error)}` };
  }
  const isProper =
    response.status === 200
      ? text.startsWith('{"received":true,"event_id":"') && text.endsWith('}')
      : response.status === 503 && response.headers.has('retry-after') && text.endsWith('}');
  return { status: response.status, fault: isProper ? undefined : `${response.status} ${text}` };
}

/** Event ids that were acknowledged but have no row in the inbox: there must be none, ever. */
export async function findUnstored(db: Queryable, { acknowledged }: Sender): Promise<string[]> {
  const ids = [...acknowledged];
  const rows = await db.query<{ id: string }>(
    `select id from unnest($1::text[]) as u (id)
      where not exists (select from webhook_events e where e.event_id = u.id)`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** Waits until the ledger has applied everything, and checks that it holds what it must. */
export async function expectApplied(db: Queryable, storm: Storm): Promise<void> {
  await waitFor('everything to be applied', async () => {
    const [row] = await db.query<{ waiting: number }>('select count(*) as waiting from pending');
    return row?.waiting === 0;
  });
  const stored = await db.query<{ id: string }>('select event_id as id from webhook_events');
  expect(stored.map(({ id }) => id).sort()).toEqual([...storm.eventIds].sort());
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
  expect(orders).toEqual([...storm.orders].sort((a, b) => (a.orderId < b.orderId ? -1 : 1)));
}
