/** Intake under load: what arrives together is written together, once, and within bounds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_TRUSTED_PROXIES } from '../../src/platform/clientAddress.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { type HttpServer, startHttpServer } from '../../src/platform/httpServer.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createReceiverApp } from '../../src/receiver/app.ts';
import { createGuard } from '../../src/receiver/guard.ts';
import { createIntake, type Intake, type IntakeOutcome } from '../../src/receiver/intake.ts';
import { createReceiverMetrics } from '../../src/receiver/metrics.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, SECRET, sign, unique } from '../support/events.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';
import {
  allHandled,
  countAll,
  countKept,
  countSnapshots,
  deadErrors,
  handled,
  resourceState,
  rowsWithBody,
  storedRow,
} from './inbox.ts';

interface WatchedIntake extends Intake {
  /** Sizes of the batches that were written, in the order of being committed. */
  readonly batchSizes: readonly number[];
  /** Inbox numbers that the workers were told of. */
  readonly enqueued: readonly number[];
}

function watchedIntake(db: Database): WatchedIntake {
  const batchSizes: number[] = [];
  const enqueued: number[] = [];
  const intake = createIntake({
    db,
    clock: systemClock,
    log: silentLog,
    enqueue: (ids) => enqueued.push(...ids),
    observeBatchSize: (events) => batchSizes.push(events),
  });
  return { ...intake, batchSizes, enqueued };
}

interface HeldDatabase {
  readonly db: Database;
  /** Batches that wait for the database now. */
  inFlight(): number;
  /** Lets the database answer, from now on at once. */
  release(): void;
}

/** The real database, which takes a batch only once it is released: it holds time, nothing else. */
function heldDatabase(db: Database): HeldDatabase {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let inFlight = 0;
  const prepared = async <Row extends object>(
    name: string,
    text: string,
    values: readonly unknown[],
  ): Promise<Row[]> => {
    inFlight += 1;
    await opened;
    inFlight -= 1;
    return db.prepared<Row>(name, text, values);
  };
  return { db: { ...db, prepared }, inFlight: () => inFlight, release: () => open() };
}

const someEvents = (count: number): Buffer[] =>
  Array.from({ length: count }, () => eventBody(paymentObject()));

const outcomesOf = (results: readonly IntakeOutcome[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { outcome } of results) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
};

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});

afterAll(async () => {
  await db.drop();
});

describe('deliveries that arrive at once', () => {
  let tallyhook: TestTallyhook;

  beforeAll(async () => {
    tallyhook = await startTallyhook({ db, roles: ['receiver', 'events'] });
  });

  afterAll(async () => {
    await tallyhook.close();
  });

  it('of one event, 100 times, make one inbox row that is applied once', async () => {
    const payment = paymentObject();
    const body = eventBody(payment);

    const responses = await Promise.all(Array.from({ length: 100 }, () => tallyhook.deliver(body)));

    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    const replies = (await Promise.all(responses.map((response) => response.json()))) as {
      duplicate: boolean;
    }[];
    expect(replies.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    const row = await storedRow(db, body);
    await handled(db, row);
    expect(await countSnapshots(db, payment.payment_id)).toBe(1);
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      capturedMinor: 6540,
    });
  });

  it('of one unreadable body, 100 times, make one inbox row', async () => {
    const body = Buffer.from(unique('no JSON'));
    const responses = await Promise.all(Array.from({ length: 100 }, () => tallyhook.deliver(body)));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect(await rowsWithBody(db, body)).toHaveLength(1);
  });

  it('of many events are all stored and applied', async () => {
    const payments = Array.from({ length: 400 }, () => paymentObject());
    const bodies = payments.map((payment) => eventBody(payment));

    const responses = await Promise.all(bodies.map((body) => tallyhook.deliver(body)));

    expect(responses.map(({ status }) => status)).toEqual(bodies.map(() => 200));
    const stored = await db.query<{ body: Buffer }>(
      'select body from webhook_events where body = any ($1)',
      [bodies],
    );
    expect(stored).toHaveLength(bodies.length);
    await allHandled(db);
    const applied = await db.query(
      `select from resources where kind = 'payment' and id = any ($1) and captured_minor = 6540`,
      [payments.map((payment) => payment.payment_id)],
    );
    expect(applied).toHaveLength(payments.length);
  });

  // The senders keep their connections, as load balancers do: an idle connection must not hold up
  // the stop, or a supervisor loses patience and kills.
  it('are stored, each that was acknowledged, when the receiver stops', {
    timeout: 60_000,
  }, async () => {
    const stopping = await startTallyhook({ db, roles: ['receiver'] });
    const bodies = someEvents(200);
    const replies = bodies.map((body) =>
      stopping.deliver(body).then(
        ({ status }) => status,
        () => 'no reply' as const,
      ),
    );
    await Promise.any(replies);

    await stopping.close();

    // What came too late got no reply: its sender knows that it must send it again.
    const statuses = await Promise.all(replies);
    expect(statuses.filter((status) => status !== 'no reply' && status !== 200)).toEqual([]);
    for (const [place, status] of statuses.entries()) {
      if (status === 200) expect(await countKept(db, bodies[place] ?? Buffer.alloc(0))).toBe(1);
    }
    expect(statuses).toContain(200);
  });

  it('leave no event dead', async () => {
    await allHandled(db);
    expect(await deadErrors(db)).toEqual([]);
  });
});

describe('two receivers on one database', () => {
  it('take the same events in opposite orders over HTTP, each event once', async () => {
    const receivers = [
      await startTallyhook({ db, roles: ['receiver'] }),
      await startTallyhook({ db, roles: ['receiver'] }),
    ] as const;
    try {
      for (let round = 0; round < 5; round += 1) {
        const bodies = someEvents(100);
        const backwards = [...bodies].reverse();
        const responses = await Promise.all([
          ...bodies.map((body) => receivers[0].deliver(body)),
          ...backwards.map((body) => receivers[1].deliver(body)),
        ]);
        expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
        const replies = (await Promise.all(responses.map((response) => response.json()))) as {
          duplicate: boolean;
        }[];
        expect(replies.filter(({ duplicate }) => !duplicate)).toHaveLength(bodies.length);
      }
    } finally {
      for (const receiver of receivers) await receiver.close();
    }
  });

  // Two transactions that insert the same rows in different orders wait for each other for ever;
  // PostgreSQL ends that after a second by failing one of them.
  it('do not deadlock over whole batches of the same events in opposite orders', async () => {
    const pools = ['one', 'two'].map((applicationName) =>
      createDatabase({
        connectionString: db.url,
        log: silentLog,
        applicationName,
        maxConnections: 2,
        responseTimeoutMs: 30_000,
        plans: 'any',
      }),
    );
    try {
      const intakes = pools.map((pool) => watchedIntake(pool));
      for (let round = 0; round < 5; round += 1) {
        const bodies = someEvents(500);
        const orders = [bodies, [...bodies].reverse()];
        const results = await Promise.all(
          intakes.flatMap((intake, place) => (orders[place] ?? []).map(intake.accept)),
        );
        expect(outcomesOf(results)).toEqual({ accepted: 500, duplicate: 500 });
      }
      expect(intakes.flatMap(({ enqueued }) => enqueued)).toHaveLength(5 * 500);
    } finally {
      for (const pool of pools) await pool.close();
    }
  });
});

describe('a batch', () => {
  it('holds what arrives while two others are being written, and at most 500 events', async () => {
    const held = heldDatabase(db);
    const intake = watchedIntake(held.db);
    const accepted = someEvents(2).map(intake.accept);
    await waitFor('the first batch', () => held.inFlight() === 1);
    accepted.push(...someEvents(3).map(intake.accept));
    await waitFor('the second batch', () => held.inFlight() === 2);
    // They come in two rounds of the event loop: a third batch would take the first round for itself.
    accepted.push(...someEvents(300).map(intake.accept));
    await new Promise(setImmediate);
    accepted.push(...someEvents(400).map(intake.accept));

    held.release();
    const results = await Promise.all(accepted);

    expect(outcomesOf(results)).toEqual({ accepted: 705 });
    expect([...intake.batchSizes].sort((a, b) => a - b)).toEqual([2, 3, 200, 500]);
  });

  it('is not reported before the database has taken it', async () => {
    const held = heldDatabase(db);
    const intake = watchedIntake(held.db);
    const [body = Buffer.alloc(0)] = someEvents(1);
    let reported: IntakeOutcome | undefined;
    const accepted = intake.accept(body).then((outcome) => {
      reported = outcome;
    });
    await waitFor('the batch', () => held.inFlight() === 1);

    expect(reported).toBeUndefined();
    expect(intake.enqueued).toEqual([]);
    expect(await countKept(db, body)).toBe(0);

    held.release();
    await accepted;
    expect(reported).toMatchObject({ outcome: 'accepted' });
    expect(intake.enqueued).toEqual([(await storedRow(db, body)).id]);
  });

  it('tells the workers of new events and new variants, and of nothing else', async () => {
    const eventId = unique('evt');
    const event = eventBody(paymentObject(), { eventId });
    const variant = eventBody(paymentObject(), { eventId });
    const intake = watchedIntake(db);

    await Promise.all([event, event, variant, variant].map(intake.accept));

    const { id } = await storedRow(db, event);
    expect(intake.enqueued).toEqual([id, id]);
    await Promise.all([event, variant].map(intake.accept));
    expect(intake.enqueued).toEqual([id, id]);
  });

  it('loses no neighbour to an event that the database refuses', async () => {
    const ownDb = await createTestDatabase();
    try {
      await ownDb.query(
        `alter table webhook_events add check (event_type is distinct from 'poison')`,
      );
      const intake = watchedIntake(ownDb);
      const poison = eventBody(paymentObject(), { eventType: 'poison' });
      const neighbours = someEvents(20);
      const bodies = [...neighbours.slice(0, 10), poison, ...neighbours.slice(10)];

      const results = await Promise.all(bodies.map(intake.accept));

      expect(outcomesOf(results)).toEqual({ accepted: 20, unavailable: 1 });
      expect(results[10]).toEqual({ outcome: 'unavailable' });
      expect(await countAll(ownDb)).toBe(20);
      for (const neighbour of neighbours) expect(await countKept(ownDb, neighbour)).toBe(1);
      expect(intake.enqueued).toHaveLength(20);
    } finally {
      await ownDb.drop();
    }
  });

  it('is drained before the receiver lets go of the database', async () => {
    const held = heldDatabase(db);
    const intake = watchedIntake(held.db);
    const accepted = someEvents(1_200).map(intake.accept);
    let isDrained = false;
    const drained = intake.drain().then(() => {
      isDrained = true;
    });
    await waitFor('two batches', () => held.inFlight() === 2);
    expect(isDrained).toBe(false);

    held.release();
    await drained;

    expect(intake.enqueued).toHaveLength(1_200);
    expect(outcomesOf(await Promise.all(accepted))).toEqual({ accepted: 1_200 });
    await intake.drain();
  });
});

describe('a queue that is full', () => {
  const MAX_WAITING = 10_000;

  it('takes 10,000 waiting events and not one more, and loses none of them', async () => {
    const held = heldDatabase(db);
    const intake = watchedIntake(held.db);
    const before = await countAll(db);
    const accepted = someEvents(MAX_WAITING).map(intake.accept);

    expect(await intake.accept(eventBody(paymentObject()))).toEqual({ outcome: 'overloaded' });

    held.release();
    expect(outcomesOf(await Promise.all(accepted))).toEqual({ accepted: MAX_WAITING });
    expect(await countAll(db)).toBe(before + MAX_WAITING);
    expect(await intake.accept(eventBody(paymentObject()))).toMatchObject({ outcome: 'accepted' });
  });

  it('takes 64 MiB of waiting bodies and not one byte more', async () => {
    const held = heldDatabase(db);
    const intake = watchedIntake(held.db);
    // One body many times: what waits is counted before it is collapsed.
    const body = Buffer.alloc(1024 * 1024, unique('no JSON'));
    const accepted = Array.from({ length: 64 }, () => intake.accept(body));

    expect(await intake.accept(Buffer.from('x'))).toEqual({ outcome: 'overloaded' });

    held.release();
    expect(outcomesOf(await Promise.all(accepted))).toEqual({ accepted: 1, duplicate: 63 });
    expect(await intake.accept(body)).toMatchObject({ outcome: 'duplicate' });
  });

  it('tells the sender to come again, and takes the event then', async () => {
    const held = heldDatabase(db);
    const intake = watchedIntake(held.db);
    const server = await serve(intake);
    try {
      const accepted = someEvents(1_000).map(intake.accept);
      await waitFor('two batches', () => held.inFlight() === 2);
      accepted.push(...someEvents(MAX_WAITING).map(intake.accept));
      const body = eventBody(paymentObject());
      const deliver = () =>
        fetch(`http://127.0.0.1:${server.port}/webhooks`, {
          method: 'POST',
          headers: { 'X-Webhook-Signature-512': sign(body) },
          body: new Uint8Array(body),
        });

      const response = await deliver();

      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('5');
      expect(await response.json()).toEqual({
        error: {
          type: 'api_error',
          code: 'HE_00',
          message: 'Too many events are waiting to be stored. Send it again later.',
        },
      });
      held.release();
      expect(outcomesOf(await Promise.all(accepted))).toEqual({ accepted: MAX_WAITING + 1_000 });
      expect(await countKept(db, body)).toBe(0);
      expect((await deliver()).status).toBe(200);
      expect(await countKept(db, body)).toBe(1);
    } finally {
      held.release();
      await server.close();
    }
  });
});

/** The receiver over HTTP, with an intake of the test's own. */
function serve(intake: Intake): Promise<HttpServer> {
  const app = createReceiverApp({
    webhookPath: '/webhooks',
    webhookSecrets: [SECRET],
    maxBodyBytes: 1024 * 1024,
    guard: createGuard({
      maxBodyBytes: 1024 * 1024,
      trustedProxies: NO_TRUSTED_PROXIES,
      connectionClosed: () => undefined,
    }),
    intake,
    metrics: createReceiverMetrics(createMetrics(), 1),
    countRefusal: () => undefined,
    clock: systemClock,
    log: silentLog,
  });
  return startHttpServer({ host: '127.0.0.1', port: 0, handler: app, portSetting: 'PORT' });
}
