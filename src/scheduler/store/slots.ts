/** Statements on the slots of schedules. Leases run by the database's clock, which all processes share. */
import type { Queryable } from '../../platform/db/database.ts';

/** One slot of one schedule. */
export interface Slot {
  readonly schedule: string;
  readonly at: Date;
}

/**
 * Takes a slot, if it is later than the last one taken, and the run of that one has ended or its
 * lease has. A slot whose run never ended can be taken again once its lease is over: whoever took it
 * is gone.
 * @returns whether it was taken; of all who ask for one slot, one gets it
 */
export async function takeSlot(
  db: Queryable,
  { schedule, at }: Slot,
  leaseMs: number,
): Promise<boolean> {
  const rows = await db.query(
    `insert into schedule_slots as s (schedule, slot, lease_until)
     values ($1, $2, statement_timestamp() + $3 * interval '1 millisecond')
     on conflict (schedule) do update
        set slot = excluded.slot, finished_at = null, lease_until = excluded.lease_until
      where (s.finished_at is not null and excluded.slot > s.slot)
         or (s.finished_at is null and excluded.slot >= s.slot
             and s.lease_until < statement_timestamp())
     returning s.schedule`,
    [schedule, at.toISOString(), leaseMs],
  );
  return rows.length > 0;
}

/** Says that the run of a slot has ended. Nothing happens when somebody has taken it over since. */
export async function finishSlot(db: Queryable, { schedule, at }: Slot): Promise<void> {
  await db.query(
    `update schedule_slots set finished_at = statement_timestamp()
      where schedule = $1 and slot = $2 and finished_at is null`,
    [schedule, at.toISOString()],
  );
}

/** The last slot that was taken of each schedule; there are a dozen. */
export function readSlots(db: Queryable): Promise<readonly Slot[]> {
  return db.query<Slot>('select schedule, slot as at from schedule_slots limit 100');
}
