/** Requests a run of a schedule at once, for an operator. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import type { Database } from '../platform/db/database.ts';
import type { ScheduleRequest } from '../scheduler/domain/state.ts';
import type { PlannedSchedule } from '../scheduler/domain/timetable.ts';
import { insertRequest, readRequests } from '../scheduler/store/requests.ts';

export type ScheduleRequested =
  | { readonly outcome: 'requested' }
  | { readonly outcome: 'unknown'; readonly message: string }
  /** `message` states why there is nothing to do. */
  | { readonly outcome: 'needless'; readonly message: string };

export interface RunScheduleParts {
  readonly db: Database;
  /** Those of this installation. */
  readonly schedules: readonly PlannedSchedule[];
}

/** @param input the name of a schedule, and why; not empty */
export async function runScheduleAs(
  { db, schedules }: RunScheduleParts,
  actor: Actor,
  { name, reason }: { readonly name: string; readonly reason: string },
): Promise<ScheduleRequested> {
  const planned = schedules.find((schedule) => schedule.name === name);
  if (!planned) {
    const names = schedules.map((schedule) => schedule.name).join(', ');
    const message = `There is no schedule ${JSON.stringify(name)} here. The schedules are ${names}.`;
    return { outcome: 'unknown', message };
  }
  if (planned.runs === 'everywhere') {
    const message = `${name} runs every ${planned.every} in each scheduler, so there is nothing to run sooner.`;
    return { outcome: 'needless', message };
  }
  return await db.transaction(async (tx): Promise<ScheduleRequested> => {
    const request = { schedule: name, requestedBy: actor.name, reason };
    if (!(await insertRequest(tx, request))) {
      const open = (await readRequests(tx)).find(({ schedule }) => schedule === name);
      return { outcome: 'needless', message: alreadyText(name, open) };
    }
    const subject = { kind: 'schedule', id: name };
    await recordAudit(tx, { actor, action: 'schedule.run', subject, reason });
    return { outcome: 'requested' };
  });
}

/** @param open undefined if it was served meanwhile */
function alreadyText(name: string, open: ScheduleRequest | undefined): string {
  const by = open ? ` by ${open.requestedBy} at ${open.requestedAt.toISOString()}` : '';
  return `A run of ${name} is already requested${by}. A process with the role scheduler starts it within seconds.`;
}
