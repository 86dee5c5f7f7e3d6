/** Commands that follow the inbox until they are stopped: `tail` and `listen`. */
import type { Command } from 'commander';
import { createInboxFollower, type FollowQuery } from '../ledger/read/followInbox.ts';
import { resolveOrder } from '../ledger/read/orders.ts';
import type { EventSummary } from '../ledger/read/store/parts.ts';
import { monotonicMs } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { isDatabaseUnavailable } from '../platform/db/failures.ts';
import { toError, UsageError } from '../platform/errors.ts';
import { createLog } from '../platform/log.ts';
import { runUntilSignal } from '../platform/shutdown.ts';
import { sleep } from '../platform/sleep.ts';
import { createTokenCheck } from './authorize.ts';
import { readConfig } from './context.ts';
import { typeOption } from './eventOptions.ts';
import { printNote, terminal } from './invocation.ts';
import { unknownId } from './unknownId.ts';

export function addFollowOptions(command: Command): Command {
  return command
    .addOption(typeOption())
    .option('--order <id>', 'only events that brought something new about this order');
}

/** The database, and when to stop. */
export interface Follow {
  readonly db: Database;
  readonly signal: AbortSignal;
  /** Repeats a read while the installation cannot be reached. */
  readonly read: RepeatedRead;
}

type RepeatedRead = <T>(work: () => Promise<T>) => Promise<T>;

export interface Followed {
  /** The last event that was in the inbox at the start. */
  readonly newest: number;
  /** Every event of the query from then on, until the command is stopped. */
  readonly events: AsyncIterable<EventSummary>;
  /** Events through this number may have been in `events` before; 0 unless there was a failover. */
  readonly repeatsThrough: () => number;
}

const FAILED_OVER =
  'The database was failed over. Its last events may have other numbers now, so some events follow again.';
const POLL_MS = 200;
const SETTLE_MS = 20;
/** Events that are read at once, without their bodies. */
const PAGE = 100;

/**
 * Follows the inbox after a number, or from the next event on.
 * @throws UsageError if the inbox ends before the number
 */
export async function followEvents(
  { db, signal, read }: Follow,
  query: FollowQuery,
  after: number | undefined,
): Promise<Followed> {
  const inbox = createInboxFollower(db, query);
  const checkToken = createTokenCheck(db, readConfig());
  let start = await inbox.start(after);
  while (start.outcome === 'unsettled') {
    await sleep(SETTLE_MS, signal);
    signal.throwIfAborted();
    start = await read(() => inbox.start(after));
  }
  const { newest } = start;
  if (after !== undefined && after > newest) {
    throw new UsageError(
      `The inbox ends at event ${newest}, before ${after}. Check --after, and that the settings name the same installation.`,
    );
  }
  const { order } = query;
  if (order !== undefined) await read(() => noteUnknownOrder(db, order));
  async function* events(): AsyncGenerator<EventSummary> {
    let repeatsThrough = 0;
    for (;;) {
      signal.throwIfAborted();
      const page = await read(() => inbox.next(PAGE));
      if (inbox.repeatsThrough() > repeatsThrough) printNote(FAILED_OVER);
      repeatsThrough = inbox.repeatsThrough();
      yield* page.events;
      if (!page.hasMore) await sleep(POLL_MS, signal);
      await read(checkToken);
    }
  }
  return { newest, events: events(), repeatsThrough: inbox.repeatsThrough };
}

/** Not an error: the order's first event may be yet to come. */
async function noteUnknownOrder(db: Database, id: string): Promise<void> {
  if (await resolveOrder(db, { id })) return;
  const message = `No order is known as ${id} yet. Its events follow when there are some.`;
  printNote((await unknownId(db, { id, kinds: ['order'], message })).message);
}

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5_000;

/** The delay before the next attempt of what was unreachable. */
export function nextDelayMs(delayMs: number | undefined, longestMs = LONGEST_DELAY_MS): number {
  return Math.min(delayMs === undefined ? FIRST_DELAY_MS : 2 * delayMs, longestMs);
}

/** Repeats a read for as long as the database is unavailable, and prints when that begins and ends. */
function createRepeatedRead(signal: AbortSignal): RepeatedRead {
  return async (work) => {
    signal.throwIfAborted();
    let tried = await tryRead(work);
    if ('value' in tried) return tried.value;
    printNotConnected(tried.unavailable);
    const sinceMs = monotonicMs();
    let delayMs: number | undefined;
    do {
      delayMs = nextDelayMs(delayMs);
      await sleep(delayMs, signal);
      signal.throwIfAborted();
      tried = await tryRead(work);
    } while (!('value' in tried));
    printConnected(sinceMs);
    return tried.value;
  };
}

type Tried<T> = { readonly value: T } | { readonly unavailable: unknown };

async function tryRead<T>(work: () => Promise<T>): Promise<Tried<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    if (isDatabaseUnavailable(error)) return { unavailable: error };
    throw error;
  }
}

function printNotConnected(error: unknown): void {
  const why = toError(error).message;
  printNote(`NOT CONNECTED to the installation (${why}). Repeating until it is.`);
}

function printConnected(sinceMs: number): void {
  const seconds = Math.round((monotonicMs() - sinceMs) / 1000);
  printNote(`Connected again after ${seconds} s. No event is skipped.`);
}

/** Runs until a signal stops it, the reader of its output leaves, or it fails. */
export async function untilStopped(
  work: (parts: Pick<Follow, 'signal' | 'read'>) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const leave = () => stop.abort();
  const { stdout } = terminal();
  stdout.once('error', leave);
  const start = () => {
    const { signal } = stop;
    const ended = work({ signal, read: createRepeatedRead(signal) });
    const close = async () => {
      stop.abort();
      await ended.catch(() => undefined);
    };
    return Promise.resolve({ ended, close });
  };
  await runUntilSignal(start, createLog('silent')).finally(() => stdout.off('error', leave));
}

/** Handles each event until the command is stopped. */
export async function forEachEvent(
  { signal }: Pick<Follow, 'signal'>,
  events: AsyncIterable<EventSummary>,
  handle: (event: EventSummary) => Promise<void>,
): Promise<void> {
  try {
    for await (const event of events) await handle(event);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
