/**
 * What strangers can cost: they hold connections and bodies, and deliveries go on. The limits are
 * small here; `scripts/attack-receiver.sh` measures those of production.
 */
import { Agent, request as httpRequest } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseTrustedProxies, type TrustedProxies } from '../../src/platform/clientAddress.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { startExpressServer } from '../../src/platform/expressServer.ts';
import type { HttpServer } from '../../src/platform/httpServer.ts';
import { createLog, type Log } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createReceiverApp } from '../../src/receiver/app.ts';
import { createGuard, type Guard } from '../../src/receiver/guard.ts';
import { createReceiverMetrics } from '../../src/receiver/metrics.ts';
import { createTestDatabase, silentLog } from '../support/database.ts';
import { eventBody, paymentObject, SECRET, sign } from '../support/events.ts';
import { startTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';
import { readCounter } from './counters.ts';
import { type Connection, openConnection, postHead, send } from './rawHttp.ts';

const SIGNATURE = 'X-Webhook-Signature-512';
const WELL_FORMED = 'a'.repeat(128);
const MAX_BODY_BYTES = 256 * 1024;
const CONNECTIONS = { unverified: 20, unverifiedPerAddress: 10, verified: 5 };
const BODIES = {
  unverifiedBytes: 1024 * 1024,
  unverifiedBytesPerAddress: 512 * 1024,
  verifiedBytes: 1024 * 1024,
};

interface Receiver {
  readonly url: string;
  readonly guard: Guard;
  readonly closed: string[];
  readonly metricsPage: () => Promise<string>;
  /** Delivers a signed body on a connection of its own, or on that of an agent. */
  deliver(options?: {
    readonly agent?: Agent;
    readonly body?: Buffer;
    readonly headers?: Record<string, string>;
  }): Promise<number | undefined>;
  close(): Promise<void>;
}

/** A receiver that acknowledges without a database. */
async function startReceiver(
  trustedProxies: TrustedProxies,
  { clock, log }: { readonly clock: Clock; readonly log: Log } = {
    clock: systemClock,
    log: silentLog,
  },
): Promise<Receiver> {
  const metrics = createMetrics();
  const receiverMetrics = createReceiverMetrics(metrics, 1);
  const closed: string[] = [];
  const guard = createGuard({
    maxBodyBytes: MAX_BODY_BYTES,
    trustedProxies,
    connectionClosed: (reason) => {
      closed.push(reason);
      receiverMetrics.connectionClosed(reason);
    },
    connections: CONNECTIONS,
    bodies: BODIES,
  });
  const app = createReceiverApp({
    webhookPath: '/webhooks',
    webhookSecrets: [SECRET],
    maxBodyBytes: MAX_BODY_BYTES,
    guard,
    intake: {
      isFull: () => false,
      accept: () => Promise.resolve({ outcome: 'accepted', eventId: 'evt_1' }),
      drain: () => Promise.resolve(),
    },
    metrics: receiverMetrics,
    countRefusal: () => undefined,
    clock,
    random: Math.random,
    log,
  });
  const server: HttpServer = await startExpressServer({
    host: '127.0.0.1',
    port: 0,
    app,
    portSetting: 'PORT',
    admit: guard.admit,
    handlesContinue: true,
    respondsToHalfClosed: true,
  });
  const url = `http://127.0.0.1:${server.port}/webhooks`;
  return {
    url,
    guard,
    closed,
    metricsPage: metrics.render,
    deliver: ({ agent, body = eventBody(paymentObject()), headers = {} } = {}) =>
      new Promise((resolve, reject) => {
        const outgoing = httpRequest(url, {
          method: 'POST',
          agent: agent ?? false,
          headers: { [SIGNATURE]: sign(body), 'Content-Length': body.length, ...headers },
        });
        outgoing.on('error', reject);
        outgoing.on('response', (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        });
        outgoing.end(body);
      }),
    close: server.close,
  };
}

function trusting(text: string): TrustedProxies {
  const parsed = parseTrustedProxies(text);
  if (!parsed) throw new Error(`${text} is not a list of addresses`);
  return parsed;
}

let receiver: Receiver;
let connections: Connection[];
let agents: Agent[];

beforeEach(async () => {
  receiver = await startReceiver({ has: () => false });
  connections = [];
  agents = [];
});

afterEach(async () => {
  for (const connection of connections) connection.abort();
  for (const agent of agents) agent.destroy();
  await receiver.close();
});

async function open(count: number, url = receiver.url): Promise<Connection[]> {
  const opened = await Promise.all(Array.from({ length: count }, () => openConnection(url)));
  connections.push(...opened);
  return opened;
}

/** An agent that keeps the one connection that it uses. */
function oneConnection(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agents.push(agent);
  return agent;
}

describe('a request without a well-formed signature', () => {
  it.each<[string, Record<string, string>]>([
    ['no signature', {}],
    ['a malformed one', { [SIGNATURE]: 'abc' }],
  ])('is refused before its body arrives: %s', async (_, headers) => {
    const [connection] = await open(1);
    connection?.write(postHead({ 'Content-Length': 100_000, ...headers }));
    // Of the body nothing is sent, and the reply still comes.
    expect(await connection?.received()).toMatch(
      /^HTTP\/1\.1 401 [\s\S]*\r\nConnection: close\r\n/,
    );
    expect(receiver.guard.bodies.total()).toBe(0);
  });

  it('leaves its connection to the next delivery if its body is short', async () => {
    const [connection] = await open(1);
    const body = eventBody(paymentObject());
    connection?.write(postHead({ 'Content-Length': body.length }));
    connection?.write(body);
    connection?.write(
      postHead({ 'Content-Length': body.length, [SIGNATURE]: sign(body), Connection: 'close' }),
    );
    connection?.write(body);
    const replies = (await connection?.received())?.match(/HTTP\/1\.1 \d+/g);
    expect(replies).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
  });

  it.each(['/webhooks', '/nothing'])(
    'is cut off when its body does not end: POST %s',
    async (path) => {
      const [connection] = await open(1);
      connection?.write(
        `POST ${path} HTTP/1.1\r\nHost: receiver\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
      for (let count = 0; count < 4; count += 1) connection?.write(chunk);
      // The connection ends, in order or with a reset.
      await connection?.received().catch(() => undefined);
      expect(receiver.guard.bodies.total()).toBe(0);
    },
  );
});

it('logs refused deliveries at most once in ten seconds, with their number', async () => {
  const lines: { readonly msg: string; readonly deliveries: number }[] = [];
  let nowMs = 1_000_000;
  const logging = await startReceiver(
    { has: () => false },
    {
      clock: { nowMs: () => nowMs },
      log: createLog('info', (line) => lines.push(JSON.parse(line) as (typeof lines)[number])),
    },
  );
  const refuse = async (times: number) => {
    const headers = { [SIGNATURE]: WELL_FORMED };
    for (let count = 0; count < times; count += 1) await logging.deliver({ headers });
  };
  await refuse(5);
  nowMs += 9_999;
  await refuse(1);
  nowMs += 1;
  await refuse(1);
  await logging.close();
  expect(lines.map(({ msg, deliveries }) => [msg, deliveries])).toEqual([
    ['receiver.signature_refused', 1],
    ['receiver.signature_refused', 6],
  ]);
});

describe('Expect: 100-continue', () => {
  const EXPECT = { Expect: '100-continue', 'Content-Length': 50 };

  it.each<[string, Record<string, string | number>, number]>([
    ['without a signature', EXPECT, 401],
    [
      'with a body that is declared as too large',
      { ...EXPECT, [SIGNATURE]: WELL_FORMED, 'Content-Length': MAX_BODY_BYTES + 1 },
      413,
    ],
  ])('is not invited to send its body %s', async (_, headers, status) => {
    const [connection] = await open(1);
    connection?.write(postHead(headers));
    const received = await connection?.received();
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(received).toContain('Connection: close');
  });

  it('is invited to send its body if it has a signature', async () => {
    const body = eventBody(paymentObject());
    const invited = new Promise<number | undefined>((resolve, reject) => {
      const outgoing = httpRequest(receiver.url, {
        method: 'POST',
        agent: false,
        headers: { [SIGNATURE]: sign(body), 'Content-Length': body.length, Expect: '100-continue' },
      });
      outgoing.on('error', reject);
      outgoing.on('continue', () => outgoing.end(body));
      outgoing.on('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      outgoing.flushHeaders();
    });
    expect(await invited).toBe(200);
  });
});

describe('connections of strangers', () => {
  it.each<[string, (connection: Connection) => void]>([
    ['silent ones', () => undefined],
    [
      'ones that send one cheap request',
      (connection) => connection.write('GET /nothing HTTP/1.1\r\nHost: receiver\r\n\r\n'),
    ],
    [
      'ones that send half of a head',
      (connection) => connection.write('POST /webhooks HTTP/1.1\r\nHost: '),
    ],
  ])('refuse no delivery, on an old connection or on a new one: %s', async (_, attack) => {
    const verified = oneConnection();
    expect(await receiver.deliver({ agent: verified })).toBe(200);
    for (let round = 0; round < 5; round += 1) {
      for (const connection of await open(12)) attack(connection);
      expect(await receiver.deliver({ agent: verified })).toBe(200);
      expect(await receiver.deliver()).toBe(200);
    }
    // Of 60 connections from one address ten may stay, and the deliveries of our own made room, too.
    expect(receiver.closed.length).toBeGreaterThanOrEqual(50);
    expect(new Set(receiver.closed)).toEqual(new Set(['address_limit']));
    expect(await receiver.metricsPage()).toContain(
      `tallyhook_receiver_connections_closed_total{reason="address_limit"} ${receiver.closed.length}`,
    );
  });

  it('are closed when they send many requests and wait for no response', async () => {
    const [connection] = await open(1);
    connection?.write('GET /nothing HTTP/1.1\r\nHost: receiver\r\n\r\n'.repeat(1_000));
    await connection?.received().catch(() => undefined);
    expect(receiver.closed).toEqual(['pipelining']);
  });

  it('are closed oldest first', async () => {
    const [first, second] = await open(CONNECTIONS.unverifiedPerAddress);
    await open(1);
    await first?.received().catch(() => undefined);
    second?.write('GET /nothing HTTP/1.1\r\nHost: receiver\r\nConnection: close\r\n\r\n');
    expect(await second?.received()).toMatch(/^HTTP\/1\.1 404 /);
  });

  it('share the places of all behind a trusted proxy', async () => {
    const behindProxy = await startReceiver(trusting('127.0.0.1'));
    try {
      await open(CONNECTIONS.unverified + 1, behindProxy.url);
      await waitFor('a connection to be closed', () =>
        Promise.resolve(behindProxy.closed.length > 0),
      );
      expect(behindProxy.closed).toEqual(['connection_limit']);
    } finally {
      for (const connection of connections) connection.abort();
      await behindProxy.close();
    }
  });
});

describe('bodies of strangers', () => {
  const PART = Buffer.alloc(200 * 1024, 'x');

  /** Sends the head and a part of a body that never ends. */
  function beginBody(
    connection: Connection | undefined,
    headers: Record<string, string> = {},
  ): void {
    connection?.write(
      postHead({ 'Content-Length': 250_000, [SIGNATURE]: WELL_FORMED, ...headers }),
    );
    connection?.write(PART);
  }

  it('are bounded in all, and refuse no delivery', async () => {
    const verified = oneConnection();
    expect(await receiver.deliver({ agent: verified })).toBe(200);
    const large = eventBody(paymentObject({ description: 'x'.repeat(200 * 1024) }));
    for (let round = 0; round < 4; round += 1) {
      const opened = await open(5);
      for (const connection of opened) beginBody(connection);
      expect(await receiver.deliver({ agent: verified, body: large })).toBe(200);
      expect(await receiver.deliver()).toBe(200);
      expect(receiver.guard.bodies.total()).toBeLessThanOrEqual(BODIES.unverifiedBytesPerAddress);
    }
    await waitFor('bodies to be refused', async () =>
      /outcome="over_budget"} [1-9]/.test(await receiver.metricsPage()),
    );
  });

  it('are refused with 503 and a time to retry', async () => {
    const opened = await open(3);
    for (const connection of opened) beginBody(connection);
    const received = await Promise.any(opened.map((connection) => connection.received()));
    expect(received).toMatch(/^HTTP\/1\.1 503 /);
    expect(received).toMatch(/\r\nRetry-After: \d+\r\n/);
    expect(received).toContain('Too many bodies are being received.');
  });

  it('count for the client that a trusted proxy names, and only for it', async () => {
    const proxied = await startReceiver(trusting('127.0.0.1'));
    try {
      const [victim, ...opened] = await open(4, proxied.url);
      beginBody(victim, { 'X-Forwarded-For': '198.51.100.1' });
      await waitFor('the first body', () => Promise.resolve(proxied.guard.bodies.total() > 0));
      for (const connection of opened) {
        beginBody(connection, { 'X-Forwarded-For': '1.1.1.1, 203.0.113.9' });
      }
      expect(await Promise.any(opened.map((connection) => connection.received()))).toContain(
        ' 503 ',
      );
      // It is as large as the others and older: without shares it would be the one to go.
      victim?.write(Buffer.alloc(250_000 - PART.length));
      await waitFor('the reply', async () =>
        /outcome="signature_mismatch"} 1/.test(await proxied.metricsPage()),
      );
    } finally {
      for (const connection of connections) connection.abort();
      await proxied.close();
    }
  });

  it('gain nothing from a verified delivery of another client on the same connection', async () => {
    const proxied = await startReceiver(trusting('127.0.0.1'));
    try {
      const [connection] = await open(1, proxied.url);
      const body = eventBody(paymentObject());
      connection?.write(
        postHead({
          'Content-Length': body.length,
          [SIGNATURE]: sign(body),
          'X-Forwarded-For': '198.51.100.1',
        }),
      );
      connection?.write(body);
      await waitFor('the delivery', async () =>
        /outcome="accepted"} 1/.test(await proxied.metricsPage()),
      );
      beginBody(connection, { 'X-Forwarded-For': '203.0.113.9' });
      await waitFor('the body', () => Promise.resolve(proxied.guard.bodies.total() > 0));
      const others = await open(2, proxied.url);
      for (const other of others) beginBody(other, { 'X-Forwarded-For': '203.0.113.9' });
      const received = await Promise.any([connection, ...others].map((one) => one?.received()));
      expect(received).toContain(' 503 ');
    } finally {
      for (const connection of connections) connection.abort();
      await proxied.close();
    }
  });
});

it('the limits of production are in force in a receiver with its database', async () => {
  const db = await createTestDatabase();
  const tallyhook = await startTallyhook({ db, roles: ['receiver', 'console'] });
  try {
    expect((await tallyhook.deliver(eventBody(paymentObject()))).status).toBe(200);
    await open(300, tallyhook.webhookUrl);
    const body = eventBody(paymentObject());
    const { status } = await send(tallyhook.webhookUrl, {
      headers: { [SIGNATURE]: sign(body), 'Content-Length': body.length },
      chunks: [body],
    });
    expect(status).toBe(200);
    const counter = 'tallyhook_receiver_connections_closed_total{reason="address_limit"}';
    expect(await readCounter(tallyhook, counter)).toBeGreaterThanOrEqual(50);
  } finally {
    for (const connection of connections) connection.abort();
    await tallyhook.close();
    await db.drop();
  }
});
