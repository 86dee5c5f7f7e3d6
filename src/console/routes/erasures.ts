/** Endpoints of erasures of personal data: plan, request, list and get. */
import { z } from 'zod';
import { type ErasurePlan, planErasure, requestErasureAs } from '../../actions/eraseData.ts';
import { SUBJECT_KINDS, subjectText } from '../../erasure/domain/subjects.ts';
import { readErasure, readErasures } from '../../erasure/store/erasures.ts';
import { OperatorError } from '../../platform/errors.ts';
import { cutPage, numberPlace, readCursor } from '../../representation/cursor.ts';
import { erasureJson } from '../../representation/erasure.ts';
import { defineEndpoint } from '../endpoint.ts';
import { cursor, id, limit, nextCursor, number, reasonGiven, time } from '../schemas.ts';

const count = z.int().min(0);
const numbers = z.array(z.int().min(1));

/** The command reads more from a file. */
const MAX_SUBJECTS = 50;
/** As many subjects with the longest ids and the longest reason, each character escaped. */
const MAX_BODY_BYTES = 128 * 1024;

const subjects = z
  .array(
    z.strictObject({
      kind: z
        .enum(SUBJECT_KINDS)
        .describe(
          '`order`: with its payments, refunds and disputes; `payment`: with its refunds and disputes, or a ' +
            'payout; `customer`: every payment and payout.',
        ),
      id,
    }),
  )
  .min(1)
  .max(MAX_SUBJECTS)
  .describe('Whom or what to erase.');

const proof = z
  .strictObject({
    places: z
      .array(z.strictObject({ table: z.string(), rows: count }))
      .describe('Tables in which values are left. Empty: nothing was found.'),
    events: numbers.describe('Inbox numbers of other events with the same values.'),
    unreadable_tables: z
      .array(z.string())
      .describe('Not searched, because the database role may not read them.'),
    to_vacuum: z
      .array(z.string())
      .describe('Tables with earlier versions of rows until they are vacuumed.'),
  })
  .describe('The search of every table at the end.');

const erasure = z
  .strictObject({
    number: z.int().min(1),
    subjects: z
      .array(z.string())
      .describe(
        'Such as `order:ord_1`; when it is done, a customer as `customer:sha256:` and the digest of the id.',
      ),
    reason: z.string(),
    requested_by: z.string(),
    requested_at: time,
    state: z.enum(['running', 'done']).describe('`running`: also while it waits for a process.'),
    finished_at: time.nullable(),
    bodies: count.describe('Bodies of events that are erased so far.'),
    texts: count.describe('Texts that are replaced so far.'),
    remaining: count.nullable().describe('Rows with values that are left; null until it is done.'),
    proof: proof.nullable().describe('Null until it is done.'),
  })
  .meta({ id: 'Erasure' });

const plan = z
  .strictObject({
    resources: z
      .record(z.string(), count)
      .describe('How many resources lose their texts, by kind. Amounts, statuses and ids stay.'),
    events: count.describe('Events that lose their bodies and can no longer be replayed.'),
    values: count.describe('Values, such as names, that are searched for in every table.'),
    pending_events: numbers.describe('Events that are not applied yet; their bodies wait.'),
    dead_events: numbers.describe('Events that could not be applied. Replay them first.'),
    unknown_subjects: z.array(z.string()).describe('Subjects of which nothing is known.'),
    running: z.int().nullable().describe('Number of a request for the same that is not done.'),
  })
  .meta({ id: 'ErasurePlan' });

export const planErasureEndpoint = defineEndpoint({
  id: 'planErasure',
  method: 'post',
  path: '/api/v1/erasures/plan',
  permission: 'erase',
  summary: 'Show what an erasure would erase',
  description:
    'Changes nothing. Reads every stored body, once for orders and payments and twice for customers, which ' +
    'takes minutes in a large installation.',
  params: z.strictObject({}),
  query: z.strictObject({}),
  body: z.strictObject({ subjects }),
  maxBodyBytes: MAX_BODY_BYTES,
  response: plan,
  statuses: [409],
  handle: async ({ db }, { body }) => {
    const planned = await tooMany(() => planErasure({ db }, body.subjects));
    if ('outcome' in planned) return planned;
    return { outcome: 'ok', body: planJson(planned) };
  },
});

function planJson({ resources, events, values, state, unknown, running }: ErasurePlan) {
  return {
    resources,
    events,
    values,
    pending_events: [...state.pending],
    dead_events: [...state.dead],
    unknown_subjects: unknown.map(subjectText),
    running: running?.id ?? null,
  };
}

/** More values than can be searched for at once are a result of the plan, not a fault. */
async function tooMany(
  work: () => Promise<ErasurePlan>,
): Promise<ErasurePlan | { readonly outcome: 'conflict'; readonly message: string }> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { outcome: 'conflict', message: error.message };
  }
}

export const requestErasure = defineEndpoint({
  id: 'requestErasure',
  method: 'post',
  path: '/api/v1/erasures',
  permission: 'erase',
  summary: 'Erase personal data, which cannot be undone',
  description:
    'Plan it first. A process with the role `scheduler` begins within a minute, and another one continues ' +
    'if that ends. Get the erasure by its number until its state is `done`. While a request for the same ' +
    'subjects runs, this one returns it, with status 200. The name of the token is recorded.',
  params: z.strictObject({}),
  query: z.strictObject({}),
  body: z.strictObject({
    subjects,
    reason: reasonGiven.describe('Why you erase; recorded with the name of the token.'),
    confirm: z
      .literal(true)
      .describe('That you know what is erased, and that it cannot be undone.'),
  }),
  maxBodyBytes: MAX_BODY_BYTES,
  response: erasure,
  statuses: [202],
  handle: async ({ db }, { body, actor }) => {
    const { isNew, request } = await requestErasureAs({ db }, actor, body);
    if (!request) throw new Error('a request that was just written is missing');
    return { outcome: isNew ? 'accepted' : 'ok', body: erasureJson(request) };
  },
});

export const listErasures = defineEndpoint({
  id: 'listErasures',
  method: 'get',
  path: '/api/v1/erasures',
  permission: 'read_audit',
  summary: 'List requests for erasure, newest first',
  params: z.strictObject({}),
  query: z.strictObject({ limit, cursor }),
  response: z
    .strictObject({ erasures: z.array(erasure), next_cursor: nextCursor })
    .meta({ id: 'ErasurePage' }),
  statuses: [],
  handle: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const rows = await readErasures(db, {
      below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER,
      limit: query.limit + 1,
    });
    const { shown, next } = cutPage(rows, query.limit, (row) => [row.id]);
    return { outcome: 'ok', body: { erasures: shown.map(erasureJson), next_cursor: next } };
  },
});

export const getErasure = defineEndpoint({
  id: 'getErasure',
  method: 'get',
  path: '/api/v1/erasures/{number}',
  permission: 'read_audit',
  summary: 'Get a request for erasure, with its proof',
  params: z.strictObject({ number }),
  query: z.strictObject({}),
  response: erasure,
  statuses: [404],
  handle: async ({ db }, { params }) => {
    const row = await readErasure(db, params.number);
    if (!row) return { outcome: 'not_found', message: `There is no erasure ${params.number}.` };
    return { outcome: 'ok', body: erasureJson(row) };
  },
});
