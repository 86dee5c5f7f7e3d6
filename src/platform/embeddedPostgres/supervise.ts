/**
 * Starts a server again that ends while it is used: a postmaster that was killed, as by a machine
 * short of memory, comes back by nobody else.
 *
 * V1 The server comes back on its port, because every connection string in use names it. Of several
 *    processes that use it one starts it, and the others find it.
 * V2 After five starts in ten minutes, or where it cannot start, it is given up with the reason:
 *    a process without its database must not look alive.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { toError } from '../errors.ts';
import { EmbeddedPostgresError, lastLines } from './errors.ts';

export interface Supervised {
  /** For messages. */
  readonly name: () => string;
  readonly isRunning: () => boolean;
  /** Reaches the server again. @throws where it does not start, or has another port */
  readonly restart: () => Promise<void>;
  /** The end of what the server wrote. */
  readonly log: () => string;
  readonly warn: (message: string) => void;
}

const LOOK_EVERY_MS = 1_000;
const MAX_RESTARTS = 5;
const WITHIN_MS = 10 * 60_000;

/** Resolves when `signal` ends it. @throws EmbeddedPostgresError when the server is given up */
export async function supervise(server: Supervised, signal: AbortSignal): Promise<void> {
  let restartsMs: number[] = [];
  while (await rest(LOOK_EVERY_MS, signal)) {
    if (server.isRunning()) continue;
    const nowMs = performance.now();
    restartsMs = [...restartsMs.filter((startedMs) => startedMs > nowMs - WITHIN_MS), nowMs];
    if (restartsMs.length > MAX_RESTARTS) throw givenUp(server);
    server.warn(`${server.name()} ended while it was used; starting it again`);
    try {
      await server.restart();
      server.warn(`${server.name()} runs again`);
    } catch (error) {
      if (restartsMs.length === MAX_RESTARTS) throw givenUp(server, toError(error));
      server.warn(`the start failed: ${toError(error).message}`);
      // Whatever is in the way, as an orphan or a full disk, may need longer each time.
      await rest(restartsMs.length * LOOK_EVERY_MS, signal);
    }
  }
}

/** @returns false when it was ended by the signal */
async function rest(ms: number, signal: AbortSignal): Promise<boolean> {
  // Unreferenced: looking at the server keeps nobody alive.
  await delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
  return !signal.aborted;
}

function givenUp(server: Supervised, cause?: Error): EmbeddedPostgresError {
  const why =
    cause === undefined ? `Its log ends with:\n${lastLines(server.log())}` : cause.message;
  return new EmbeddedPostgresError(
    'server_lost',
    `${server.name()} ended ${MAX_RESTARTS} times in ten minutes and is not started again; without it nothing ` +
      `can be stored. ${why}`,
    { cause },
  );
}
