/**
 * Open pages of the console, in a process of their own. Each does over HTTP what `console.js` does in a
 * browser: waits for news, fetches its page again, pauses.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { inChunks } from '../../src/platform/collections.ts';
import type { FromViewers, Seen, ToViewers, Watch } from './protocol.ts';

/** As in `console.js`. */
const PAUSE_MS = 2_000;
const BUSY_PAUSE_MS = 5_000;
const MAX_AGE_MS = 60_000;
const MORE_MS = 250;
const OPENED_AT_ONCE = 10;

interface Live {
  readonly place: string;
  readonly topics: readonly string[];
}

interface Page {
  readonly base: string;
  readonly cookie: string;
  readonly path: string;
}

interface Following {
  readonly seen: { fetched: number; readonly failures: Set<string> };
  readonly signal: AbortSignal;
}

class Viewer {
  readonly #base: string;
  readonly #path: string;
  readonly #cookie: string;
  #live: Live = { place: '', topics: [] };
  #fetchedMs = 0;

  constructor({ base, cookie, path }: Page) {
    this.#base = base;
    this.#cookie = cookie;
    this.#path = path;
  }

  /** Time in which nobody looked at the page does not make it older. */
  skip(elapsedMs: number): void {
    this.#fetchedMs += elapsedMs;
  }

  async open(signal?: AbortSignal): Promise<void> {
    this.#live = liveOf(await this.#get(this.#path, signal));
    this.#fetchedMs = performance.now();
  }

  async follow({ seen, signal }: Following): Promise<void> {
    while (!signal.aborted) {
      try {
        if (await this.#isFresh(signal)) await pause(MORE_MS, signal);
        else {
          const pauseMs = await this.#fetchAgain(signal);
          seen.fetched += 1;
          await pause(pauseMs, signal);
        }
      } catch (error) {
        if (signal.aborted) return;
        seen.failures.add(String(error));
        await pause(PAUSE_MS, signal);
      }
    }
  }

  async #isFresh(signal: AbortSignal): Promise<boolean> {
    const query = new URLSearchParams({ place: this.#live.place });
    for (const topic of this.#live.topics) query.append('topic', topic);
    const news = JSON.parse(await this.#get(`/live?${query}`, signal)) as {
      readonly outcome: string;
    };
    return news.outcome !== 'moved' && performance.now() - this.#fetchedMs < MAX_AGE_MS;
  }

  /** @returns how long to pause */
  async #fetchAgain(signal: AbortSignal): Promise<number> {
    const isBusy = performance.now() - this.#fetchedMs < BUSY_PAUSE_MS;
    await this.open(signal);
    return isBusy ? BUSY_PAUSE_MS : PAUSE_MS;
  }

  async #get(path: string, signal: AbortSignal | undefined): Promise<string> {
    const headers = { cookie: this.#cookie, 'x-live': '1' };
    const init = { headers, redirect: 'manual', signal: signal ?? null } as const;
    let response = await fetch(this.#base + path, init).catch(() => undefined);
    // As a browser does if the connection that it kept was closed, or timed out, meanwhile.
    if (response === undefined || response.status === 408) {
      await response?.text();
      response = await fetch(this.#base + path, init);
    }
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path} returned ${response.status}`);
    return text;
  }
}

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return sleep(delayMs, undefined, { signal }).catch(() => undefined);
}

function liveOf(html: string): Live {
  const [, topics, place] = /data-live="([^"]*)" data-live-place="([^"]*)"/.exec(html) ?? [];
  if (topics === undefined || place === undefined) throw new Error('the page has no live part');
  return { place, topics: JSON.parse(topics.replaceAll('&quot;', '"')) as string[] };
}

/** One session, as many tabs have. */
async function signIn(base: string, token: string): Promise<string> {
  const body = new URLSearchParams({ token });
  const response = await fetch(`${base}/sign-in`, { method: 'POST', body, redirect: 'manual' });
  if (response.status !== 303) throw new Error(`the sign-in returned ${response.status}`);
  return response.headers.getSetCookie().map((set) => set.split(';')[0])[0] ?? '';
}

async function open({ port, token, paths }: Watch): Promise<readonly Viewer[]> {
  const base = `http://127.0.0.1:${port}`;
  const cookie = await signIn(base, token);
  const viewers = paths.map((path) => new Viewer({ base, cookie, path }));
  for (const batch of inChunks(viewers, OPENED_AT_ONCE)) {
    await Promise.all(batch.map((viewer) => viewer.open()));
  }
  return viewers;
}

const send = (message: FromViewers): void => {
  process.send?.(message);
};

let viewers: readonly Viewer[] = [];
let rest: () => Promise<Seen> = async () => ({ fetched: 0, failures: [] });
let restedMs: number | undefined;

function follow(): void {
  const skippedMs = performance.now() - (restedMs ?? performance.now());
  for (const viewer of viewers) viewer.skip(skippedMs);
  const ended = new AbortController();
  const seen = { fetched: 0, failures: new Set<string>() };
  const all = viewers.map((viewer) => viewer.follow({ seen, signal: ended.signal }));
  rest = async () => {
    ended.abort();
    await Promise.all(all);
    restedMs = performance.now();
    return { fetched: seen.fetched, failures: [...seen.failures] };
  };
}

process.on('message', async (message: ToViewers) => {
  switch (message.type) {
    case 'open':
      viewers = await open(message.watch);
      return send({ type: 'opened' });
    case 'follow':
      follow();
      return send({ type: 'following' });
    case 'rest':
      return send({ type: 'resting', seen: await rest() });
  }
});
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));
send({ type: 'started' });
