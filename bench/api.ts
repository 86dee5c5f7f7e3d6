/** Reads as a shop does: over HTTP, from a console in a process of its own. */
import { randomBytes } from 'node:crypto';
import type { Cleanup } from './cleanup.ts';
import { MERCHANT_ID } from './events.ts';
import { compiled, startLogging } from './processes.ts';

export interface Api {
  /** Gets each path, one after the other. Returns the times in milliseconds, ascending. */
  times(paths: readonly string[]): Promise<readonly number[]>;
  stop(): Promise<void>;
}

export async function startApi(url: string, cwd: string, cleanup: Cleanup): Promise<Api> {
  const { base, token, stop } = await startConsole(url, cwd, cleanup);
  const get = async (path: string): Promise<number> => {
    const startMs = performance.now();
    const response = await fetch(base + path, { headers: { authorization: `Bearer ${token}` } });
    const body = await response.text();
    if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${body}`);
    return performance.now() - startMs;
  };
  return {
    times: async (paths) => {
      const all: number[] = [];
      for (const path of paths) all.push(await get(path));
      return all.sort((a, b) => a - b);
    },
    stop,
  };
}

export interface StartedConsole {
  /** The address of its port, without a path. */
  readonly base: string;
  /** `ADMIN_TOKEN`, which has every right. */
  readonly token: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a console that reads the ledger at `url`, in a process of its own. */
export async function startConsole(
  url: string,
  cwd: string,
  cleanup: Cleanup,
): Promise<StartedConsole> {
  const token = randomBytes(24).toString('hex');
  const { ready, pid, stop } = await startLogging(
    {
      name: 'console',
      file: compiled('workers/console.js'),
      env: { ...settings(url), ADMIN_PORT: '0', ADMIN_TOKEN: token },
      cwd,
      cleanup,
    },
    'console.listening',
  );
  return { base: `http://127.0.0.1:${ready?.port}`, token, pid, stop };
}

/** The settings of a process that reads the ledger at `url`. */
export function settings(url: string): Record<string, string> {
  return {
    DATABASE_URL: url,
    PAYMENTS_MERCHANT_ID: MERCHANT_ID,
    WEBHOOK_SECRETS: '0123456789abcdef'.repeat(2),
    ADMIN_TOKEN: '0123456789abcdef'.repeat(2),
  };
}
