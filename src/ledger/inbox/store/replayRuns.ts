/** Statements that write replays of many events. Claims follow the database's clock. */
import type { Queryable } from '../../../platform/db/database.ts';
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
}

/** A run over the events that are in the inbox now, and no later ones. */
export async function insertReplayRun(tx: Queryable, run: NewReplayRun): Promise<ReplayRun> {
  const [row] = await tx.query<ReplayRun>(
    `insert into replay_runs (filter, reason, requested_by, planned, is_planned_complete, position)
     select $1::jsonb, $2, $3, $4, $5,
            coalesce((select id from webhook_events order by id desc limit 1), 0) + 1
     returning ${REPLAY_COLUMNS}`,
    [JSON.stringify(run.filter), run.reason, run.requestedBy, run.planned, run.isPlannedComplete],
  );
  if (!row) throw new Error('the replay was not stored');
  return row;
}

const LEASE = `interval '60 seconds'`;

/** Claims the oldest run that nobody works on. */
export async function claimReplayRun(db: Queryable): Promise<ReplayRun | undefined> {
  const rows = await db.query<ReplayRun>(
    `update replay_runs set claimed_until = statement_timestamp() + ${LEASE}
      where id = (select id from replay_runs
                   where state = 'running' and claimed_until < statement_timestamp()
                   order by id
                   limit 1
                     for update skip locked)
      returning ${REPLAY_COLUMNS}`,
  );
  return rows[0];
}

export interface ReplayStep {
  /** The position before the step: of two processes that made it, one counts it. */
  readonly from: number;
  readonly to: number;
  readonly isLast: boolean;
  readonly replayed: number;
  readonly refusals: readonly Refusal[];
}

/** Records a step, and renews the claim. @returns the run; undefined if another process made the step */
export async function recordReplayStep(
  db: Queryable,
  id: number,
  step: ReplayStep,
): Promise<ReplayRun | undefined> {
  const rows = await db.query<ReplayRun>(
    `update replay_runs
        set position = $3, replayed = replayed + $4, refused = refused + jsonb_array_length($5::jsonb),
            refusals = case when jsonb_array_length(refusals) < 100 then refusals || $5::jsonb
                            else refusals end,
            state = case when state = 'running' and $6 then 'done' else state end,
            finished_at = case when state = 'running' and $6 then statement_timestamp()
                               else finished_at end,
            claimed_until = statement_timestamp() + ${LEASE}
      where id = $1 and position = $2
      returning ${REPLAY_COLUMNS}`,
    [id, step.from, step.to, step.replayed, JSON.stringify(step.refusals), step.isLast],
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
