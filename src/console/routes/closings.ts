/** Endpoints that close months and reopen them. */
import { z } from 'zod';
import { closePeriodAs, reopenPeriodAs } from '../../actions/closePeriod.ts';
import { EXCEPTION_KINDS } from '../../ledger/domain/closings.ts';
import { readClosings } from '../../ledger/read/store/closings.ts';
import { unlessUndated } from '../../ledger/read/undated.ts';
import { closingJson, exceptionJson, unprovenText } from '../../representation/closing.ts';
import { readClosingPlan } from '../../statements/closePeriod.ts';
import { defineEndpoint } from '../endpoint.ts';
import { month, reasonGiven, time, timeZone } from '../schemas.ts';

const exception = z.strictObject({
  kind: z.enum(EXCEPTION_KINDS),
  meaning: z.string(),
  count: z.int().min(1),
  examples: z.array(z.string()).describe('Some of them, at most 20.'),
});

export const closing = z
  .strictObject({
    month,
    version: z.int().min(1).describe('1 for the first closing of the month.'),
    time_zone: timeZone,
    from: time.describe('The first instant of the month.'),
    to: time.describe('The first instant after it.'),
    last_transfer: z
      .int()
      .min(0)
      .describe('The greatest number of a transfer that the closing can contain.'),
    closed_at: time,
    closed_by: z.string(),
    reason: z.string().nullable(),
    exceptions: z.array(exception).describe('What was unproven.'),
    seal: z
      .strictObject({
        chain_head: z
          .string()
          .describe('Number and digest of the block of the chain that has its last transfer.'),
        digest: z.string().describe('SHA-256 of the closing, its sums and the block.'),
        signature: z.string().nullable().describe('Of the digest, with the key of the block.'),
        sealed_at: time,
      })
      .nullable()
      .describe('Null until the chain has its last transfer, some minutes at most.'),
    reopened: z
      .strictObject({ at: time, by: z.string(), reason: z.string() })
      .nullable()
      .describe('Null while the closing is in force.'),
  })
  .meta({ id: 'Closing' });

export const listClosings = defineEndpoint({
  id: 'listClosings',
  method: 'get',
  path: '/api/v1/closings',
  permission: 'read',
  summary: 'List the closings of months, also of those that were reopened',
  params: z.strictObject({}),
  query: z.strictObject({}),
  response: z.strictObject({ closings: z.array(closing) }).meta({ id: 'Closings' }),
  statuses: [],
  handle: async ({ db }) => ({
    outcome: 'ok',
    body: { closings: (await readClosings(db)).map(closingJson) },
  }),
});

const closable = z
  .strictObject({
    month,
    time_zone: timeZone,
    may_close: z.boolean().describe('Whether it may be closed now, perhaps with exceptions.'),
    refusal: z.string().nullable().describe('Why it may not.'),
    unproven: z.array(exception).describe('What is unproven now.'),
    closings: z.array(closing).describe('Every closing of the month.'),
  })
  .meta({ id: 'ClosableMonth' });

export const getMonth = defineEndpoint({
  id: 'getClosableMonth',
  method: 'get',
  path: '/api/v1/closings/{month}',
  permission: 'read',
  summary: 'Get the closings of a month, and what is unproven about it',
  params: z.strictObject({ month }),
  query: z.strictObject({ time_zone: timeZone.optional() }),
  response: closable,
  statuses: [],
  handle: async ({ db }, { params, query }) => {
    const request = { month: params.month, timeZone: query.time_zone };
    const { period, may, exceptions, closings } = await readClosingPlan(db, request);
    return {
      outcome: 'ok',
      body: {
        month: period.month,
        time_zone: period.timeZone,
        may_close: may.outcome === 'ok',
        refusal: may.outcome === 'ok' ? null : may.message,
        unproven: exceptions.map(exceptionJson),
        closings: closings.map(closingJson),
      },
    };
  },
});

export const closeMonth = defineEndpoint({
  id: 'closeMonth',
  method: 'post',
  path: '/api/v1/closings/{month}/close',
  permission: 'close_periods',
  summary: 'Close a month',
  description:
    'Its sums never change again: what arrives later is booked in the first open month, and statements of ' +
    'both list it. Months are closed in order, in one time zone; the first one closes everything before ' +
    'it. Refused with 409 while something is unproven, unless `with_exceptions` is true. The name of the ' +
    'token is recorded.',
  params: z.strictObject({ month }),
  query: z.strictObject({}),
  body: z.strictObject({
    time_zone: timeZone.optional().describe('Without it, that of the closed months, or UTC.'),
    with_exceptions: z.boolean().default(false),
    reason: reasonGiven.optional().describe('Why you close it in spite of its exceptions.'),
  }),
  response: closing,
  statuses: [409, 422],
  handle: async ({ db }, { params, body, actor }) => {
    const read = await unlessUndated(() =>
      closePeriodAs({ db }, actor, {
        month: params.month,
        timeZone: body.time_zone,
        withExceptions: body.with_exceptions,
        reason: body.reason,
      }),
    );
    if (read.outcome !== 'ok') return read;
    const closed = read.data;
    switch (closed.outcome) {
      case 'closed':
        return { outcome: 'ok', body: closingJson(closed.closing) };
      case 'refused':
        return { outcome: 'conflict', message: closed.message };
      case 'unproven': {
        const next = 'send `with_exceptions`';
        const message = unprovenText(params.month, closed.exceptions, next);
        return { outcome: 'conflict', message };
      }
    }
  },
});

export const reopenMonth = defineEndpoint({
  id: 'reopenMonth',
  method: 'post',
  path: '/api/v1/closings/{month}/reopen',
  permission: 'close_periods',
  summary: 'Reopen the last closed month',
  description:
    'What was booked late belongs to it again. The closing and its sums are kept, and closing the month ' +
    'again makes a new version. The name of the token is recorded.',
  params: z.strictObject({ month }),
  query: z.strictObject({}),
  body: z.strictObject({ reason: reasonGiven.describe('Why you reopen it.') }),
  response: closing,
  statuses: [404, 409],
  handle: async ({ db }, { params, body, actor }) => {
    const input = { month: params.month, reason: body.reason };
    const reopened = await reopenPeriodAs({ db }, actor, input);
    switch (reopened.outcome) {
      case 'reopened':
        return { outcome: 'ok', body: closingJson(reopened.closing) };
      case 'not_closed':
        return { outcome: 'not_found', message: reopened.message };
      case 'refused':
        return { outcome: 'conflict', message: reopened.message };
    }
  },
});
