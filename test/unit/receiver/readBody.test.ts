/** Requests are real `IncomingMessage`s, fed without a connection. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createBodyBudget } from '../../../src/receiver/domain/bodyBudget.ts';
import type { OpenBody } from '../../../src/receiver/guard.ts';
import { discardBody, MAX_DISCARDED_BYTES, readBody } from '../../../src/receiver/readBody.ts';

const MAX_BYTES = 64 * 1024;
const CHUNK_BYTES = 16 * 1024;

const createBudget = (unverifiedBytes = 10 * MAX_BYTES) =>
  createBodyBudget<OpenBody>({
    unverifiedBytes,
    unverifiedBytesPerAddress: unverifiedBytes,
    verifiedBytes: 10 * MAX_BYTES,
  });

const read = (request: IncomingMessage, budget = createBudget()) =>
  readBody(request, {
    maxBytes: MAX_BYTES,
    budget,
    origin: { address: '192.0.2.1', isVerified: false },
  });

function requestWith(headers: Readonly<Record<string, string>> = {}): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers);
  return request;
}

/** Sends `parts` and ends the request. */
function send(request: IncomingMessage, ...parts: readonly Buffer[]): void {
  for (const part of parts) request.push(part);
  request.push(null);
}

describe('reading a body', () => {
  test.each([
    ['nothing', []],
    ['one part', ['{"a":1}']],
    ['several parts', ['{"a":', '"é', '"}']],
    ['as many bytes as may be', ['x'.repeat(MAX_BYTES)]],
  ])('gives the bytes as sent: %s', async (_what, texts) => {
    const parts = texts.map((text) => Buffer.from(text));
    const request = requestWith();
    const reading = read(request);
    send(request, ...parts);
    expect(await reading).toEqual({ outcome: 'read', body: Buffer.concat(parts) });
  });

  test('rejects a body that is one byte too long, in one part or in several', async () => {
    for (const sizes of [[MAX_BYTES + 1], [MAX_BYTES, 1], [1, MAX_BYTES]]) {
      const request = requestWith();
      const reading = read(request);
      send(request, ...sizes.map((size) => Buffer.alloc(size)));
      expect(await reading, `parts of ${sizes}`).toEqual({ outcome: 'too_large' });
    }
  });

  test.each([
    ['gzip', 'encoded_body'],
    ['GZIP', 'encoded_body'],
    ['identity', 'read'],
    ['Identity', 'read'],
  ])('judges the content encoding %s', async (encoding, outcome) => {
    const request = requestWith({ 'content-encoding': encoding });
    const reading = read(request);
    send(request, Buffer.from('{}'));
    expect(await reading).toMatchObject({ outcome });
  });

  test.each(['close', 'error'])(
    'treats a body that ends with `%s` as incomplete',
    async (event) => {
      const request = requestWith();
      const reading = read(request);
      request.push(Buffer.from('{"half":'));
      request.emit(event, new Error('connection lost'));
      expect(await reading).toEqual({ outcome: 'incomplete_body' });
    },
  );
});

describe('memory', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  /** How many bytes of `chunks` chunks are still in memory before their body ends, apart from copies. */
  async function keptBytes(request: IncomingMessage, chunks: number): Promise<number> {
    const sent: WeakRef<Buffer>[] = [];
    for (let count = 0; count < chunks; count += 1) {
      // Not from the pool of small buffers, which keeps all of it in memory.
      const chunk = Buffer.alloc(CHUNK_BYTES);
      sent.push(new WeakRef(chunk));
      request.push(chunk);
      await turn();
    }
    collectGarbage();
    return CHUNK_BYTES * sent.filter((reference) => reference.deref() !== undefined).length;
  }

  test('keeps no more of a body than the limit, and charges the budget for it', async () => {
    const budget = createBudget();
    const request = requestWith();
    const reading = read(request, budget);
    expect(await keptBytes(request, 4)).toBe(MAX_BYTES);
    expect(budget.total()).toBe(MAX_BYTES);
    send(request);
    expect(await reading).toMatchObject({ outcome: 'read' });
    expect(budget.total()).toBe(0);
  });

  test('keeps nothing of a body that is too large, and stops reading it', async () => {
    const budget = createBudget();
    const request = requestWith();
    const reading = read(request, budget);
    expect(await keptBytes(request, 5)).toBeLessThanOrEqual(CHUNK_BYTES);
    expect(budget.total()).toBe(0);
    // It never ends.
    await keptBytes(request, 12);
    expect(await reading).toEqual({ outcome: 'too_large' });
  });

  test('keeps nothing of a body that is declared as too large', async () => {
    const budget = createBudget();
    const request = requestWith({ 'content-length': String(MAX_BYTES + 1) });
    void read(request, budget);
    expect(await keptBytes(request, 3)).toBeLessThanOrEqual(CHUNK_BYTES);
    expect(budget.total()).toBe(0);
  });

  test('keeps nothing of an encoded body', async () => {
    const budget = createBudget();
    expect(await read(requestWith({ 'content-encoding': 'gzip' }), budget)).toEqual({
      outcome: 'encoded_body',
    });
    expect(budget.total()).toBe(0);
  });

  test('a body in tiny chunks occupies its length, not a hundred bytes for each byte', async () => {
    const budget = createBudget();
    const request = requestWith();
    const reading = read(request, budget);
    const sent: WeakRef<Buffer>[] = [];
    for (let count = 0; count < 5_000; count += 1) {
      const chunk = Buffer.alloc(1, count);
      sent.push(new WeakRef(chunk));
      request.push(chunk);
    }
    await turn();
    collectGarbage();
    // The first and the last one.
    expect(sent.filter((reference) => reference.deref() !== undefined).length).toBeLessThan(3);
    // One byte as it came, and two blocks.
    expect(budget.total()).toBe(8_193);
    send(request);
    const body = Buffer.from(Array.from({ length: 5_000 }, (_, count) => count));
    expect(await reading).toEqual({ outcome: 'read', body });
  });

  test.each(['close', 'error'])('nothing is charged for after `%s`', async (event) => {
    const budget = createBudget();
    const request = requestWith();
    const reading = read(request, budget);
    await keptBytes(request, 2);
    expect(budget.total()).toBe(2 * CHUNK_BYTES);
    request.emit(event, new Error('connection lost'));
    await reading;
    await keptBytes(request, 1);
    expect(budget.total()).toBe(0);
  });

  test('beyond the budget the largest body is refused, and the others are read', async () => {
    const budget = createBudget(4 * CHUNK_BYTES);
    const requests = [requestWith(), requestWith(), requestWith()] as const;
    const readings = requests.map((request) => read(request, budget));
    await keptBytes(requests[0], 1);
    await keptBytes(requests[1], 3);
    await keptBytes(requests[2], 1);
    expect(await readings[1]).toEqual({ outcome: 'over_budget' });
    expect(budget.total()).toBe(2 * CHUNK_BYTES);
    for (const request of requests) send(request);
    expect(await Promise.all(readings)).toMatchObject([
      { outcome: 'read', body: { length: CHUNK_BYTES } },
      { outcome: 'over_budget' },
      { outcome: 'read', body: { length: CHUNK_BYTES } },
    ]);
  });
});

test('the rest of a refused body is dropped, and closes the connection if it is much', async () => {
  const request = requestWith();
  discardBody(request);
  request.push(Buffer.alloc(MAX_DISCARDED_BYTES));
  await new Promise((resolve) => setImmediate(resolve));
  expect(request.socket.destroyed).toBe(false);
  request.push(Buffer.alloc(1));
  await new Promise((resolve) => setImmediate(resolve));
  expect(request.socket.destroyed).toBe(true);
});
