import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { post } from '../../../src/notify/channels/post.ts';

/** Ends a test that would wait forever. */
const PATIENCE_MS = 600_000;
const DELIVERED = { outcome: 'delivered', response: 'HTTP 200' };

async function startReceiver(respond: RequestListener): Promise<{ url: string; server: Server }> {
  const server = createServer(respond).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

const send = (url: string) =>
  post({
    url,
    body: '{"amount":"12 €"}',
    headers: { 'webhook-id': 'msg_1' },
    timeoutMs: PATIENCE_MS,
  });

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

test('a message arrives whole, with its headers', async () => {
  const bodies: string[] = [];
  const { url } = await startReceiver(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    bodies.push(Buffer.concat(chunks).toString());
    expect(request.headers).toMatchObject({
      'webhook-id': 'msg_1',
      'content-type': 'application/json',
      'user-agent': 'tallyhook',
      'content-length': '19',
    });
    response.end();
  });
  expect(await send(url)).toEqual(DELIVERED);
  expect(bodies).toEqual(['{"amount":"12 €"}']);
});

test('the messages of a burst share a connection', async () => {
  let connections = 0;
  const { server, url } = await startReceiver((_request, response) => {
    response.end('accepted');
  });
  server.on('connection', () => {
    connections += 1;
  });
  for (let sent = 0; sent < 5; sent += 1) expect(await send(url)).toEqual(DELIVERED);
  expect(connections).toBe(1);
});

test('a kept connection that the receiver closes when it is used again costs no attempt', async () => {
  const used = new WeakSet<Socket>();
  const { url } = await startReceiver(({ socket }, response) => {
    if (used.has(socket)) socket.destroy();
    else response.end();
    used.add(socket);
  });
  for (let sent = 0; sent < 3; sent += 1) expect(await send(url)).toEqual(DELIVERED);
});

test('a response that never ends counts by its status, and ends with its connection', async () => {
  const closed = new AbortController();
  const { url } = await startReceiver((_request, response) => {
    const chunk = Buffer.alloc(16 * 1024);
    const write = () => {
      while (response.write(chunk)) {}
    };
    response.on('drain', write).on('close', () => closed.abort());
    write();
  });
  expect(await send(url)).toEqual(DELIVERED);
  await aborted(closed.signal);
});

test('a response that breaks after its status counts by its status', async () => {
  const { url } = await startReceiver((request, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('half of it', () => request.socket.destroy());
  });
  expect(await send(url)).toEqual(DELIVERED);
});

test('a body that does not follow its headers in time ends with its connection', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const closed = new AbortController();
  const { url } = await startReceiver((_request, response) => {
    response.on('close', () => closed.abort());
    response.writeHead(200, { 'content-length': 100 }).flushHeaders();
  });
  expect(await send(url)).toEqual(DELIVERED);
  expect(closed.signal.aborted).toBe(false);
  vi.advanceTimersByTime(PATIENCE_MS);
  await aborted(closed.signal);
});

test('the result of a message without a response has the reason, and no address', async () => {
  const { server, url } = await startReceiver((request) => {
    if (request.headers['webhook-id'] === 'msg_1') request.socket.destroy();
  });
  expect(await send(url)).toEqual({
    outcome: 'unavailable',
    response: 'no connection: ECONNRESET',
  });
  const silent = { url, body: '{}', headers: {}, timeoutMs: 50 };
  expect(await post(silent)).toEqual({
    outcome: 'unavailable',
    response: 'no response within 0.05 s',
  });
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  expect(await send(url)).toEqual({
    outcome: 'unavailable',
    response: 'no connection: ECONNREFUSED',
  });
});
