/**
 * Open pages of the console, in a process of their own. Each does over HTTP what `console.js` does in a
 * browser: waits for news, fetches its page again, pauses.
 */
import { setTimeout as sleep } from 'node:timers/promises';
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

class Viewer {
  readonly #base: string;
  readonly #path: string;
  readonly #cookie: string;
  readonly #ended: AbortSignal;
  readonly #counts: { fetched: number; failed: number };
  #live: Live = { place: '', topics: [] };
  #fetchedMs = 0;

  constructor(
    {
      base,
      cookie,
      path,
    }: { readonly base: string; readonly cookie: string; readonly path: string },
    ended: AbortSignal,
    counts: { fetched: number; failed: number },
  ) {
    this.#base = base;
    this.#cookie = cookie;
    this.#path = path;
    this.#ended = ended;
    this.#counts = counts;
  }

  async open(): Promise<void> {
    this.#live = liveOf(await this.#get(this.#path));
    this.#fetchedMs = performance.now();
  }

  async follow(): Promise<void> {
    while (!this.#ended.aborted) {
      try {
        await this.#pause((await this.#isFresh()) ? MORE_MS : await this.#fetchAgain());
      } catch {
        if (this.#ended.aborted) return;
        this.#counts.failed += 1;
        await this.#pause(PAUSE_MS);
      }
    }
  }

  async #isFresh(): Promise<boolean> {
    const query = new URLSearchParams({ place: this.#live.place });
    for (const topic of this.#live.topics) query.append('topic', topic);
    const news = JSON.parse(await this.#get(`/live?${query}`)) as { readonly outcome: string };
    return news.outcome !== 'moved' && performance.now() - this.#fetchedMs < MAX_AGE_MS;
  }

  /** @returns how long to pause */
  async #fetchAgain(): Promise<number> {
    const isBusy = performance.now() - this.#fetchedMs < BUSY_PAUSE_MS;
    await this.open();
    this.#counts.fetched += 1;
    return isBusy ? BUSY_PAUSE_MS : PAUSE_MS;
  }

  async #get(path: string): Promise<string> {
    const headers = { cookie: this.#cookie, 'x-live': '1' };
    const init = { headers, redirect: 'manual', signal: this.#ended } as const;
    const response = await fetch(this.#base + path, init);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path} returned ${response.status}`);
    return text;
  }

  #pause(delayMs: number): Promise<void> {
    return sleep(delayMs, undefined, { signal: this.#ended }).catch(() => undefined);
  }
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

interface Watching {
  end(): Promise<Seen>;
}

async function watch({ port, token, paths }: Watch): Promise<Watching> {
  const base = `http://127.0.0.1:${port}`;
  const cookie = await signIn(base, token);
  const ended = new AbortController();
  const counts = { fetched: 0, failed: 0 };
  const viewers = paths.map((path) => new Viewer({ base, cookie, path }, ended.signal, counts));
  for (let n = 0; n < viewers.length; n += OPENED_AT_ONCE) {
    await Promise.all(viewers.slice(n, n + OPENED_AT_ONCE).map((viewer) => viewer.open()));
  }
  const all = Promise.all(viewers.map((viewer) => viewer.follow()));
  return {
    end: async () => {
      ended.abort();
      await all;
      return counts;
    },
  };
}

const send = (message: FromViewers): void => {
  process.send?.(message);
};

let watching: Watching | undefined;
process.on('message', async (message: ToViewers) => {
  if (message.type === 'watch') {
    watching = await watch(message.watch);
    send({ type: 'watching' });
    return;
  }
  const seen = (await watching?.end()) ?? { fetched: 0, failed: 0 };
  send({ type: 'ended', seen });
});
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));
send({ type: 'started' });
