/**
 * Records what was refused, without holding up the response: requests and sign-ins.
 *
 * 1. Each actor has at most one entry a minute for each thing that was refused, so that nobody fills the table. Two
 *    things have an entry each: a refused page does not hide a refused capture.
 * 2. The first entry is written at once. Those within its minute are counted, and the entry at the end of the minute
 *    has their number, also if nothing more is refused. A process that stops writes it at once.
 */
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import { MINUTE_MS, SECOND_MS } from '../platform/time.ts';
import type { Refusal } from './domain/entry.ts';
import { recordAudit, recordRefusal } from './recordAudit.ts';

export interface Refusals {
  note(refusal: Refusal): void;
  /** Records what was counted and has no entry yet. */
  close(): Promise<void>;
}

export interface RefusalParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Waits, or until `signal` is aborted. */
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

interface Kept {
  /** The newest one. */
  refusal: Refusal;
  /** Without an entry. */
  attempts: number;
  recordedAtMs: number;
}

/** More than the database's minute, which begins after ours. */
const WINDOW_MS = MINUTE_MS + SECOND_MS;
const EXAMINE_EVERY_MS = 5 * SECOND_MS;
const MAX_KEPT = 10_000;

export function createRefusals({ db, clock, log, sleep }: RefusalParts): Refusals {
  const kept = new Map<string, Kept>();
  const recording = new Set<Promise<void>>();
  const closing = new AbortController();
  let watching: Promise<void> | undefined;

  const record = async (one: Kept): Promise<void> => {
    const { attempts, refusal } = one;
    one.attempts = 0;
    one.recordedAtMs = clock.nowMs();
    try {
      // Another process may have recorded one within the minute.
      if (!(await recordRefusal(db, refusal, attempts))) one.attempts += attempts;
    } catch (error) {
      one.attempts += attempts;
      log.warn({ error, name: refusal.actor.name }, 'audit.refusal_not_recorded');
    }
  };

  const begin = (one: Kept): void => {
    const running = record(one).finally(() => recording.delete(running));
    recording.add(running);
  };

  const examine = (): void => {
    for (const [key, one] of kept) {
      if (clock.nowMs() - one.recordedAtMs < WINDOW_MS) continue;
      if (one.attempts > 0) begin(one);
      else kept.delete(key);
    }
  };

  const watch = async (): Promise<void> => {
    while (kept.size > 0) {
      await sleep(EXAMINE_EVERY_MS, closing.signal);
      if (closing.signal.aborted) return;
      examine();
    }
    watching = undefined;
  };

  const keep = (key: string, refusal: Refusal): Kept => {
    const [oldest] = kept.keys();
    if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    const one = { refusal, attempts: 0, recordedAtMs: Number.NEGATIVE_INFINITY };
    kept.set(key, one);
    return one;
  };

  return {
    note: (refusal) => {
      const key = keyOf(refusal);
      const one = kept.get(key) ?? keep(key, refusal);
      one.refusal = refusal;
      one.attempts += 1;
      if (clock.nowMs() - one.recordedAtMs >= WINDOW_MS) begin(one);
      watching ??= watch();
    },
    close: async () => {
      closing.abort();
      await watching;
      await Promise.all(recording);
      try {
        for (const { refusal, attempts } of kept.values()) {
          const detail = { ...refusal.detail, attempts };
          if (attempts > 0) await recordAudit(db, { ...refusal, detail }, 'refused');
        }
      } catch (error) {
        log.warn({ error }, 'audit.refusal_not_recorded');
      }
    },
  };
}

function keyOf({ action, actor: { kind, name }, subject }: Refusal): string {
  return JSON.stringify([action, kind, name, subject.kind, subject.id]);
}
