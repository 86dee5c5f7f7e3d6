/** Requests are real `IncomingMessage`s, fed without a connection. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { readBody } from '../../../src/receiver/readBody.ts';

const MAX_BYTES = 64 * 1024;
const CHUNK_BYTES = 16 * 1024;

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
    const reading = readBody(request, MAX_BYTES);
    send(request, ...parts);
    expect(await reading).toEqual({ outcome: 'read', body: Buffer.concat(parts) });
  });

  test('refuses a byte too many, in one part or in several', async () => {
    for (const sizes of [[MAX_BYTES + 1], [MAX_BYTES, 1], [1, MAX_BYTES]]) {
      const request = requestWith();
      const reading = readBody(request, MAX_BYTES);
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
    const reading = readBody(request, MAX_BYTES);
    send(request, Buffer.from('{}'));
    expect(await reading).toMatchObject({ outcome });
  });

  test.each(['close', 'error'])(
    'treats a body that ends with `%s` as incomplete',
    async (event) => {
      const request = requestWith();
      const reading = readBody(request, MAX_BYTES);
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

  /** How many bytes of a body of `chunks` chunks are still in memory before it ends. */
  async function keptBytes(chunks: number, headers: Record<string, string> = {}): Promise<number> {
    const request = requestWith(headers);
    const reading = readBody(request, MAX_BYTES);
    const sent: WeakRef<Buffer>[] = [];
    for (let count = 0; count < chunks; count += 1) {
      // Not from the pool of small buffers, which keeps all of it in memory.
      const chunk = Buffer.alloc(CHUNK_BYTES);
      sent.push(new WeakRef(chunk));
      request.push(chunk);
      await turn();
    }
    collectGarbage();
    const kept = sent.filter((reference) => reference.deref() !== undefined).length;
    send(request);
    await reading;
    return kept * CHUNK_BYTES;
  }

  test('holds no more of a body than the limit, however much is sent', async () => {
    expect(await keptBytes(4)).toBe(MAX_BYTES);
    // The last chunk may still be in the hands of the stream.
    expect(await keptBytes(40)).toBeLessThanOrEqual(MAX_BYTES + CHUNK_BYTES);
  });

  test('holds nothing of an encoded body', async () => {
    expect(await keptBytes(4, { 'content-encoding': 'gzip' })).toBeLessThanOrEqual(CHUNK_BYTES);
  });
});
