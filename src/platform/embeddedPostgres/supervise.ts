/**
 * Restarts a server that ends while it is in use. No one else restarts a postmaster that was killed,
 * for example on a machine that is out of memory.
 *
 * V1 The server restarts on its port, because every connection string in use names it. One of the
 *    processes that use it starts it, and the others attach.
 * V2 After five restarts in ten minutes, or when it cannot start, supervision ends with the reason: a
 *    process without its database must not look healthy.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { toError } from '../errors.ts';
import { EmbeddedPostgresError, lastLines } from './errors.ts';

export interface Supervised {
  /** For messages. */
  readonly name: () => string;
  readonly isRunning: () => boolean;
  /** Starts or attaches to the server again. @throws when it does not start, or has another port */
  readonly restart: () => Promise<void>;
  /** The server's log. */
  readonly log: () => string;
  readonly warn: (message: string) => void;
}

const CHECK_EVERY_MS = 1_000;
const MAX_RESTARTS = 5;
const RESTART_WINDOW_MS = 10 * 60_000;

/** Resolves when `signal` is aborted. @throws EmbeddedPostgresError after the last restart attempt */
export async function supervise(server: Supervised, signal: AbortSignal): Promise<void> {
  let restartsMs: number[] = [];
  while (await sleepUnreferenced(CHECK_EVERY_MS, signal)) {
    if (server.isRunning()) continue;
    const nowMs = performance.now();
    restartsMs = [
      ...restartsMs.filter((startedMs) => startedMs > nowMs - RESTART_WINDOW_MS),
      nowMs,
    ];
    if (restartsMs.length > MAX_RESTARTS) throw serverLost(server);
    server.warn(`${server.name()} ended while it was in use; restarting it`);
    try {
      await server.restart();
      server.warn(`${server.name()} is running again`);
    } catch (error) {
      if (restartsMs.length === MAX_RESTARTS) throw serverLost(server, toError(error));
      server.warn(`the restart failed: ${toError(error).message}`);
      // The cause, such as an orphan or a full disk, may need more time to resolve.
      await sleepUnreferenced(restartsMs.length * CHECK_EVERY_MS, signal);
    }
  }
}

/** @returns false when the signal is aborted */
async function sleepUnreferenced(ms: number, signal: AbortSignal): Promise<boolean> {
  // Unreferenced, so that supervision does not keep the process running.
  await delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
  return !signal.aborted;
}

function serverLost(server: Supervised, cause?: Error): EmbeddedPostgresError {
  const why =
    cause === undefined ? `Its log ends with:\n${lastLines(server.log())}` : cause.message;
  return new EmbeddedPostgresError(
    'server_lost',
    `${server.name()} ended ${MAX_RESTARTS} times in ten minutes and is not restarted. Without it, Tallyhook ` +
      `cannot store events. ${why}`,
    { cause },
  );
}
