/**
 * What a migration may wait for. A statement that waits to lock a table holds back every later statement on it,
 * so a migration behind a backup, which reads for hours, would hold back every delivery. Each wait is short, and
 * what failed is tried again: each file of a migration is one transaction.
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

/**
 * Repeats an attempt that failed because others hold what it locks.
 * @param attempt uses the client that it is given, and may run again after it failed
 * @throws UnavailableError that names the sessions, after a time
 */
export async function retryWhileLocked<T>(
  client: pg.Client,
  { withinMs, pauseMs, giveUpAfterMs }: LockWaits,
  attempt: (watched: pg.Client) => Promise<T>,
): Promise<T> {
  await client.query(`select set_config('lock_timeout', $1, false)`, [`${withinMs}ms`]);
  const startMs = monotonicMs();
  for (;;) {
    const { watched, lastCode } = watchErrors(client);
    try {
      return await attempt(watched);
    } catch (error) {
      if (lastCode() !== SQLSTATES.lock_not_available) throw error;
      if (monotonicMs() - startMs >= giveUpAfterMs)
        throw gaveUp(await readHolders(client, withinMs), error);
    }
    await setTimeout(pauseMs);
  }
}

/** The library of the migrations keeps only the message of an error, which is in the language of the server. */
function watchErrors(client: pg.Client): {
  readonly watched: pg.Client;
  /** The SQLSTATE of the last statement that failed. */
  readonly lastCode: () => string;
} {
  let code = '';
  const query = async (...statement: readonly unknown[]): Promise<unknown> => {
    try {
      return await Reflect.apply(client.query, client, statement);
    } catch (error) {
      code = errorCode(error);
      throw error;
    }
  };
  return { watched: Object.assign(Object.create(client), { query }), lastCode: () => code };
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

function gaveUp(holders: readonly Holder[], cause: unknown): UnavailableError {
  const named = holders.map(
    ({ pid, user, application }) =>
      `process ${pid} (${application ?? 'no application name'}, user ${user ?? 'unknown'})`,
  );
  const who = named.length === 0 ? 'another session' : named.join(', ');
  const end = holders.map(({ pid }) => `select pg_terminate_backend(${pid})`).join('; ');
  const error = new UnavailableError(
    `The migration could not lock the tables that it changes: they are held by ${who}. It does not wait ` +
      'longer at a time, because every delivery would wait behind it. Files that were applied before stay ' +
      'applied. Run `npx tallyhook migrate` again when these sessions have ended, as at the end of a backup' +
      (end === '' ? '.' : `, or end them first: ${end}`),
  );
  error.cause = cause;
  return error;
}
