/** Statements on the slots of schedules. Leases use the database's clock, which all processes share. */
import type { Queryable } from '../../platform/db/database.ts';
import type { SlotRun } from '../domain/state.ts';

/** One slot of one schedule. */
export interface Slot {
  readonly schedule: string;
  readonly at: Date;
}

/** A claimed slot. Each claim has a holder of its own. */
export interface HeldSlot extends Slot {
  readonly holder: string;
}

/** A claimed slot with the end of its run. */
export interface EndedSlot extends HeldSlot {
  /** Why the run failed; null if it did not. */
  readonly error: string | null;
}

/**
 * Claims a slot if no process runs the one before it, or the lease of that run has ended. A slot is
 * claimed again only if its run never ended.
 *
 * A slot later than `latest`, and a lease that ends later than any can, were stored under a wrong clock:
 * they do not prevent a claim. "Later" compares with the time at which the row is read, not with the
 * start of the statement: a statement that waited for the row would otherwise mistake the lease of the
 * claim that it waited for, which was granted after its own start, for one that ends too late.
 * @returns whether it was claimed; of concurrent claims of one slot, one succeeds
 */
export async function claimSlot(
  db: Queryable,
  { schedule, at, holder }: HeldSlot,
  { leaseMs, latest }: { readonly leaseMs: number; readonly latest: Date },
): Promise<boolean> {
  const rows = await db.query(
    `insert into schedule_slots as s (schedule, slot, holder, claimed_at, lease_until)
     values ($1, $2, $3, clock_timestamp(), clock_timestamp() + $4 * interval '1 millisecond')
     on conflict (schedule) do update
        set slot = excluded.slot, holder = excluded.holder, finished_at = null, error = null,
            claimed_at = clock_timestamp(),
            lease_until = clock_timestamp() + $4 * interval '1 millisecond'
      where case when s.finished_at is not null
                 then excluded.slot > s.slot or s.slot > $5
                 else (excluded.slot >= s.slot or s.slot > $5)
                      and s.lease_until not between clock_timestamp()
                          and clock_timestamp() + $4 * interval '1 millisecond'
            end
     returning s.schedule`,
    [schedule, at.toISOString(), holder, leaseMs, latest.toISOString()],
  );
  return rows.length > 0;
}

/** Renews the lease of a slot. Does nothing when its run has ended or another process has claimed it. */
export async function renewSlot(
  db: Queryable,
  { schedule, at, holder }: HeldSlot,
  leaseMs: number,
): Promise<void> {
  await db.query(
    `update schedule_slots set lease_until = statement_timestamp() + $4 * interval '1 millisecond'
      where schedule = $1 and slot = $2 and holder = $3 and finished_at is null`,
    [schedule, at.toISOString(), holder, leaseMs],
  );
}

/** Records that the run of a slot has ended. Does nothing when another process has claimed it. */
export async function finishSlot(
  db: Queryable,
  { schedule, at, holder, error }: EndedSlot,
): Promise<void> {
  await db.query(
    `update schedule_slots set finished_at = statement_timestamp(), error = $4
      where schedule = $1 and slot = $2 and holder = $3 and finished_at is null`,
    [schedule, at.toISOString(), holder, error],
  );
}

/** Reads the latest claimed slot of each schedule; there are a dozen. */
export function readSlots(db: Queryable): Promise<readonly Slot[]> {
  return db.query<Slot>('select schedule, slot as at from schedule_slots limit 100');
}

/** The latest run of each schedule. A lease beyond any that is granted was stored under a wrong clock. */
export function readSlotRuns(db: Queryable): Promise<readonly SlotRun[]> {
  return db.query<SlotRun>(
    `select schedule, slot as at, claimed_at as "claimedAt", finished_at as "finishedAt", error,
            finished_at is null and lease_until > statement_timestamp() as "isHeld"
       from schedule_slots
      limit 100`,
  );
}
