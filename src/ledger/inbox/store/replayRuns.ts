/** Statements that write replays of many events. Claims follow the database's clock. */
import type { Queryable } from '../../../platform/db/database.ts';
import { oneRow } from '../../../platform/db/oneRow.ts';
import {
  REPLAY_COLUMNS,
  type Refusal,
  type ReplayRun,
  type StoredFilter,
} from '../../read/store/replayRuns.ts';

export interface NewReplayRun {
  readonly filter: StoredFilter;
  readonly reason: string;
  readonly requestedBy: string;
  readonly planned: number;
  readonly isPlannedComplete: boolean;
  /** The caller carries it out. */
  readonly isClaimed: boolean;
}

const LEASE = `interval '60 seconds'`;

/** A run over the events that are in the inbox now, and no later ones. */
export async function insertReplayRun(tx: Queryable, run: NewReplayRun): Promise<ReplayRun> {
  const rows = await tx.query<ReplayRun>(
    `insert into replay_runs (filter, reason, requested_by, planned, is_planned_complete, position,
                              claimed_until)
     select $1::jsonb, $2, $3, $4, $5,
            coalesce((select id from webhook_events order by id desc limit 1), 0) + 1,
            case when $6 then statement_timestamp() + ${LEASE} else '-infinity' end
     returning ${REPLAY_COLUMNS}`,
    [
      JSON.stringify(run.filter),
      run.reason,
      run.requestedBy,
      run.planned,
      run.isPlannedComplete,
      run.isClaimed,
    ],
  );
  return oneRow(rows);
}

/**
 * Claims the oldest run that nobody works on. A claim that ends later than any can was stored under a wrong clock,
 * and prevents none.
 */
export async function claimReplayRun(db: Queryable): Promise<ReplayRun | undefined> {
  const rows = await db.query<ReplayRun>(
    `update replay_runs set claimed_until = statement_timestamp() + ${LEASE}
      where id = (select id from replay_runs
                   where state = 'running'
                     and claimed_until not between clock_timestamp() and clock_timestamp() + ${LEASE}
                   order by id
                   limit 1
                     for update skip locked)
      returning ${REPLAY_COLUMNS}`,
  );
  return rows[0];
}

/** The events between two positions of a run that it replays together. */
export interface ReplayStep {
  /** The position before the step: of two processes that made it, one counts it. */
  readonly position: number;
  readonly nextPosition: number;
  readonly isLast: boolean;
  /** Inbox numbers, greatest first. */
  readonly numbers: readonly number[];
}

const STEP_COLUMNS = `position, next_position as "nextPosition", is_last as "isLast", numbers`;

/** The step that was chosen at the position of a run; undefined if none was. */
export async function readReplayStep(
  db: Queryable,
  { id, position }: Pick<ReplayRun, 'id' | 'position'>,
): Promise<ReplayStep | undefined> {
  const rows = await db.query<StepRow>(
    `select ${STEP_COLUMNS} from replay_steps where run_id = $1 and position = $2`,
    [id, position],
  );
  return rows[0] && toStep(rows[0]);
}

/** Numbers of 64 bits in an array arrive as text. */
interface StepRow extends Omit<ReplayStep, 'numbers'> {
  readonly numbers: readonly (string | number)[];
}

function toStep({ numbers, ...rest }: StepRow): ReplayStep {
  return { ...rest, numbers: numbers.map(Number) };
}

/** @returns the step at its position, which another process may have chosen */
export async function insertReplayStep(
  db: Queryable,
  id: number,
  step: ReplayStep,
): Promise<ReplayStep> {
  await db.query(
    `insert into replay_steps (run_id, position, next_position, is_last, numbers)
     values ($1, $2, $3, $4, $5::bigint[])
     on conflict (run_id, position) do nothing`,
    [id, step.position, step.nextPosition, step.isLast, step.numbers],
  );
  const stored = await readReplayStep(db, { id, position: step.position });
  if (!stored) throw new Error('the step of the replay was not stored');
  return stored;
}

export interface StepResult {
  readonly replayed: number;
  readonly refusals: readonly Refusal[];
}

/** Records that a step is done, and renews the claim. @returns the run; undefined if another process made the step */
export async function recordReplayStep(
  db: Queryable,
  id: number,
  step: ReplayStep,
  { replayed, refusals }: StepResult,
): Promise<ReplayRun | undefined> {
  const rows = await db.query<ReplayRun>(
    `with done as (
       update replay_steps set done_at = statement_timestamp()
        where run_id = $1 and position = $2 and done_at is null
     )
     update replay_runs
        set position = $3, replayed = replayed + $4, refused = refused + jsonb_array_length($5::jsonb),
            refusals = jsonb_path_query_array(refusals || $5::jsonb, '$[0 to 99]'),
            state = case when state = 'running' and $6 then 'done' else state end,
            finished_at = case when state = 'running' and $6 then statement_timestamp()
                               else finished_at end,
            claimed_until = statement_timestamp() + ${LEASE}
      where id = $1 and position = $2
      returning ${REPLAY_COLUMNS}`,
    [id, step.position, step.nextPosition, replayed, JSON.stringify(refusals), step.isLast],
  );
  return rows[0];
}

/** Another process may continue at once. */
export async function releaseReplayRun(db: Queryable, id: number): Promise<void> {
  await db.query(`update replay_runs set claimed_until = '-infinity' where id = $1`, [id]);
}

/** @returns false if it is not running */
export async function markReplayStopped(tx: Queryable, id: number, by: string): Promise<boolean> {
  const rows = await tx.query(
    `update replay_runs set state = 'stopped', stopped_by = $2, finished_at = statement_timestamp()
      where id = $1 and state = 'running'
      returning id`,
    [id, by],
  );
  return rows.length > 0;
}
