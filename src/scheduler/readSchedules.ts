/** Reads what became of each schedule, for the console, the admin API and the command line. */
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { lastSlot, nextSlot } from './domain/slots.ts';
import { type ScheduleState, stateOf } from './domain/state.ts';
import type { PlannedSchedule } from './domain/timetable.ts';
import { fieldsOf } from './fields.ts';
import { readRequests } from './store/requests.ts';
import { readSlotRuns } from './store/slots.ts';

export async function readSchedules(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  planned: readonly PlannedSchedule[],
): Promise<readonly ScheduleState[]> {
  const [runs, requests] = await Promise.all([readSlotRuns(db), readRequests(db)]);
  const nowMs = clock.nowMs();
  return planned.map((one) => {
    const fields = fieldsOf(one);
    return stateOf(one, {
      nowMs,
      lastSlotMs: lastSlot(fields, nowMs),
      nextSlotMs: nextSlot(fields, nowMs),
      run: runs.find(({ schedule }) => schedule === one.name),
      request: requests.find(({ schedule }) => schedule === one.name),
    });
  });
}
