/** Endpoints of replays of many events: start, list, get and stop. */
import { z } from 'zod';
import { startReplayAs, stopReplayAs } from '../../actions/replayRuns.ts';
import { readEventFilter } from '../../ledger/read/eventFilter.ts';
import {
  REPLAY_STATES,
  readReplayRun,
  readReplayRuns,
} from '../../ledger/read/store/replayRuns.ts';
import { cutPage, numberPlace, readCursor } from '../../representation/cursor.ts';
import { replayJson } from '../../representation/replay.ts';
import { defineEndpoint } from '../endpoint.ts';
import { eventFilters } from '../eventFilter.ts';
import { cursor, limit, nextCursor, number, reasonGiven, time } from '../schemas.ts';

const count = z.int().min(0);
/** As many as a page of the inbox has, and some more. */
const MAX_NUMBERS = 1_000;

const { order: _order, ...stored } = eventFilters;

const replay = z
  .strictObject({
    number: z.int().min(1),
    filter: z
      .strictObject({ ...stored, numbers: z.array(z.int().min(1)).optional() })
      .describe('Which events; an order is replaced by the inbox numbers of its events.'),
    reason: z.string(),
    requested_by: z.string(),
    requested_at: time,
    planned: count.describe('How many events matched at the request.'),
    is_planned_complete: z.boolean().describe('False if there were more than were counted.'),
    state: z.enum(REPLAY_STATES),
    replayed: count.describe('Events that are pending again, or were since.'),
    refused: count.describe('Events without a body.'),
    refusals: z
      .array(z.strictObject({ number: z.int().min(1), reason: z.string() }))
      .describe('The first of them.'),
    stopped_by: z.string().nullable(),
    finished_at: time.nullable(),
  })
  .meta({ id: 'ReplayOfEvents' });

export const startReplay = defineEndpoint({
  id: 'startReplay',
  method: 'post',
  path: '/api/v1/replays',
  permission: 'operate',
  summary: 'Apply many events again',
  description:
    'A process with the role `scheduler` replays the events that match and are in the inbox now, from the ' +
    'newest to the oldest. Events that are applied already change nothing in the ledger. Get the replay by ' +
    'its number until its state is `done`. The name of the token is recorded.',
  params: z.strictObject({}),
  query: z.strictObject({}),
  body: z.strictObject({
    ...eventFilters,
    numbers: z
      .array(z.int().min(1))
      .min(1)
      .max(MAX_NUMBERS)
      .optional()
      .describe('Only events with these inbox numbers.'),
    reason: reasonGiven.describe('Why they are replayed.'),
  }),
  maxBodyBytes: 32 * 1024,
  response: replay,
  statuses: [202],
  handle: async ({ db }, { body: { reason, numbers, ...query }, actor }) => {
    const filter = await readEventFilter(db, query, numbers);
    const run = await startReplayAs({ db }, actor, { filter, reason });
    return { outcome: 'accepted', body: replayJson(run) };
  },
});

export const listReplays = defineEndpoint({
  id: 'listReplays',
  method: 'get',
  path: '/api/v1/replays',
  permission: 'read',
  summary: 'List replays of many events, newest first',
  params: z.strictObject({}),
  query: z.strictObject({ limit, cursor }),
  response: z
    .strictObject({ replays: z.array(replay), next_cursor: nextCursor })
    .meta({ id: 'ReplayPage' }),
  statuses: [],
  handle: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const below = from.place?.[0] ?? Number.MAX_SAFE_INTEGER;
    const rows = await readReplayRuns(db, { below, limit: query.limit + 1 });
    const { shown, next } = cutPage(rows, query.limit, (row) => [row.id]);
    return { outcome: 'ok', body: { replays: shown.map(replayJson), next_cursor: next } };
  },
});

const params = z.strictObject({ number });

export const getReplay = defineEndpoint({
  id: 'getReplay',
  method: 'get',
  path: '/api/v1/replays/{number}',
  permission: 'read',
  summary: 'Get a replay of many events, with its progress',
  params,
  query: z.strictObject({}),
  response: replay,
  statuses: [404],
  handle: async ({ db }, { params: { number: id } }) => {
    const run = await readReplayRun(db, id);
    return run ? { outcome: 'ok', body: replayJson(run) } : unknown(id);
  },
});

export const stopReplay = defineEndpoint({
  id: 'stopReplay',
  method: 'post',
  path: '/api/v1/replays/{number}/stop',
  permission: 'operate',
  summary: 'Stop a replay of many events',
  description: 'Events that it replayed stay so. The name of the token is recorded.',
  params,
  query: z.strictObject({}),
  response: replay,
  statuses: [404, 409],
  handle: async ({ db }, { params: { number: id }, actor }) => {
    const isStopped = await stopReplayAs({ db }, actor, id);
    const run = await readReplayRun(db, id);
    if (!run) return unknown(id);
    if (isStopped) return { outcome: 'ok', body: replayJson(run) };
    const message = `Replay ${id} is ${run.state}. Nothing was changed.`;
    return { outcome: 'conflict', message };
  },
});

function unknown(id: number) {
  return { outcome: 'not_found', message: `There is no replay ${id}.` } as const;
}
