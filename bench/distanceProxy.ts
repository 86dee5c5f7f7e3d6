/**
 * A server at a distance: forwards to 127.0.0.1 and holds back what the server sends for the time of a
 * round trip. A process of its own, so that it takes no time from what is measured; delaying one
 * direction only takes half the timers, and a client that waits for results notices no difference.
 */
import { connect, createServer, type Socket } from 'node:net';

const { SERVER_PORT, ROUND_TRIP_MS } = process.env;
const roundTripMs = Number(ROUND_TRIP_MS);
/** Node's timers are not more precise; the rest of a wait is spent in the event loop. */
const TIMER_PRECISION_MS = 1.5;

interface Held {
  readonly dueMs: number;
  readonly chunk: Buffer;
  readonly to: Socket;
}

/** Oldest first, for all connections: each waits equally long. */
const held: Held[] = [];
let isRunning = false;

function release(): void {
  const nowMs = performance.now();
  let first = held[0];
  while (first && first.dueMs <= nowMs) {
    if (!first.to.destroyed) first.to.write(first.chunk);
    held.shift();
    first = held[0];
  }
  isRunning = first !== undefined;
  if (!first) return;
  const waitMs = first.dueMs - nowMs;
  if (waitMs > TIMER_PRECISION_MS) setTimeout(release, waitMs - TIMER_PRECISION_MS);
  else setImmediate(release);
}

const server = createServer((client) => {
  const upstream = connect({ host: '127.0.0.1', port: Number(SERVER_PORT), noDelay: true });
  client.setNoDelay(true);
  client.pipe(upstream);
  upstream.on('data', (chunk: Buffer) => {
    held.push({ dueMs: performance.now() + roundTripMs, chunk, to: client });
    if (!isRunning) {
      isRunning = true;
      release();
    }
  });
  upstream.on('close', () => client.destroy());
  client.on('close', () => upstream.destroy());
  client.on('error', () => upstream.destroy());
  upstream.on('error', () => client.destroy());
});

process.on('SIGTERM', () => process.exit(0));
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.send?.({ port: address.port });
});
