/** Statements on the processes that run. Times are the database's. */
import type { Queryable } from '../../platform/db/database.ts';

/** What a process reports of itself. */
export interface ProcessReport {
  /** Of one start. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly roles: readonly string[];
  readonly version: string;
  readonly isReady: boolean;
  /** The checks that failed, with their reasons. */
  readonly failures: readonly string[];
}

export interface SavedReport extends ProcessReport {
  /** The channels that it sends to. */
  readonly channels: readonly string[];
}

export interface ProcessRow extends ProcessReport {
  readonly startedAt: Date;
  readonly seenAt: Date;
  /** Whether it reported within `SEEN_WITHIN_MS`. */
  readonly isSeen: boolean;
}

/** Three reports. A process that stayed silent for longer is killed, or cannot reach the database. */
const SEEN_WITHIN_MS = 30_000;

/** Saves a report. A gap before it ends its steadiness. */
export async function saveProcess(db: Queryable, report: SavedReport): Promise<void> {
  const { id, host, pid, roles, version, isReady, failures, channels } = report;
  await db.query(
    `insert into processes as p (id, host, pid, roles, version, is_ready, failures, channels)
     values ($1, $2, $3, $4, $5, $6, $7, $9)
     on conflict (id) do update
        set is_ready = excluded.is_ready, failures = excluded.failures,
            seen_at = statement_timestamp(),
            steady_since =
              case when p.seen_at between statement_timestamp() - $8 * interval '1 millisecond'
                                      and statement_timestamp()
                   then p.steady_since else statement_timestamp() end`,
    [id, host, pid, roles, version, isReady, failures, SEEN_WITHIN_MS, channels],
  );
}

export async function deleteProcess(db: Queryable, id: string): Promise<void> {
  await db.query('delete from processes where id = $1', [id]);
}

/** A process that is slow for that long still has its channels. */
const HAS_CHANNELS_FOR = `interval '2 minutes'`;

/** The channels of all processes that send; undefined if none runs, or if one does not report them. */
export async function readSentChannels(db: Queryable): Promise<readonly string[] | undefined> {
  const rows = await db.query<{ channels: readonly string[] | null }>(
    `select distinct channels
       from processes
      where 'alerts' = any (roles) and seen_at > statement_timestamp() - ${HAS_CHANNELS_FOR}
      limit 100`,
  );
  const known = rows.flatMap(({ channels }) => (channels === null ? [] : [channels]));
  return rows.length === 0 || known.length < rows.length ? undefined : known.flat();
}

/** Every process, those that are missing first. */
export function readProcesses(db: Queryable, limit: number): Promise<readonly ProcessRow[]> {
  return db.query<ProcessRow>(
    `select id, host, pid, roles, version, is_ready as "isReady", failures,
            started_at as "startedAt", seen_at as "seenAt",
            seen_at > statement_timestamp() - $1 * interval '1 millisecond' as "isSeen"
       from processes
      order by "isSeen", is_ready, host, pid, started_at
      limit $2`,
    [SEEN_WITHIN_MS, limit],
  );
}

/** Whether a process with a role has reported a short time ago. */
export async function isRoleSeen(db: Queryable, role: string): Promise<boolean> {
  const [row] = await db.query<{ isSeen: boolean }>(
    `select exists (
       select from processes
        where $1 = any (roles)
          and seen_at > statement_timestamp() - $2 * interval '1 millisecond') as "isSeen"`,
    [role, SEEN_WITHIN_MS],
  );
  return row?.isSeen ?? false;
}

/** A role that a process had which ended without a stop, and that no process has now. */
export interface MissingRole {
  readonly role: string;
  /** Host and process id of the last one. */
  readonly process: string;
  readonly seenMs: number;
}

/**
 * Roles without a report for `forMs`, those that are missing longest first. Reports count only while a
 * scheduler has reported without a gap for `forMs`: after the database was unavailable, and after its clock
 * was set, every report looks late.
 */
export function readMissingRoles(
  db: Queryable,
  { forMs }: { readonly forMs: number },
): Promise<readonly MissingRole[]> {
  return db.query<MissingRole>(
    `select role, (extract(epoch from max(seen_at)) * 1000)::bigint as "seenMs",
            (array_agg(host || ':' || pid order by seen_at desc))[1] as process
       from processes cross join unnest(roles) as role
      where exists (
              select from processes
               where 'scheduler' = any (roles)
                 and seen_at > statement_timestamp() - $2 * interval '1 millisecond'
                 and steady_since <= statement_timestamp() - $1 * interval '1 millisecond')
      group by role
     having max(seen_at) <= statement_timestamp() - $1 * interval '1 millisecond'
      order by max(seen_at), role
      limit 10`,
    [forMs, SEEN_WITHIN_MS],
  );
}

/** Deletes processes that were killed long ago. */
export async function removeOldProcesses(db: Queryable): Promise<void> {
  await db.query(`delete from processes where seen_at < statement_timestamp() - interval '1 day'`);
}
