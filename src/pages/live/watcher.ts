/**
 * Knows which topics moved, for every open page of this process.
 *
 * 1. While somebody watches, one statement a second reads the versions of all watched topics (a tick).
 *    Otherwise nothing is read.
 * 2. A page was read at a place: the process and its last tick before. A topic moved for it if a later
 *    tick saw another version, or if the topic was first read later, since nobody knows then. So a page
 *    is fetched once too often at times, and never too rarely.
 * 3. A place of another process, such as the one before a restart, always counts as moved.
 * 4. Requests wait here for up to twenty seconds, so an open page without news costs three requests a
 *    minute. They end at once when the process stops.
 * 5. Reading and rendering for open pages takes at most a thirty-third of the time in the long run, so
 *    that viewers of a busy shop do not take the processor time that applies events: their pages are
 *    seconds behind instead. Pages that follow the same topics are notified together, because most of
 *    them share what is rendered; those that were read first are first. After a pause there is an
 *    allowance for some dozen pages at once; after many pages that people opened themselves, open pages
 *    wait ten seconds.
 */
import { randomUUID } from 'node:crypto';
import { SECOND_MS } from '../../platform/time.ts';
import { createAllowance } from './allowance.ts';
import { LIST_TOPICS, type Topic } from './topics.ts';

/** Where a page was read: `PROCESS.TICK`. */
export type Place = string;

export type News =
  | { readonly outcome: 'moved' | 'same' }
  /** The versions cannot be read, or too much is watched: nobody knows whether the page is current. */
  | { readonly outcome: 'unknown' };

export interface Watcher {
  /** The place of a page that is read from now on. */
  place(): Place;
  /** Whether one of the topics moved since the page at this place was read. */
  hasMoved(topics: readonly Topic[], place: Place): boolean;
  /** Waits until one of the topics moves, the wait is over, or `signal` is aborted. */
  wait(topics: readonly Topic[], place: Place, signal: AbortSignal): Promise<News>;
  /** Counts the time that an open page took (5). */
  spend(elapsedMs: number): void;
  close(): Promise<void>;
}

export interface WatcherParts {
  readonly read: (topics: readonly Topic[]) => Promise<ReadonlyMap<string, string>>;
  readonly onFailure: (error: unknown) => void;
  readonly monotonicMs: () => number;
  /** Waits between two ticks, or until `signal` is aborted. */
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

const TICK_MS = SECOND_MS;
const WAIT_MS = 20 * SECOND_MS;
/** Longer than a wait and the pause after it, so that an open page keeps its topics. */
const WATCHED_MS = 60 * SECOND_MS;
const MAX_ITEMS = 2_000;

interface Watched {
  version: string | undefined;
  firstTick: number;
  movedTick: number;
  wantedAtMs: number;
}

export function createWatcher({ read, onFailure, monotonicMs, sleep }: WatcherParts): Watcher {
  const life = randomUUID();
  const closing = new AbortController();
  const watched = new Map<Topic, Watched>();
  const waiting = new Set<Waiter>();
  let tick = 0;
  const allowance = createAllowance(monotonicMs);
  let isFailing = false;
  let running: Promise<void> | undefined;

  const forgetUnwatched = (): void => forgetBefore(watched, monotonicMs() - WATCHED_MS);

  const readOnce = async (): Promise<void> => {
    const topics = [...watched.keys()];
    const versions = await read(topics);
    tick += 1;
    allowance.renew();
    for (const topic of topics) {
      const one = watched.get(topic);
      if (one) note(one, { version: versions.get(topic) ?? '', tick });
    }
  };

  const run = async (): Promise<void> => {
    for (forgetUnwatched(); watched.size > 0; forgetUnwatched()) {
      try {
        await readOnce();
        isFailing = false;
      } catch (error) {
        if (!isFailing) onFailure(error);
        isFailing = true;
      }
      const oldestFirst = [...waiting].toSorted((a, b) => a.readTick - b.readTick);
      for (const { look } of oldestFirst) look();
      await sleep(TICK_MS, closing.signal);
      if (closing.signal.aborted) break;
    }
    running = undefined;
  };

  /** @returns false if too much is watched */
  const watch = (topics: readonly Topic[]): boolean => {
    if (closing.signal.aborted) return false;
    const isNew = topics.some((topic) => !watched.has(topic));
    if (isNew && watched.size >= MAX_ITEMS) return false;
    const wantedAtMs = monotonicMs();
    for (const topic of [...LIST_TOPICS, ...topics]) {
      const one = watched.get(topic);
      if (one) one.wantedAtMs = wantedAtMs;
      else
        watched.set(topic, { version: undefined, firstTick: Infinity, movedTick: 0, wantedAtMs });
    }
    running ??= run();
    return true;
  };

  const hasMoved = (topics: readonly Topic[], place: Place): boolean => {
    const since = tickOf(place, life);
    return topics.some((topic) => {
      const one = watched.get(topic);
      return !one || Math.max(one.movedTick, one.firstTick) > since;
    });
  };

  /** Undefined while nothing is known, nothing moved, or others are notified first (5). */
  const newsOf = (topics: readonly Topic[], place: Place): News | undefined => {
    if (isFailing) return { outcome: 'unknown' };
    watch(topics);
    const isRead = topics.every((topic) => watched.get(topic)?.version !== undefined);
    if (!isRead || !hasMoved(topics, place)) return undefined;
    return allowance.admits(topics.join(' ')) ? { outcome: 'moved' } : undefined;
  };

  return {
    place: () => `${life}.${tick}`,
    hasMoved,
    wait: (topics, place, signal) => {
      if (!watch(topics)) return Promise.resolve({ outcome: 'unknown' });
      const ended = AbortSignal.any([signal, closing.signal]);
      const readTick = tickOf(place, life);
      return waitForNews({ find: () => newsOf(topics, place), readTick, waiting, ended });
    },
    spend: allowance.spend,
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

/** The tick before a page was read; before all others if another process read it. */
function tickOf(place: Place, life: string): number {
  const [placeLife, placeTick] = place.split('.');
  return placeLife === life ? Number(placeTick) : -1;
}

function forgetBefore(watched: Map<Topic, Watched>, beforeMs: number): void {
  for (const [topic, { wantedAtMs }] of watched) {
    if (wantedAtMs < beforeMs) watched.delete(topic);
  }
}

function note(
  one: Watched,
  { version, tick }: { readonly version: string; readonly tick: number },
) {
  if (one.version === undefined) one.firstTick = tick;
  else if (one.version !== version) one.movedTick = tick;
  one.version = version;
}

/** A request that waits. */
interface Waiter {
  /** When its page was read. */
  readonly readTick: number;
  readonly look: () => void;
}

interface Wait {
  /** Undefined while there is no news. */
  readonly find: () => News | undefined;
  readonly readTick: number;
  readonly waiting: Set<Waiter>;
  readonly ended: AbortSignal;
}

/** Looks now and after each tick, until there is news or the wait is over. */
function waitForNews({ find, readTick, waiting, ended }: Wait): Promise<News> {
  return new Promise((resolve) => {
    const finish = (news: News): void => {
      waiting.delete(waiter);
      clearTimeout(timer);
      ended.removeEventListener('abort', stop);
      resolve(news);
    };
    const look = (): void => {
      const news = find();
      if (news) finish(news);
    };
    const waiter: Waiter = { readTick, look };
    const stop = (): void => finish({ outcome: 'unknown' });
    const timer = setTimeout(() => finish({ outcome: 'same' }), WAIT_MS);
    ended.addEventListener('abort', stop);
    waiting.add(waiter);
    if (ended.aborted) stop();
    else look();
  });
}
