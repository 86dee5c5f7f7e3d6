/**
 * Statements on pauses of reconciliation: no background request is sent to the service. Webhooks are
 * received and applied all the same, and commands of people still send requests.
 */
import type { Queryable } from '../../platform/db/database.ts';

/** A pause that has not ended. */
export interface Pause {
  readonly pausedAt: Date;
  readonly pausedBy: string;
  readonly reason: string;
}

/** @returns the current pause; undefined when there is none */
export async function readPause(db: Queryable): Promise<Pause | undefined> {
  const rows = await db.query<Pause>(
    `select paused_at as "pausedAt", paused_by as "pausedBy", reason
       from reconcile_pauses where resumed_at is null limit 1`,
  );
  return rows[0];
}

/** Checked before each unit of work, so that a pause takes effect within one. */
export async function isPaused(db: Queryable): Promise<boolean> {
  return (await readPause(db)) !== undefined;
}

/** Begins a pause. @returns false when reconciliation is paused already */
export async function beginPause(
  db: Queryable,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<boolean> {
  const rows = await db.query(
    `insert into reconcile_pauses (paused_by, reason) values ($1, $2)
     on conflict do nothing returning id`,
    [by, reason],
  );
  return rows.length > 0;
}

/** Ends the pause. @returns false when reconciliation is not paused */
export async function endPause(db: Queryable, by: string): Promise<boolean> {
  const rows = await db.query(
    `update reconcile_pauses set resumed_at = statement_timestamp(), resumed_by = $1
      where resumed_at is null returning id`,
    [by],
  );
  return rows.length > 0;
}
