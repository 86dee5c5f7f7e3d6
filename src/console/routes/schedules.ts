/** Endpoints of the schedules: what became of each, and runs at once. */
import { z } from 'zod';
import { runScheduleAs } from '../../actions/runSchedule.ts';
import { scheduleJson } from '../../representation/schedule.ts';
import { RUN_RESULTS } from '../../scheduler/domain/state.ts';
import { readSchedules } from '../../scheduler/readSchedules.ts';
import { defineEndpoint } from '../endpoint.ts';
import { reasonGiven, time } from '../schemas.ts';

const request = z
  .strictObject({ requested_at: time, requested_by: z.string(), reason: z.string() })
  .meta({ id: 'ScheduleRequest' });

const schedule = z
  .strictObject({
    name: z.string(),
    does: z.string(),
    every: z.string().describe('When it runs, in words.'),
    cron: z.string().describe('When it runs, as a cron expression in UTC.'),
    runs: z
      .enum(['once', 'everywhere'])
      .describe(
        '`once`: one scheduler runs each slot; `everywhere`: each does, which is not recorded.',
      ),
    last_slot_at: time.nullable().describe('The slot of its latest run, or when it was requested.'),
    result: z
      .enum(RUN_RESULTS)
      .describe(
        '`interrupted`: its process ended, and another one takes over; `never`: no run yet; `unrecorded`: it runs everywhere.',
      ),
    error: z.string().nullable().describe('Why the latest run failed.'),
    duration_seconds: z.number().min(0).nullable().describe('Null until the run has ended.'),
    next_slot_at: time.nullable(),
    overdue: z.boolean().describe('A slot has been due for more than two minutes.'),
    request: request.nullable().describe('A request to run it at once that was not served yet.'),
  })
  .meta({ id: 'Schedule' });

export const listSchedules = defineEndpoint({
  id: 'listSchedules',
  method: 'get',
  path: '/api/v1/schedules',
  permission: 'read',
  summary: 'List the schedules with their latest run and next slot',
  params: z.strictObject({}),
  query: z.strictObject({}),
  response: z.strictObject({ schedules: z.array(schedule) }).meta({ id: 'ScheduleList' }),
  statuses: [],
  handle: async (parts) => {
    const states = await readSchedules(parts, parts.schedules);
    return { outcome: 'ok', body: { schedules: states.map(scheduleJson) } };
  },
});

export const runSchedule = defineEndpoint({
  id: 'runSchedule',
  method: 'post',
  path: '/api/v1/schedules/{name}/run',
  permission: 'operate',
  summary: 'Run a schedule at once',
  description:
    'A process with the role `scheduler` starts the run within seconds, after one that is under way has ended. The list shows it.',
  params: z.strictObject({ name: z.string().min(1).max(100) }),
  query: z.strictObject({}),
  body: z.strictObject({ reason: reasonGiven }),
  response: z.strictObject({ name: z.string() }).meta({ id: 'RequestedRun' }),
  statuses: [202, 404, 409],
  handle: async ({ db, schedules }, { params: { name }, body: { reason }, actor }) => {
    const requested = await runScheduleAs({ db, schedules }, actor, { name, reason });
    switch (requested.outcome) {
      case 'requested':
        return { outcome: 'accepted', body: { name } };
      case 'unknown':
        return { outcome: 'not_found', message: requested.message };
      case 'needless':
        return { outcome: 'conflict', message: requested.message };
    }
  },
});
