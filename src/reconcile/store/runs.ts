/** Statements on runs. */
import type { Queryable } from '../../platform/db/database.ts';
import { oneRow } from '../../platform/db/oneRow.ts';
import type { Stream } from '../streams.ts';

export const MODES = ['totals', 'full'] as const;
export type Mode = (typeof MODES)[number];

/**
 * `failed` and `paused` runs keep their checkpoint; the next of their kind resumes there. A person ended a
 * `stopped` run for good.
 */
export const RUN_STATES = ['running', 'paused', 'stopped', 'done', 'failed'] as const;
export type RunStateName = (typeof RUN_STATES)[number];

/**
 * What the sums of analytics showed in a run. `agreed`: they equal the ledger's. `differed`: the days in
 * which they do not were listed. `disproved`: they were wrong over a day that is equal, and are no longer
 * used. `not_calibrated`: none were requested. `unavailable`: no response could be used.
 */
export const SUMS_OUTCOMES = [
  'agreed',
  'differed',
  'disproved',
  'not_calibrated',
  'unavailable',
] as const;
export type SumsOutcome = (typeof SUMS_OUTCOMES)[number];

/** How many differences the report of a run keeps. */
export const KEPT_DIFFERENCES = 200;

/** A difference in the report of a run. */
export interface ReportedDifference {
  readonly class: string;
  readonly subject: string;
  readonly outcome: 'repaired' | 'remaining' | 'would_repair' | 'accepted';
}

/** What a run has done so far. */
export interface RunCounts {
  readonly windows: number;
  readonly requests: number;
  /** Rows that were listed. */
  readonly rowsCompared: number;
  /** Rows that were compared by counts that agreed. */
  readonly rowsCounted: number;
  readonly found: number;
  readonly repaired: number;
  /** Changes that no webhook reported in time. */
  readonly missed: number;
}

export interface RunRow extends RunCounts {
  readonly id: number;
  readonly stream: Stream;
  readonly mode: Mode;
  readonly cause: string;
  readonly isDryRun: boolean;
  readonly state: RunStateName;
  readonly fromAt: Date;
  readonly toAt: Date;
  readonly positionAt: Date;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly failure: string | null;
  /** Who stopped it; null unless it is stopped. */
  readonly stoppedBy: string | null;
  readonly differences: readonly ReportedDifference[];
  /** Null where no sums were compared. */
  readonly sums: SumsOutcome | null;
}

const COLUMNS = `
  id, stream, mode, cause, is_dry_run as "isDryRun", state, from_at as "fromAt", to_at as "toAt",
  position_at as "positionAt", started_at as "startedAt", finished_at as "finishedAt",
  windows, requests, rows_compared as "rowsCompared",
  rows_counted as "rowsCounted", found, repaired, missed, failure,
  stopped_by as "stoppedBy", differences, sums`;

export interface NewRun {
  readonly stream: Stream;
  readonly mode: Mode;
  readonly cause: string;
  readonly isDryRun: boolean;
  readonly fromAt: Date;
  readonly toAt: Date;
}

export async function insertRun(db: Queryable, run: NewRun): Promise<RunRow> {
  const rows = await db.query<RunRow>(
    `insert into reconcile_runs (stream, mode, cause, is_dry_run, from_at, to_at, position_at)
     values ($1, $2, $3, $4, $5, $6, $5)
     returning ${COLUMNS}`,
    [run.stream, run.mode, run.cause, run.isDryRun, run.fromAt, run.toAt],
  );
  return oneRow(rows);
}

export interface EarlierRun extends Pick<NewRun, 'stream' | 'mode' | 'cause' | 'isDryRun'> {
  /** The bounds that it must have; undefined where any will do. */
  readonly fromAt: Date | undefined;
  readonly toAt: Date | undefined;
}

/** The latest run of this kind that is paused or was updated after `since`, however it ended. */
export async function findLast(
  db: Queryable,
  run: EarlierRun,
  since: Date,
): Promise<RunRow | undefined> {
  const rows = await db.query<RunRow>(
    `select ${COLUMNS} from reconcile_runs
      where stream = $1 and mode = $2 and cause = $3 and is_dry_run = $4
        and (updated_at >= $5 or state = 'paused')
        and ($6::timestamptz is null or from_at = $6) and ($7::timestamptz is null or to_at = $7)
      order by id desc
      limit 1`,
    [run.stream, run.mode, run.cause, run.isDryRun, since, run.fromAt ?? null, run.toAt ?? null],
  );
  return rows[0];
}

/** Resumes a run. @returns undefined if it has ended for good */
export async function reopenRun(db: Queryable, id: number): Promise<RunRow | undefined> {
  const rows = await db.query<RunRow>(
    `update reconcile_runs
        set state = 'running', failure = null, finished_at = null
      where id = $1 and state not in ('done', 'stopped')
      returning ${COLUMNS}`,
    [id],
  );
  return rows[0];
}

export async function readRun(db: Queryable, id: number): Promise<RunRow | undefined> {
  const rows = await db.query<RunRow>(`select ${COLUMNS} from reconcile_runs where id = $1`, [id]);
  return rows[0];
}

export interface RunStep extends RunCounts {
  readonly positionAt: Date;
  readonly differences: readonly ReportedDifference[];
}

/**
 * A checkpoint of a run, by the steps up to it, each of which counts as a window. The process that wrote the
 * latest one executes the run (run.ts, rule 10).
 */
export type Checkpoint = Pick<RunRow, 'id' | 'windows'>;

/**
 * Writes the next checkpoint: the position, with everything counted on the way to it.
 * @returns false if another process has written or ended the run since the checkpoint `last`
 */
export async function writeStep(db: Queryable, last: Checkpoint, step: RunStep): Promise<boolean> {
  const rows = await db.query(
    `update reconcile_runs
        set position_at = $2, windows = $3, requests = $4, rows_compared = $5, found = $6,
            repaired = $7, missed = $8, differences = $9::jsonb, rows_counted = $10, updated_at = statement_timestamp()
      where id = $1 and windows = $11 and state in ('running', 'stopped')
      returning id`,
    [
      last.id,
      step.positionAt,
      step.windows,
      step.requests,
      step.rowsCompared,
      step.found,
      step.repaired,
      step.missed,
      JSON.stringify(step.differences),
      step.rowsCounted,
      last.windows,
    ],
  );
  return rows.length > 0;
}

/** Writes the outcome of the sums, with the requests so far. */
export async function writeSums(
  db: Queryable,
  last: Checkpoint,
  { sums, requests }: { readonly sums: SumsOutcome | undefined; readonly requests: number },
): Promise<void> {
  await db.query(
    `update reconcile_runs
        set sums = $3, requests = $4, updated_at = statement_timestamp()
      where id = $1 and windows = $2 and state in ('running', 'stopped')`,
    [last.id, last.windows, sums ?? null, requests],
  );
}

/**
 * Ends a run.
 * @param failure undefined when it is done
 * @returns false if a person stopped it, or another process continues or ended it
 */
export async function finishRun(
  db: Queryable,
  last: Checkpoint,
  failure: string | undefined,
): Promise<boolean> {
  const rows = await db.query(
    `update reconcile_runs
        set state = $3, failure = $4, finished_at = statement_timestamp(),
            updated_at = statement_timestamp()
      where id = $1 and windows = $2 and state = 'running'
      returning id`,
    [last.id, last.windows, failure === undefined ? 'done' : 'failed', failure ?? null],
  );
  return rows.length > 0;
}

/** Stops a run that has not ended. @returns undefined if there is none with this number */
export async function markRunStopped(
  tx: Queryable,
  id: number,
  by: string,
): Promise<RunRow | undefined> {
  const rows = await tx.query<RunRow>(
    `update reconcile_runs
        set state = 'stopped', stopped_by = $2, finished_at = statement_timestamp(),
            updated_at = statement_timestamp()
      where id = $1 and state in ('running', 'paused')
      returning ${COLUMNS}`,
    [id, by],
  );
  return rows[0];
}

/** Reads which checkpoint of a run is the latest, and whether the run goes on. */
export async function readCheckpoint(
  db: Queryable,
  id: number,
): Promise<Pick<RunRow, 'windows' | 'state'> | undefined> {
  const rows = await db.query<Pick<RunRow, 'windows' | 'state'>>(
    'select windows, state from reconcile_runs where id = $1',
    [id],
  );
  return rows[0];
}

/** Holds a run at its checkpoint until the pause ends. */
export async function pauseRun(db: Queryable, last: Checkpoint): Promise<void> {
  await db.query(
    `update reconcile_runs set state = 'paused', updated_at = statement_timestamp()
      where id = $1 and windows = $2 and state = 'running'`,
    [last.id, last.windows],
  );
}

/** Reads paused runs, oldest first; there is at most one of each list and schedule. */
export function readPausedRuns(db: Queryable): Promise<readonly RunRow[]> {
  return db.query<RunRow>(
    `select ${COLUMNS} from reconcile_runs where state = 'paused' order by id limit 100`,
  );
}

/** Reads runs below a number, newest first. */
export function readRuns(
  db: Queryable,
  filter: { readonly stream: Stream | undefined; readonly below: number; readonly limit: number },
): Promise<readonly RunRow[]> {
  return db.query<RunRow>(
    `select ${COLUMNS} from reconcile_runs
      where id < $1 and ($2::text is null or stream = $2)
      order by id desc
      limit $3`,
    [filter.below, filter.stream ?? null, filter.limit],
  );
}

/** What a run compared: its span up to its checkpoint. Or what several did, one after the other. */
export interface StretchRow {
  readonly stream: Stream;
  readonly fromAt: Date;
  readonly toAt: Date;
  readonly comparedAt: Date;
  readonly rowsCompared: number;
  readonly rowsCounted: number;
  readonly found: number;
  readonly repaired: number;
  /** Runs over several days with differences: only their report shows in which days. */
  readonly differingRuns: readonly number[];
}

/**
 * Reads what runs compared after a time, latest run first; without dry runs, which repair nothing.
 *
 * Successive runs of a list are one row if their spans touch, on the same days, and their results are
 * alike: differences remain, were repaired, or there were none, or no rows. Four lists that are compared
 * every five minutes have more than thirty thousand runs a month, and a few stretches a day.
 *
 * @param limit how many runs are searched
 */
export function readStretches(
  db: Queryable,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<readonly StretchRow[]> {
  return db.query<StretchRow>(
    `with searched as (
       select id, stream, from_at, position_at, updated_at, rows_compared, rows_counted, found, repaired,
              is_dry_run
         from reconcile_runs order by id desc limit $2
     ), compared as (
       select *, row((from_at at time zone 'UTC')::date, (position_at at time zone 'UTC')::date,
                     found > repaired, found = 0, rows_compared + rows_counted = 0) as likeness,
              (from_at at time zone 'UTC')::date < (position_at at time zone 'UTC')::date as spans_days
         from searched
        where position_at > $1 and position_at > from_at and not is_dry_run
     ), marked as (
       select *, case when lag(likeness) over earlier = likeness
                       and from_at <= lag(position_at) over earlier
                       and position_at >= lag(from_at) over earlier then 0 else 1 end as begins
         from compared
       window earlier as (partition by stream order by id)
     ), numbered as (
       select *, sum(begins) over (partition by stream order by id) as stretch from marked
     )
     select stream, min(from_at) as "fromAt", max(position_at) as "toAt",
            max(updated_at) as "comparedAt", sum(rows_compared)::bigint as "rowsCompared",
            sum(rows_counted)::bigint as "rowsCounted", sum(found)::bigint as found,
            sum(repaired)::bigint as repaired,
            coalesce(json_agg(id) filter (where found > 0 and spans_days), '[]') as "differingRuns"
       from numbered
      group by stream, stretch
      order by max(id) desc`,
    [since, limit],
  );
}

/**
 * Reads what differed in some runs, without what a person accepted, which does not count.
 * @returns nothing for runs with more differences than a report keeps
 */
export function readDifferences(
  db: Queryable,
  runIds: readonly number[],
): Promise<readonly { readonly id: number; readonly subjects: readonly string[] }[]> {
  return db.query(
    `select id, array(select difference ->> 'subject' from jsonb_array_elements(differences) difference
                       where difference ->> 'outcome' <> 'accepted') as subjects
       from reconcile_runs
      where id = any ($1::bigint[]) and jsonb_array_length(differences) between found and $2 - 1
      order by id
      limit $3`,
    [runIds, KEPT_DIFFERENCES, runIds.length],
  );
}

/**
 * Up to where a list was read before any run ended beyond an instant; null where no run did. Only runs of
 * the schedule `tail` begin at the watermark, so that each joins the one before it.
 */
export async function readTrustedWatermark(
  db: Queryable,
  stream: Stream,
  now: Date,
): Promise<Date | null> {
  const [row] = await db.query<{ watermarkAt: Date | null }>(
    `with ended as (
       select id, cause, from_at, to_at
         from reconcile_runs
        where stream = $1 and mode = 'full' and state = 'done' and not is_dry_run
     )
     select max(to_at) as "watermarkAt"
       from ended
      where cause = 'tail' and from_at < to_at and to_at <= $2
        and id < coalesce((select min(id) from ended where to_at > $2), 9223372036854775807)`,
    [stream, now],
  );
  return row?.watermarkAt ?? null;
}
