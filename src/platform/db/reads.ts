/**
 * Reads that may be some seconds old, from a standby, so that they take nothing from the primary.
 *
 * 1. A standby is used while it is proven to have everything that the primary had committed ten seconds ago.
 *    The proof is a position in the primary's log that was read then and that the standby has replayed; the
 *    clocks of the servers decide nothing.
 * 2. It must also have everything that this process wrote before, as far as `wrote` was called.
 * 3. A position proves nothing in another history: system and timeline must be those of the primary. A standby
 *    that follows a new primary is used again once it records that timeline.
 * 4. A statement that fails on the standby because that is unreachable, cancels it or refuses to write is run on
 *    the primary. Transactions and sessions are always there.
 */
import type { Log } from '../log.ts';
import type { Database, Queryable } from './database.ts';
import { isTransient } from './failures.ts';
import { oneRow } from './oneRow.ts';

export interface ReadSource {
  readonly db: Database;
  /** What was committed before is included; undefined: everything is, because it is the primary. */
  readonly ageMs: number | undefined;
}

export interface Reads {
  /** Where to read now. */
  source(): ReadSource;
  /** From now on, reads include what was committed before. */
  wrote(): void;
  close(): Promise<void>;
}

/** Without a standby. */
export function readsOfPrimary(db: Database): Reads {
  return {
    source: () => ({ db, ageMs: undefined }),
    wrote: () => undefined,
    close: () => Promise.resolve(),
  };
}

export const MAX_AGE_MS = 10_000;
const EXAMINE_EVERY_MS = 1_000;

export interface ReadsParts {
  readonly primary: Database;
  readonly standby: Database;
  readonly log: Log;
  readonly monotonicMs: () => number;
  /** Waits between two examinations, or until `signal` is aborted. */
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

export function createReads(parts: ReadsParts): Reads {
  const { primary, standby, log, monotonicMs, sleep } = parts;
  const proof = createProof();
  const db = withFallback(primary, standby);
  const closing = new AbortController();
  let wasUsed: boolean | undefined;

  const examine = async (): Promise<void> => {
    const nowMs = monotonicMs();
    const result = await Promise.all([readPrimary(primary), readStandby(standby)]).catch(toReason);
    const reason = typeof result === 'string' ? result : proof.add(nowMs, ...result);
    const isUsed = proof.ageMs(monotonicMs()) !== undefined;
    if (isUsed === wasUsed) return;
    wasUsed = isUsed;
    if (isUsed) log.info({}, 'reads.from_standby');
    else log.warn({ reason: reason ?? BEHIND }, 'reads.from_primary');
  };
  const examining = (async () => {
    while (!closing.signal.aborted) {
      await examine();
      await sleep(EXAMINE_EVERY_MS, closing.signal);
    }
  })();

  return {
    source: () => {
      const ageMs = proof.ageMs(monotonicMs());
      return ageMs === undefined ? { db: primary, ageMs } : { db, ageMs };
    },
    wrote: () => proof.require(monotonicMs()),
    close: async () => {
      closing.abort();
      await examining;
    },
  };
}

const BEHIND = 'the standby is more than ten seconds behind';
const toReason = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** A position in the log of a server, and the history that it belongs to. */
export interface LogPosition {
  readonly system: string | null;
  readonly timeline: string | null;
  readonly position: number | null;
}

/** What positions of both servers prove. */
export function createProof() {
  let samples: readonly { readonly atMs: number; readonly position: number }[] = [];
  let provenMs = Number.NEGATIVE_INFINITY;
  let requiredMs = Number.NEGATIVE_INFINITY;

  return {
    /**
     * Adds the position of the primary, read after `atMs`, and one of the standby.
     * @returns why they prove nothing
     */
    add: (atMs: number, ofPrimary: LogPosition, ofStandby: LogPosition): string | undefined => {
      const problem = problemOf(ofPrimary, ofStandby);
      if (problem !== undefined) {
        [samples, provenMs] = [[], Number.NEGATIVE_INFINITY];
        return problem;
      }
      samples = [...samples, { atMs, position: ofPrimary.position ?? 0 }];
      const replayed = samples.filter(({ position }) => position <= (ofStandby.position ?? 0));
      provenMs = replayed.at(-1)?.atMs ?? provenMs;
      samples = samples.filter((sample) => sample.atMs > provenMs).slice(-MAX_SAMPLES);
      return undefined;
    },
    require: (nowMs: number): void => {
      requiredMs = nowMs;
    },
    /** How old what the standby has can be; undefined if it is too old. */
    ageMs: (nowMs: number): number | undefined => {
      const ageMs = nowMs - provenMs;
      return ageMs <= MAX_AGE_MS && provenMs > requiredMs ? ageMs : undefined;
    },
  };
}

const MAX_SAMPLES = 60;

/** Why a standby cannot be compared with the primary; undefined if it can. */
export function problemOf(primary: LogPosition, standby: LogPosition): string | undefined {
  if (standby.position === null) return 'the server is no standby';
  if (primary.position === null || primary.timeline === null || primary.system === null)
    return 'the primary does not reveal its history';
  if (primary.system !== standby.system) return 'the server is a standby of another cluster';
  if (primary.timeline !== standby.timeline)
    return 'the standby has not recorded the timeline of the primary yet';
  return undefined;
}

/** Positions as bytes since the beginning; they stay below 2^53 for eight petabytes of log. */
export async function readPrimary(db: Queryable): Promise<LogPosition> {
  const rows = await db.query<LogPosition>(
    `select database_system()::text as system,
            ('x' || lpad(database_timeline(), 8, '0'))::bit(32)::int::text as timeline,
            (pg_current_wal_lsn() - '0/0')::bigint as position`,
  );
  return oneRow(rows);
}

export async function readStandby(db: Queryable): Promise<LogPosition> {
  const rows = await db.query<LogPosition>(
    `select database_system()::text as system,
            (select min_recovery_end_timeline from pg_control_recovery())::text as timeline,
            case when pg_is_in_recovery()
                 then (pg_last_wal_replay_lsn() - '0/0')::bigint end as position`,
  );
  return oneRow(rows);
}

/** Statements run on the standby, or on the primary where that fails for a reason of its own. */
function withFallback(primary: Database, standby: Database): Database {
  const or = async <T>(onStandby: () => Promise<T>, onPrimary: () => Promise<T>): Promise<T> => {
    try {
      return await onStandby();
    } catch (error) {
      if (!isTransient(error)) throw error;
      return await onPrimary();
    }
  };
  return {
    ...primary,
    query: (text, values) =>
      or(
        () => standby.query(text, values),
        () => primary.query(text, values),
      ),
    prepared: (text, values) =>
      or(
        () => standby.prepared(text, values),
        () => primary.prepared(text, values),
      ),
  };
}
