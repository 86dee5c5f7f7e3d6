/** How a server closes: what moved money must be recorded, and who stalls must not hold it up. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { type HttpServer, startHttpServer } from '../../../src/platform/httpServer.ts';
import { waitFor } from '../../support/waitFor.ts';

const sockets: Socket[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Opens a connection, and sends the beginning of a request or all of it. */
async function send(port: number, text: string) {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  const received = { text: '', isClosed: false };
  socket.on('data', (chunk) => {
    received.text += String(chunk);
  });
  socket.on('error', () => undefined);
  socket.once('close', () => {
    received.isClosed = true;
  });
  await once(socket, 'connect');
  socket.write(text);
  return received;
}

const COMPLETE = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n1';
const INCOMPLETE = COMPLETE.slice(0, -1);
const HEADERS_ONLY = 'POST / HTTP/1.1\r\nHost:';

async function start(): Promise<{ server: HttpServer; begun: () => number; respond: () => void }> {
  let begun = 0;
  const responses: (() => void)[] = [];
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    portSetting: 'PORT',
    finishesRequests: true,
    handler: (request, response) => {
      request.resume();
      begun += 1;
      responses.push(() => response.end('recorded'));
    },
  });
  return { server, begun: () => begun, respond: () => responses.forEach((end) => void end()) };
}

test('a request that arrived gets its response, and connections that stall are closed before', async () => {
  const { server, begun, respond } = await start();
  const moving = await send(server.port, COMPLETE);
  const stalled = await Promise.all([
    send(server.port, INCOMPLETE),
    send(server.port, HEADERS_ONLY),
    send(server.port, ''),
  ]);
  await waitFor('two requests', () => begun() === 2);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const closed = server.close();
  vi.advanceTimersByTime(10_000);
  vi.useRealTimers();
  await waitFor('those that stall', () => stalled.every(({ isClosed }) => isClosed));
  expect(moving.isClosed).toBe(false);
  respond();
  await closed;
  await waitFor('the response', () => moving.isClosed);
  expect(moving.text).toMatch(/200 OK.*recorded/s);
});

test('a response that takes too long does not keep the process', async () => {
  const { server, begun } = await start();
  const hanging = await send(server.port, COMPLETE);
  await waitFor('the request', () => begun() === 1);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const closed = server.close();
  vi.advanceTimersByTime(20_000);
  vi.useRealTimers();
  await closed;
  await waitFor('the end of the connection', () => hanging.isClosed);
  expect(hanging.text).toBe('');
});
