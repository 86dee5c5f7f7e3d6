/** Statements on the slots of schedules. Leases run by the database's clock, which all processes share. */
import type { Queryable } from '../../platform/db/database.ts';

/** One slot of one schedule. */
export interface Slot {
  readonly schedule: string;
  readonly at: Date;
}

/** A slot with who runs it. Each taking has a holder of its own. */
export interface HeldSlot extends Slot {
  readonly holder: string;
}

/**
 * Takes a slot if nobody runs the one before it, or whoever did let its lease end. A slot is taken
 * again only if its run never ended.
 *
 * A slot later than `latest`, and a lease that ends later than any can, were stored under a wrong
 * clock: they keep nobody from taking a slot of now. "Now" is the clock when the row is looked at, not
 * when the statement began: a statement that waited for the row would take the lease of the one that
 * it waited for, granted later than its own beginning, for one that ends too late.
 * @returns whether it was taken; of all who ask for one slot, one gets it
 */
export async function takeSlot(
  db: Queryable,
  { schedule, at, holder }: HeldSlot,
  { leaseMs, latest }: { readonly leaseMs: number; readonly latest: Date },
): Promise<boolean> {
  const rows = await db.query(
    `insert into schedule_slots as s (schedule, slot, holder, lease_until)
     values ($1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond')
     on conflict (schedule) do update
        set slot = excluded.slot, holder = excluded.holder, finished_at = null,
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

/** Renews the lease of a slot. Nothing happens when it has ended, or somebody has taken it over. */
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

/** Records that the run of a slot has ended. Nothing happens when somebody has taken it over. */
export async function finishSlot(db: Queryable, { schedule, at, holder }: HeldSlot): Promise<void> {
  await db.query(
    `update schedule_slots set finished_at = statement_timestamp()
      where schedule = $1 and slot = $2 and holder = $3 and finished_at is null`,
    [schedule, at.toISOString(), holder],
  );
}

/** The last slot that was taken of each schedule; there are a dozen. */
export function readSlots(db: Queryable): Promise<readonly Slot[]> {
  return db.query<Slot>('select schedule, slot as at from schedule_slots limit 100');
}
