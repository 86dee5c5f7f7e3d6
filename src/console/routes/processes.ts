/** The endpoint of the processes that run. */
import { z } from 'zod';
import { readProcesses } from '../../monitor/store/processes.ts';
import { PROCESS_STATES, processJson } from '../../representation/process.ts';
import { defineEndpoint } from '../endpoint.ts';
import { time } from '../schemas.ts';

const process = z
  .strictObject({
    host: z.string(),
    pid: z.int().describe('Process id on its host.'),
    roles: z.array(z.string()),
    version: z.string(),
    state: z
      .enum(PROCESS_STATES)
      .describe(
        '`not_ready`: a check failed that its roles need; `missing`: it has sent no report for 30 seconds and did not stop cleanly.',
      ),
    failures: z
      .array(z.string())
      .describe('The checks that failed at its last report, with their reasons.'),
    started_at: time,
    last_seen_at: time.describe('Its last report; a process reports every ten seconds.'),
  })
  .meta({ id: 'Process' });

/** More than an installation has. */
const MAX_PROCESSES = 200;

export const listProcesses = defineEndpoint({
  id: 'listProcesses',
  method: 'get',
  path: '/api/v1/processes',
  permission: 'read',
  summary: 'List the processes of the installation, with version and health, missing ones first',
  description:
    'At most 200. A process that stops cleanly leaves the list; one that was killed stays for a day.',
  params: z.strictObject({}),
  query: z.strictObject({}),
  response: z.strictObject({ processes: z.array(process) }).meta({ id: 'ProcessList' }),
  statuses: [],
  handle: async ({ db }) => {
    const rows = await readProcesses(db, MAX_PROCESSES);
    return { outcome: 'ok', body: { processes: rows.map(processJson) } };
  },
});
