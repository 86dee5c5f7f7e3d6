/** Statements that read replays of many events. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { EventState } from './parts.ts';

export const REPLAY_STATES = ['running', 'stopped', 'done'] as const;
export type ReplayState = (typeof REPLAY_STATES)[number];

/** A filter as it is stored; times are ISO texts. */
export interface StoredFilter {
  readonly state?: EventState | undefined;
  readonly type?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly numbers?: readonly number[] | undefined;
}

export interface Refusal {
  readonly number: number;
  readonly reason: string;
}

export interface ReplayRun {
  readonly id: number;
  readonly filter: StoredFilter;
  readonly reason: string;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  /** How many events matched when it was requested. */
  readonly planned: number;
  /** False: there were more events than were counted. */
  readonly isPlannedComplete: boolean;
  readonly state: ReplayState;
  /** Events from this number on are done. */
  readonly position: number;
  readonly replayed: number;
  readonly refused: number;
  /** The first 100. */
  readonly refusals: readonly Refusal[];
  readonly stoppedBy: string | null;
  readonly finishedAt: Date | null;
}

export const REPLAY_COLUMNS = `
  id, filter, reason, requested_by as "requestedBy", requested_at as "requestedAt", planned,
  is_planned_complete as "isPlannedComplete", state, position, replayed, refused, refusals,
  stopped_by as "stoppedBy", finished_at as "finishedAt"`;

/** Runs below a number, newest first. */
export function readReplayRuns(
  db: Queryable,
  { below, limit }: { readonly below: number; readonly limit: number },
): Promise<readonly ReplayRun[]> {
  return db.query<ReplayRun>(
    `select ${REPLAY_COLUMNS} from replay_runs where id < $1 order by id desc limit $2`,
    [below, limit],
  );
}

/** @returns undefined if there is no such run */
export async function readReplayRun(db: Queryable, id: number): Promise<ReplayRun | undefined> {
  const rows = await db.query<ReplayRun>(
    `select ${REPLAY_COLUMNS} from replay_runs where id = $1`,
    [id],
  );
  return rows[0];
}

/** The numbers of the runs that have chosen any of these events, newest first. */
export async function readReplaysOf(
  db: Queryable,
  { numbers, limit }: { readonly numbers: readonly number[]; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await db.query<{ id: number }>(
    `select distinct run_id as id from replay_steps
      where numbers && $1::bigint[] order by run_id desc limit $2`,
    [numbers, limit],
  );
  return rows.map(({ id }) => id);
}
