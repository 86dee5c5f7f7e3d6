/** Endpoints of reconciliations: what was compared with the service and the result, and a new one. */
import { z } from 'zod';
import { startReconciliationAs } from '../../actions/startReconciliation.ts';
import { stopReconciliationAs } from '../../actions/stopReconciliation.ts';
import type { Attempted } from '../../audit/recordAudit.ts';
import { toError } from '../../platform/errors.ts';
import { VERDICTS } from '../../reconcile/domain/verdict.ts';
import type { OperatorRequest } from '../../reconcile/jobs.ts';
import { readBudget } from '../../reconcile/store/budget.ts';
import { readMissedByDay } from '../../reconcile/store/progress.ts';
import { MODES, RUN_STATES, readRun, readRuns, SUMS_OUTCOMES } from '../../reconcile/store/runs.ts';
import { STREAMS } from '../../reconcile/streams.ts';
import { cutPage, numberPlace, readCursor } from '../../representation/cursor.ts';
import { reconciliationJson } from '../../representation/reconciliation.ts';
import { defineEndpoint, type Outcome } from '../endpoint.ts';
import { attemptNumber, cursor, daysBack, limit, nextCursor, number, time } from '../schemas.ts';

const count = z.int().min(0);

const run = z
  .strictObject({
    number: count,
    stream: z.enum(STREAMS),
    mode: z.enum(MODES).describe('`totals`: rows were listed only where counts differed.'),
    cause: z.string().describe('The schedule that started it, or `operator`.'),
    is_dry_run: z.boolean(),
    state: z.enum(RUN_STATES),
    verdict: z
      .enum(VERDICTS)
      .describe(
        '`equal`: rows were compared, and no difference remains. `empty`: neither side has a row in the span.',
      ),
    from: time.describe('Time of creation; both bounds are included.'),
    to: time,
    checkpoint: time.describe('Everything before this time is compared.'),
    started_at: time,
    finished_at: time.nullable(),
    windows: count,
    requests: count.describe('Requests to the service.'),
    rows_compared: count.describe('Rows that were listed and compared.'),
    rows_counted: count.describe('Rows covered by counts that agreed, with mode `totals`.'),
    found: count,
    repaired: count,
    remaining: count.describe('Found and not repaired; accepted findings do not count.'),
    missed_webhooks: count.describe('Changes without a webhook in time.'),
    failure: z.string().nullable(),
    stopped_by: z.string().nullable().describe('Who stopped it; null unless it is stopped.'),
    differences: z
      .array(z.strictObject({ class: z.string(), subject: z.string(), outcome: z.string() }))
      .describe('The first 200.'),
    sums: z
      .enum(SUMS_OUTCOMES)
      .nullable()
      .describe("How the sums of the service's analytics compared; they are only a hint."),
  })
  .meta({ id: 'Reconciliation' });

export const listReconciliations = defineEndpoint({
  id: 'listReconciliations',
  method: 'get',
  path: '/api/v1/reconciliations',
  permission: 'read',
  summary: 'List reconciliations, newest first',
  params: z.strictObject({}),
  query: z.strictObject({ stream: z.enum(STREAMS).optional(), limit, cursor }),
  response: z
    .strictObject({ reconciliations: z.array(run), next_cursor: nextCursor })
    .meta({ id: 'ReconciliationPage' }),
  statuses: [],
  handle: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const rows = await readRuns(db, {
      stream: query.stream,
      below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER,
      limit: query.limit + 1,
    });
    const { shown, next } = cutPage(rows, query.limit, (row) => [row.id]);
    return {
      outcome: 'ok',
      body: { reconciliations: shown.map(reconciliationJson), next_cursor: next },
    };
  },
});

const started = z
  .strictObject({
    streams: z.array(z.enum(STREAMS)),
    attempt: attemptNumber,
  })
  .meta({ id: 'StartedReconciliations' });

export const startReconciliation = defineEndpoint({
  id: 'startReconciliation',
  method: 'post',
  path: '/api/v1/reconciliations',
  permission: 'operate',
  summary: 'Start reconciliations',
  description:
    'Enqueues one run for each list. They run after those that wait already, even during a pause, and are ' +
    'then listed with the cause `operator`. Without `from`, a run starts half an hour before the end of the ' +
    'last one. The name of the token is recorded.',
  params: z.strictObject({}),
  query: z.strictObject({}),
  body: z.strictObject({
    stream: z
      .enum([...STREAMS, 'all'])
      .default('all')
      .describe('The list to compare.'),
    mode: z
      .enum(MODES)
      .default('full')
      .describe('`full`: list every row; `totals`: list only where counts differ.'),
    from: time.optional().describe('Only resources created at or after this time. UTC.'),
    to: time.optional().describe('Only resources created at or before this time. UTC.'),
    dry_run: z.boolean().default(false).describe('Report differences without changing anything.'),
  }),
  response: started,
  statuses: [202],
  handle: async ({ db, enqueueRuns }, { body, actor }) => {
    const [fromMs, toMs] = [body.from, body.to].map((text) =>
      text === undefined ? undefined : Date.parse(text),
    );
    if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs) {
      return { outcome: 'invalid', message: 'The body is invalid: from: must be before to.' };
    }
    const streams = body.stream === 'all' ? STREAMS : [body.stream];
    const request = { streams, mode: body.mode, fromMs, toMs, isDryRun: body.dry_run };
    const start = (wanted: OperatorRequest, attempt: number) =>
      enqueue(() => enqueueRuns(wanted, attempt), { streams: [...streams], attempt });
    return await startReconciliationAs({ db, start }, actor, request);
  },
});

type Started = Outcome<z.input<typeof started>>;

async function enqueue(
  add: () => Promise<void>,
  body: z.input<typeof started>,
): Promise<Attempted<Started>> {
  try {
    await add();
    return { value: { outcome: 'accepted', body }, result: 'done' };
  } catch (error) {
    const reason = toError(error).message;
    const message = `The queue is unavailable (${reason}). Nothing was started.`;
    return {
      value: { outcome: 'unavailable', message },
      result: 'failed',
      detail: { error: reason },
    };
  }
}

const params = z.strictObject({ number });

export const getReconciliation = defineEndpoint({
  id: 'getReconciliation',
  method: 'get',
  path: '/api/v1/reconciliations/{number}',
  permission: 'read',
  summary: 'Get a reconciliation, with its progress',
  params,
  query: z.strictObject({}),
  response: run,
  statuses: [404],
  handle: async ({ db }, { params: { number: id } }) => {
    const row = await readRun(db, id);
    return row ? { outcome: 'ok', body: reconciliationJson(row) } : unknownRun(id);
  },
});

export const stopReconciliation = defineEndpoint({
  id: 'stopReconciliation',
  method: 'post',
  path: '/api/v1/reconciliations/{number}/stop',
  permission: 'operate',
  summary: 'Stop a reconciliation',
  description:
    'It ends before its next request to the service. What it compared and repaired stays so, and no later ' +
    'run resumes it. The name of the token is recorded.',
  params,
  query: z.strictObject({}),
  response: run,
  statuses: [404, 409],
  handle: async ({ db }, { params: { number: id }, actor }) => {
    const stopped = await stopReconciliationAs({ db }, actor, id);
    switch (stopped.outcome) {
      case 'stopped':
        return { outcome: 'ok', body: reconciliationJson(stopped.run) };
      case 'ended': {
        const message = `Run ${id} has ended already: it is ${stopped.state}. Nothing was changed.`;
        return { outcome: 'conflict', message };
      }
      case 'unknown':
        return unknownRun(id);
    }
  },
});

function unknownRun(id: number) {
  const message = `There is no run ${id}, or retention removed it.`;
  return { outcome: 'not_found', message } as const;
}

export const listMissedWebhooks = defineEndpoint({
  id: 'listMissedWebhooks',
  method: 'get',
  path: '/api/v1/missed-webhooks',
  permission: 'read',
  summary: 'Count missed webhooks by day and list',
  description:
    'Changes that scheduled runs found and no webhook reported in time, by the day in UTC on which the run ' +
    'started. Days and lists without any are left out.',
  params: z.strictObject({}),
  query: z.strictObject({ days: daysBack }),
  response: z
    .strictObject({
      days: z.array(
        z.strictObject({ day: z.string(), stream: z.enum(STREAMS), missed_webhooks: count }),
      ),
    })
    .meta({ id: 'MissedWebhooks' }),
  statuses: [],
  handle: async ({ db }, { query }) => {
    const rows = await readMissedByDay(db, query.days);
    const days = rows.map(({ missed, ...rest }) => ({ ...rest, missed_webhooks: missed }));
    return { outcome: 'ok', body: { days } };
  },
});

export const getRateBudget = defineEndpoint({
  id: 'getRateBudget',
  method: 'get',
  path: '/api/v1/rate-budget',
  permission: 'read',
  summary: 'Get the requests to the service in the current minute',
  params: z.strictObject({}),
  query: z.strictObject({}),
  response: z
    .strictObject({
      limit: count.nullable().describe('Null before the service has sent its limit.'),
      remaining: count.nullable(),
      background: count.describe('Requests of background work in its current minute.'),
    })
    .meta({ id: 'RateBudget' }),
  statuses: [],
  handle: async ({ db }) => {
    const { limit: allowed, remaining, backgroundRequests } = await readBudget(db);
    return { outcome: 'ok', body: { limit: allowed, remaining, background: backgroundRequests } };
  },
});
