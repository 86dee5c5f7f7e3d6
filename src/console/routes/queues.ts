/** The endpoint of the queues. */
import { z } from 'zod';
import { readQueues } from '../../monitor/read/queues.ts';
import { queuesJson } from '../../representation/queue.ts';
import { defineEndpoint } from '../endpoint.ts';
import { time } from '../schemas.ts';

const count = z.int().min(0);
const age = z.number().min(0);

const queue = z
  .strictObject({
    name: z.enum(['events', 'reconcile']),
    does: z.string(),
    jobs: z
      .strictObject({ waiting: count, active: count, delayed: count, failed: count })
      .nullable()
      .describe('Null if the queue cannot be read.'),
    oldest_waiting_seconds: age.nullable(),
    error: z.string().nullable().describe('Why the queue cannot be read.'),
    in_database: z
      .strictObject({ due: count, oldest_seconds: age })
      .nullable()
      .describe(
        'What is due by the database: pending events. It decides; lost jobs are enqueued again from it.',
      ),
    failed_jobs: z
      .array(
        z.strictObject({
          id: z.string(),
          name: z.string(),
          attempts: count,
          error: z.string(),
          failed_at: time.nullable(),
        }),
      )
      .describe('The newest ten.'),
  })
  .meta({ id: 'Queue' });

export const listQueues = defineEndpoint({
  id: 'listQueues',
  method: 'get',
  path: '/api/v1/queues',
  permission: 'read',
  summary: 'Show each queue beside what is due by the database',
  description: 'Adds a job to the queue `probe`, and finishes it.',
  params: z.strictObject({}),
  query: z.strictObject({}),
  response: z
    .strictObject({
      backend: z.enum(['redis', 'postgres']),
      usable: z.boolean().describe('Whether a job could be added, claimed and finished.'),
      problem: z.strictObject({ reason: z.string(), remedy: z.string() }).nullable(),
      events_received_last_minute: count,
      queues: z.array(queue),
    })
    .meta({ id: 'QueueReport' }),
  statuses: [],
  handle: async (parts) => ({
    outcome: 'ok',
    body: queuesJson(await readQueues(parts.queues, parts)),
  }),
});
