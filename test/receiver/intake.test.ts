/** Intake under load: events that arrive together are written in one batch, once, and within limits. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeBodyDays } from '../../src/ledger/bodies/bodyDays.ts';
import { NO_TRUSTED_PROXIES } from '../../src/platform/clientAddress.ts';
import { monotonicMs, systemClock } from '../../src/platform/clock.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { startExpressServer } from '../../src/platform/expressServer.ts';
import type { HttpServer } from '../../src/platform/httpServer.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createReceiverApp } from '../../src/receiver/app.ts';
import { MAX_HELD_EVENTS, MAX_HELD_MS } from '../../src/receiver/domain/intakeRoom.ts';
import { createGuard } from '../../src/receiver/guard.ts';
import { createIntake, type Intake, type IntakeOutcome } from '../../src/receiver/intake.ts';
import { createReceiverMetrics } from '../../src/receiver/metrics.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, SECRET, sign, unique } from '../support/events.ts';
import { INBOX_WITH_BODIES } from '../support/inboxBodies.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';
import {
  countSnapshots,
  countStored,
  countStoredBodies,
  deadErrors,
  resourceState,
  rowsWithBody,
  storedRow,
  untilAllApplied,
  untilApplied,
} from './inbox.ts';

interface RecordingIntake extends Intake {
  /** Sizes of the batches in the order of their commits. */
  readonly batchSizes: readonly number[];
  /** Inbox numbers that were enqueued for the workers. */
  readonly enqueued: readonly number[];
}

function recordingIntake(db: Database, clockMs = monotonicMs): RecordingIntake {
  const batchSizes: number[] = [];
  const enqueued: number[] = [];
  const intake = createIntake({
    db,
    clock: systemClock,
    monotonicMs: clockMs,
    log: silentLog,
    enqueue: (ids) => enqueued.push(...ids),
    observeBatchSize: (events) => batchSizes.push(events),
    keep: () => undefined,
    makeBodyDays: () => makeBodyDays(db, silentLog),
  });
  return { ...intake, batchSizes, enqueued };
}

interface BlockedDatabase {
  readonly db: Database;
  /** Number of batches that wait for the database. */
  inFlight(): number;
  /** Unblocks the database for good. */
  release(): void;
}

/** The real database, with every batch delayed until `release` is called. */
function blockedDatabase(db: Database): BlockedDatabase {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let inFlight = 0;
  const prepared = async <Row extends object>(
    text: string,
    values: readonly unknown[],
  ): Promise<Row[]> => {
    inFlight += 1;
    await opened;
    inFlight -= 1;
    return db.prepared<Row>(text, values);
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

describe('concurrent deliveries', () => {
  let tallyhook: TestTallyhook;

  beforeAll(async () => {
    tallyhook = await startTallyhook({ db, roles: ['receiver', 'events'] });
  });

  afterAll(async () => {
    await tallyhook.close();
  });

  it('of one event, 100 times, result in one inbox row that is applied once', async () => {
    const payment = paymentObject();
    const body = eventBody(payment);

    const responses = await Promise.all(Array.from({ length: 100 }, () => tallyhook.deliver(body)));

    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    const replies = (await Promise.all(responses.map((response) => response.json()))) as {
      duplicate: boolean;
    }[];
    expect(replies.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    const row = await storedRow(db, body);
    await untilApplied(db, row);
    expect(await countSnapshots(db, payment.payment_id)).toBe(1);
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      capturedMinor: 6540,
    });
  });

  it('of one unreadable body, 100 times, result in one inbox row', async () => {
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
      `select body from ${INBOX_WITH_BODIES} inbox where body = any ($1)`,
      [bodies],
    );
    expect(stored).toHaveLength(bodies.length);
    await untilAllApplied(db);
    const applied = await db.query(
      `select from resources where kind = 'payment' and id = any ($1) and captured_minor = 6540`,
      [payments.map((payment) => payment.payment_id)],
    );
    expect(applied).toHaveLength(payments.length);
  });

  // The senders keep their connections open, as load balancers do. An idle connection must not delay
  // the shutdown, or a supervisor would kill the process.
  it('that were acknowledged are stored when the receiver shuts down', async () => {
    const stopping = await startTallyhook({ db, roles: ['receiver'] });
    const bodies = someEvents(200);
    const replies = bodies.map((body) =>
      stopping.deliver(body).then(
        ({ status }) => status,
        () => 'no response' as const,
      ),
    );
    await Promise.any(replies);

    await stopping.close();

    // Late deliveries get no response, so their sender retries them.
    const statuses = await Promise.all(replies);
    expect(statuses.filter((status) => status !== 'no response' && status !== 200)).toEqual([]);
    for (const [index, status] of statuses.entries()) {
      if (status === 200) expect(await countStored(db, bodies[index] ?? Buffer.alloc(0))).toBe(1);
    }
    expect(statuses).toContain(200);
  });

  it('leave no dead events', async () => {
    await untilAllApplied(db);
    expect(await deadErrors(db)).toEqual([]);
  });
});

describe('two receivers on one database', () => {
  it('accept the same events in opposite orders over HTTP, each event once', async () => {
    const receivers = [
      await startTallyhook({ db, roles: ['receiver'] }),
      await startTallyhook({ db, roles: ['receiver'] }),
    ] as const;
    try {
      for (let round = 0; round < 5; round += 1) {
        const bodies = someEvents(100);
        const reversed = [...bodies].reverse();
        const responses = await Promise.all([
          ...bodies.map((body) => receivers[0].deliver(body)),
          ...reversed.map((body) => receivers[1].deliver(body)),
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

  // Two transactions that insert the same rows in different orders deadlock; PostgreSQL detects that after
  // a second and fails one of them.
  it('do not deadlock on batches of the same events in opposite orders', async () => {
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
      const intakes = pools.map((pool) => recordingIntake(pool));
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
  it('has the events that arrive while two others are written, and at most 500', async () => {
    const blocked = blockedDatabase(db);
    const intake = recordingIntake(blocked.db);
    const accepted = someEvents(2).map(intake.accept);
    await waitFor('the first batch', () => blocked.inFlight() === 1);
    accepted.push(...someEvents(3).map(intake.accept));
    await waitFor('the second batch', () => blocked.inFlight() === 2);
    // Two iterations of the event loop: a third concurrent batch would contain only the first one's events.
    accepted.push(...someEvents(300).map(intake.accept));
    await new Promise(setImmediate);
    accepted.push(...someEvents(400).map(intake.accept));

    blocked.release();
    const results = await Promise.all(accepted);

    expect(outcomesOf(results)).toEqual({ accepted: 705 });
    expect([...intake.batchSizes].sort((a, b) => a - b)).toEqual([2, 3, 200, 500]);
  });

  it('is not acknowledged before the database has committed it', async () => {
    const blocked = blockedDatabase(db);
    const intake = recordingIntake(blocked.db);
    const [body = Buffer.alloc(0)] = someEvents(1);
    let reported: IntakeOutcome | undefined;
    const accepted = intake.accept(body, 0).then((outcome) => {
      reported = outcome;
    });
    await waitFor('the batch', () => blocked.inFlight() === 1);

    expect(reported).toBeUndefined();
    expect(intake.enqueued).toEqual([]);
    expect(await countStored(db, body)).toBe(0);

    blocked.release();
    await accepted;
    expect(reported).toMatchObject({ outcome: 'accepted' });
    expect(intake.enqueued).toEqual([(await storedRow(db, body)).id]);
  });

  it('enqueues new events and new variants, and nothing else', async () => {
    const eventId = unique('evt');
    const event = eventBody(paymentObject(), { eventId });
    const variant = eventBody(paymentObject(), { eventId });
    const intake = recordingIntake(db);

    await Promise.all([event, event, variant, variant].map(intake.accept));

    const { id } = await storedRow(db, event);
    expect(intake.enqueued).toEqual([id, id]);
    await Promise.all([event, variant].map(intake.accept));
    expect(intake.enqueued).toEqual([id, id]);
  });

  it('costs as many statements for a hundred reused ids as for one', async () => {
    let statements = 0;
    const counting: Database = {
      ...db,
      query: (...args: Parameters<Database['query']>) => {
        statements += 1;
        return db.query(...args);
      },
      prepared: (...args: Parameters<Database['prepared']>) => {
        statements += 1;
        return db.prepared(...args);
      },
    } as Database;
    const eventIds = Array.from({ length: 101 }, () => unique('evt'));
    const bodies = (ids: readonly string[]) =>
      ids.map((eventId) => eventBody(paymentObject(), { eventId }));
    const [one = '', ...hundred] = eventIds;
    const { accept, enqueued } = recordingIntake(counting);
    await Promise.all(bodies(eventIds).map(accept));
    const [acceptedIds] = [[...enqueued]];

    statements = 0;
    expect(await Promise.all(bodies([one]).map(accept))).toMatchObject([{ outcome: 'id_reused' }]);
    const ofOne = statements;
    statements = 0;
    const outcomes = await Promise.all(bodies(hundred).map(accept));

    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['id_reused']));
    expect(statements).toBe(ofOne);
    expect(enqueued.slice(acceptedIds.length).sort()).toEqual(acceptedIds.sort());
  });

  it('is stored except for an event that the database rejects', async () => {
    const ownDb = await createTestDatabase();
    try {
      await ownDb.query(
        `alter table webhook_events add check (event_type is distinct from 'poison')`,
      );
      const intake = recordingIntake(ownDb);
      const poison = eventBody(paymentObject(), { eventType: 'poison' });
      const others = someEvents(20);
      const bodies = [...others.slice(0, 10), poison, ...others.slice(10)];

      const results = await Promise.all(bodies.map(intake.accept));

      expect(outcomesOf(results)).toEqual({ accepted: 20, unavailable: 1 });
      expect(results[10]).toEqual({ outcome: 'unavailable' });
      expect(await countStoredBodies(ownDb)).toBe(20);
      for (const other of others) expect(await countStored(ownDb, other)).toBe(1);
      expect(intake.enqueued).toHaveLength(20);
    } finally {
      await ownDb.drop();
    }
  });

  it('is drained before the receiver closes the database', async () => {
    const blocked = blockedDatabase(db);
    const intake = recordingIntake(blocked.db);
    const accepted = someEvents(700).map(intake.accept);
    let isDrained = false;
    const drained = intake.drain().then(() => {
      isDrained = true;
    });
    await waitFor('two batches', () => blocked.inFlight() === 2);
    expect(isDrained).toBe(false);

    blocked.release();
    await drained;

    expect(intake.enqueued).toHaveLength(700);
    expect(outcomesOf(await Promise.all(accepted))).toEqual({ accepted: 700 });
    await intake.drain();
  });
});

describe('a full intake', () => {
  /** The two limits on what is held do not depend on how long it waits. */
  const stopped = () => 0;

  it('holds 800 events, waiting or being written, and no more, and loses none of them', async () => {
    const blocked = blockedDatabase(db);
    const intake = recordingIntake(blocked.db, stopped);
    const before = await countStoredBodies(db);
    const accepted = someEvents(600).map(intake.accept);
    await waitFor('two batches', () => blocked.inFlight() === 2);
    accepted.push(...someEvents(MAX_HELD_EVENTS - 600).map(intake.accept));
    expect(intake.isFull()).toBe(true);

    expect(await intake.accept(eventBody(paymentObject()), 0)).toEqual({ outcome: 'overloaded' });

    blocked.release();
    expect(outcomesOf(await Promise.all(accepted))).toEqual({ accepted: MAX_HELD_EVENTS });
    expect(await countStoredBodies(db)).toBe(before + MAX_HELD_EVENTS);
    expect(intake.isFull()).toBe(false);
    expect(await intake.accept(eventBody(paymentObject()), 0)).toMatchObject({
      outcome: 'accepted',
    });
  });

  it('holds 64 MiB of bodies and not one byte more', async () => {
    const blocked = blockedDatabase(db);
    const intake = recordingIntake(blocked.db, stopped);
    // The same body many times: held bodies are counted before they are deduped.
    const body = Buffer.alloc(1024 * 1024, unique('no JSON'));
    const accepted = Array.from({ length: 64 }, () => intake.accept(body, 0));

    expect(await intake.accept(Buffer.from('x'), 0)).toEqual({ outcome: 'overloaded' });

    blocked.release();
    expect(outcomesOf(await Promise.all(accepted))).toEqual({ accepted: 1, duplicate: 63 });
    expect(await intake.accept(body, 0)).toMatchObject({ outcome: 'duplicate' });
  });

  it('accepts nothing while the oldest event has waited five seconds, and everything after its commit', async () => {
    const blocked = blockedDatabase(db);
    let nowMs = 0;
    const intake = recordingIntake(blocked.db, () => nowMs);
    const accepted = someEvents(1).map(intake.accept);
    await waitFor('the batch', () => blocked.inFlight() === 1);
    nowMs = MAX_HELD_MS - 1;
    accepted.push(...someEvents(1).map(intake.accept));
    nowMs = MAX_HELD_MS;

    expect(intake.isFull()).toBe(true);
    expect(await intake.accept(eventBody(paymentObject()), 0)).toEqual({ outcome: 'overloaded' });

    blocked.release();
    expect(outcomesOf(await Promise.all(accepted))).toEqual({ accepted: 2 });
    expect(intake.isFull()).toBe(false);
  });

  it('refuses before it reads a body, without delay and with Retry-After, and accepts the event later', async () => {
    const blocked = blockedDatabase(db);
    const intake = recordingIntake(blocked.db);
    const server = await serve(intake);
    const { port } = server;
    try {
      const accepted = someEvents(MAX_HELD_EVENTS).map(intake.accept);
      const body = eventBody(paymentObject());

      const connection = connect({ port, host: '127.0.0.1' });
      connection.write(
        `POST /webhooks HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n` +
          `X-Webhook-Signature-512: ${sign(body)}\r\n\r\n`,
      );
      const [response] = (await once(connection, 'data')) as [Buffer];

      const text = response.toString();
      expect(text).toMatch(/^HTTP\/1\.1 503 /);
      expect(text).toContain('\r\nRetry-After: 33\r\n');
      expect(JSON.parse(text.slice(text.indexOf('{')))).toEqual({
        error: {
          type: 'api_error',
          code: 'HE_00',
          message: 'Too many events are waiting to be stored. Send it again later.',
        },
      });
      blocked.release();
      expect(outcomesOf(await Promise.all(accepted))).toEqual({ accepted: MAX_HELD_EVENTS });
      expect(await countStored(db, body)).toBe(0);

      // The connection still serves: what remains of the refused body is dropped.
      connection.write(body);
      connection.write(
        `POST /webhooks HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n` +
          `X-Webhook-Signature-512: ${sign(body)}\r\n\r\n`,
      );
      connection.write(body);
      const [second] = (await once(connection, 'data')) as [Buffer];
      connection.destroy();
      expect(second.toString()).toMatch(/^HTTP\/1\.1 200 /);
      expect(await countStored(db, body)).toBe(1);
    } finally {
      blocked.release();
      await server.close();
    }
  });
});

/** Serves the receiver over HTTP with the test's intake. Replies that may be delayed take too long for a test. */
function serve(intake: Intake): Promise<HttpServer> {
  const guard = createGuard({
    maxBodyBytes: 1024 * 1024,
    trustedProxies: NO_TRUSTED_PROXIES,
    connectionClosed: () => undefined,
  });
  const app = createReceiverApp({
    webhookPath: '/webhooks',
    webhookSecrets: [SECRET],
    maxBodyBytes: 1024 * 1024,
    guard: {
      ...guard,
      replyDelayMs: (request) => (guard.originOf(request).isVerified ? 0 : 3_600_000),
    },
    intake,
    metrics: createReceiverMetrics(createMetrics(), 1),
    countRefusal: () => undefined,
    clock: systemClock,
    random: () => 0.5,
    log: silentLog,
  });
  return startExpressServer({
    host: '127.0.0.1',
    port: 0,
    app,
    portSetting: 'PORT',
    admit: guard.admit,
  });
}
