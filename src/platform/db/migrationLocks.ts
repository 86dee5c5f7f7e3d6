/**
 * What a migration may wait for. A statement that waits to lock a table holds back every later statement on it,
 * so a migration behind a backup, which reads for hours, would hold back every delivery. Each wait is short, and
 * what failed is tried again: each file of a migration is one transaction. Meanwhile it reports what it waits for.
 */
import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { monotonicMs } from '../clock.ts';
import { errorCode, UnavailableError } from '../errors.ts';
import { MINUTE_MS, SECOND_MS } from '../time.ts';
import { SQLSTATES } from './sqlStates.ts';

export interface LockWaits {
  /** The longest wait for one lock. */
  readonly withinMs: number;
  /** Between two attempts, in which what was held back runs. */
  readonly pauseMs: number;
  readonly giveUpAfterMs: number;
}

export const LOCK_WAITS: LockWaits = {
  withinMs: 2 * SECOND_MS,
  pauseMs: 3 * SECOND_MS,
  giveUpAfterMs: 5 * MINUTE_MS,
};

/** Receives what a migration waits for, for people, when that changes. */
export type OnWait = (text: string) => void;

/**
 * Repeats an attempt that failed because others hold what it locks.
 * @param attempt uses the client that it is given, and may run again after it failed
 * @throws UnavailableError that names the sessions, after a time
 */
export async function retryWhileLocked<T>(
  client: pg.Client,
  { waits, onWait }: { readonly waits: LockWaits; readonly onWait: OnWait },
  attempt: (watched: pg.Client) => Promise<T>,
): Promise<T> {
  const { withinMs, pauseMs, giveUpAfterMs } = waits;
  await client.query(`select set_config('lock_timeout', $1, false)`, [`${withinMs}ms`]);
  const report = reportChanges(onWait);
  const startMs = monotonicMs();
  for (;;) {
    const { watched, lastCode } = watch(client, report);
    try {
      return await attempt(watched);
    } catch (error) {
      if (lastCode() !== SQLSTATES.lock_not_available) throw error;
      const holders = await readHolders(client, withinMs);
      if (monotonicMs() - startMs >= giveUpAfterMs) throw gaveUp(holders, error);
      report(waitsForTables(holders, waits));
    }
    await setTimeout(pauseMs);
  }
}

function reportChanges(onWait: OnWait): OnWait {
  let last = '';
  return (text) => {
    if (text !== last) onWait(text);
    last = text;
  };
}

/**
 * Reads what the library of the migrations hides: it keeps only the message of an error, which is in the
 * language of the server, and it waits in silence for another migration.
 */
function watch(
  client: pg.Client,
  report: OnWait,
): {
  readonly watched: pg.Client;
  /** The SQLSTATE of the last statement that failed. */
  readonly lastCode: () => string;
} {
  let code = '';
  const query = async (...statement: readonly unknown[]): Promise<unknown> => {
    try {
      const result: unknown = await Reflect.apply(client.query, client, statement);
      if (isRefusedLock(result)) report(waitsForMigration(await readMigration(client)));
      return result;
    } catch (error) {
      code = errorCode(error);
      throw error;
    }
  };
  return { watched: Object.assign(Object.create(client), { query }), lastCode: () => code };
}

/** Whether it is the response to the library's attempt to be the only migration, which it repeats. */
function isRefusedLock(result: unknown): boolean {
  const { rows } = result as Partial<pg.QueryResult<{ pg_try_advisory_lock?: boolean }>>;
  return rows?.[0]?.pg_try_advisory_lock === false;
}

interface Holder {
  readonly pid: number;
  readonly user: string | null;
  readonly application: string | null;
}

/** Sessions that have held our tables for longer than a migration waits; those of unknown age, too. */
async function readHolders(client: pg.Client, withinMs: number): Promise<readonly Holder[]> {
  const { rows } = await client.query<Holder>(
    `select a.pid, a.usename as user, nullif(a.application_name, '') as application
       from pg_stat_activity a
      where a.datname = current_database() and a.pid <> pg_backend_pid()
        and (a.xact_start is null or a.xact_start < now() - $1 * interval '1 millisecond')
        and exists (
              select from pg_locks l join pg_class c on c.oid = l.relation
               where l.pid = a.pid and l.granted and l.database = (
                       select oid from pg_database where datname = current_database())
                 and c.relnamespace::regnamespace::text in ('public', 'bullmq'))
      order by a.xact_start, a.pid
      limit 5`,
    [withinMs],
  );
  return rows;
}

/** The key of the advisory lock that the library holds while it migrates. */
const LIBRARY_LOCK = '-8525285245963000605';

/** The session of another migration; none if it has just ended. */
async function readMigration(client: pg.Client): Promise<readonly Holder[]> {
  const { rows } = await client.query<Holder>(
    `select a.pid, a.usename as user, nullif(a.application_name, '') as application
       from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'advisory' and l.granted and l.objsubid = 1
        and l.database = (select oid from pg_database where datname = current_database())
        and ((l.classid::bigint << 32) | l.objid::bigint) = $1::bigint
      limit 1`,
    [LIBRARY_LOCK],
  );
  return rows;
}

function waitsForMigration(holders: readonly Holder[]): string {
  return (
    `Waiting for another migration of this database, by ${nameAll(holders)}. This one goes on when it ends.` +
    (holders.length === 0 ? '' : ` If it hangs, end it: ${endAll(holders)}`)
  );
}

function waitsForTables(
  holders: readonly Holder[],
  { withinMs, pauseMs, giveUpAfterMs }: LockWaits,
): string {
  return (
    `Waiting for tables that are held by ${nameAll(holders)}. The migration tries again every ` +
    `${(withinMs + pauseMs) / SECOND_MS} seconds, for ${giveUpAfterMs / MINUTE_MS} minutes; deliveries go on ` +
    'meanwhile.' +
    (holders.length === 0 ? '' : ` Wait until these sessions end, or end them: ${endAll(holders)}`)
  );
}

function nameAll(holders: readonly Holder[]): string {
  const named = holders.map(
    ({ pid, user, application }) =>
      `process ${pid} (${application ?? 'no application name'}, user ${user ?? 'unknown'})`,
  );
  return named.length === 0 ? 'another session' : named.join(', ');
}

function endAll(holders: readonly Holder[]): string {
  return holders.map(({ pid }) => `select pg_terminate_backend(${pid})`).join('; ');
}

function gaveUp(holders: readonly Holder[], cause: unknown): UnavailableError {
  const error = new UnavailableError(
    `The migration could not lock the tables that it changes: they are held by ${nameAll(holders)}. It does not wait ` +
      'longer at a time, because every delivery would wait behind it. Files that were applied before stay ' +
      'applied. Run `npx tallyhook migrate` again when these sessions have ended, as at the end of a backup' +
      (holders.length === 0 ? '.' : `, or end them first: ${endAll(holders)}`),
  );
  error.cause = cause;
  return error;
}
