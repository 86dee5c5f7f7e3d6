/**
 * Ports for servers of tests, below those that the system gives to outgoing connections (from 32768): one of these could
 * take the port of a server while a test restarts it. Each worker of the tests has a range of its own, so no two choose
 * the same port before their servers listen.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const FIRST = 16_000;
const RANGE = 2_000;
const RANGES = 8;

const first = FIRST + (Number(process.env.VITEST_POOL_ID ?? 0) % RANGES) * RANGE;
let last = randomInt(RANGE);

/** A port of 127.0.0.1 at which nothing listens. */
export async function serverPort(): Promise<number> {
  for (let tried = 0; tried < RANGE; tried += 1) {
    last = (last + 1) % RANGE;
    // Another call may choose a port meanwhile.
    const port = first + last;
    if (await isFree(port)) return port;
  }
  throw new Error(`all ports from ${first} to ${first + RANGE - 1} are taken`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      probe.close(() => resolve(true));
    });
  });
}
