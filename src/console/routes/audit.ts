/** Endpoints of the audit log: who did what, and what became of an attempt without a result. */
import { z } from 'zod';
import { closeAttemptAs } from '../../actions/closeAttempt.ts';
import { ACTOR_KINDS } from '../../audit/domain/actor.ts';
import { AUDIT_ACTIONS, AUDIT_RESULTS, FINAL_RESULTS } from '../../audit/domain/entry.ts';
import { parseSubject } from '../../audit/domain/subject.ts';
import { searchAudit } from '../../audit/store/audit.ts';
import { orderKeysNamed } from '../../ledger/domain/orderKey.ts';
import { auditEntryJson } from '../../representation/audit.ts';
import { numberCursor, numberPlace, readCursor } from '../../representation/cursor.ts';
import { defineEndpoint } from '../endpoint.ts';
import {
  cursor,
  id,
  limit,
  listTime,
  nextCursor,
  number,
  reasonGiven,
  SEARCHED,
  time,
} from '../schemas.ts';

const action = z.enum(AUDIT_ACTIONS);

const entry = z
  .strictObject({
    number: z.int().min(1),
    recorded_at: time.describe("By the database's clock."),
    actor: z
      .strictObject({
        kind: z
          .enum(ACTOR_KINDS)
          .describe(
            '`token`: the holder of a token; `person`: somebody who signed in at the identity provider; ' +
              '`cli`: a person at a shell; `process`; `unknown`: whoever failed to sign in.',
          ),
        name: z.string(),
        role: z.string().describe('The role at that time.'),
        origin: z.string().describe('Address of the client, or `user@host`.'),
      })
      .describe('Who acted.'),
    action,
    subject: z.strictObject({ kind: z.string(), id: z.string() }).describe('What it is about.'),
    order_key: z.string().nullable().describe('The order that the subject belongs to.'),
    reason: z.string().nullable(),
    result: z
      .enum(AUDIT_RESULTS)
      .describe(
        '`requested`: about to call the payment service, a channel or a queue; another entry of the same ' +
          'attempt has the result. `unknown`: it may have happened.',
      ),
    attempt: z
      .int()
      .nullable()
      .describe('Number of the entry `requested` of the attempt; null for an action without one.'),
    text: z.string().describe('The entry in one sentence.'),
    detail: z.record(z.string(), z.unknown()).describe('The facts; fields depend on the action.'),
  })
  .meta({ id: 'AuditEntry' });

export const listAudit = defineEndpoint({
  id: 'listAudit',
  method: 'get',
  path: '/api/v1/audit',
  permission: 'read_audit',
  summary: 'List entries of the audit log, newest first',
  description: SEARCHED,
  params: z.strictObject({}),
  query: z.strictObject({
    actor: id.optional().describe('Name of a person, a token, or the user of a process.'),
    action: action.optional(),
    subject: z
      .string()
      .refine((text) => parseSubject(text) !== undefined, {
        message: 'must be a kind and an id, such as payment:pay_1',
      })
      .optional()
      .describe('A kind and an id, such as `payment:pay_1` or `finding:12`.'),
    order_id: id.optional().describe('Only entries about this order and its parts.'),
    since: listTime('Only entries recorded at or after this time. UTC.'),
    before: listTime('Only entries recorded before this time. UTC.'),
    open: z
      .literal('1')
      .optional()
      .describe('Only attempts without a result: running, or with an unknown outcome.'),
    limit,
    cursor,
  }),
  response: z
    .strictObject({ entries: z.array(entry), next_cursor: nextCursor })
    .meta({ id: 'AuditPage' }),
  statuses: [],
  handle: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const { rows, next } = await searchAudit(
      db,
      {
        actor: query.actor,
        action: query.action,
        subject: query.subject === undefined ? undefined : parseSubject(query.subject),
        orderKeys: query.order_id === undefined ? undefined : orderKeysNamed(query.order_id),
        since: query.since === undefined ? undefined : new Date(query.since),
        before: query.before === undefined ? undefined : new Date(query.before),
        isOpen: query.open !== undefined,
      },
      { below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER, limit: query.limit },
    );
    return {
      outcome: 'ok',
      body: { entries: rows.map(auditEntryJson), next_cursor: numberCursor(next) },
    };
  },
});

export const closeAttempt = defineEndpoint({
  id: 'closeAttempt',
  method: 'post',
  path: '/api/v1/audit/{number}/close',
  permission: 'move_money',
  summary: 'Record what became of an attempt without a result',
  description:
    'Retrieve the payment first, and compare. An entry is added to the attempt; nothing is changed, and ' +
    'nothing is sent to the service. The name of the token is recorded. 409: the attempt has a result, or it ' +
    'began less than five minutes ago and may still be running.',
  params: z.strictObject({ number }),
  query: z.strictObject({}),
  body: z.strictObject({
    outcome: z.enum(FINAL_RESULTS).describe('What became of it.'),
    reason: reasonGiven.describe('How you know; recorded with the name of the token.'),
  }),
  response: z
    .strictObject({
      closed: z.int().min(1).describe('Number of the attempt.'),
      outcome: z.enum(FINAL_RESULTS),
      by: z.string(),
      reason: z.string(),
    })
    .meta({ id: 'ClosedAttempt' }),
  statuses: [404, 409],
  handle: async ({ db }, { params: { number: closed }, body: { outcome, reason }, actor }) => {
    const result = await closeAttemptAs({ db }, actor, { number: closed, result: outcome, reason });
    switch (result.outcome) {
      case 'closed':
        return { outcome: 'ok', body: { closed, outcome, by: actor.name, reason } };
      case 'unknown':
        return { outcome: 'not_found', message: `There is no attempt ${closed}.` };
      case 'already': {
        const message = `Attempt ${closed} has a result. Nothing was changed.`;
        return { outcome: 'conflict', message };
      }
      case 'running': {
        const message = `Attempt ${closed} began less than five minutes ago and may still be running. Try again later.`;
        return { outcome: 'conflict', message };
      }
    }
  },
});
