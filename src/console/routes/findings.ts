/** Endpoints of findings, recorded discrepancies: list and accept. */
import { z } from 'zod';
import { acceptFindingAs, acceptFindingsAs } from '../../actions/acceptFinding.ts';
import { MAX_ACCEPTED } from '../../ledger/read/findingPlan.ts';
import { FINDING_STATES, searchFindings } from '../../ledger/read/store/findings.ts';
import { numberCursor, numberPlace, readCursor } from '../../representation/cursor.ts';
import { findingJson, notAcceptedText } from '../../representation/finding.ts';
import { defineEndpoint } from '../endpoint.ts';
import { cursor, id, limit, nextCursor, number, reasonGiven, SEARCHED, time } from '../schemas.ts';

export const finding = z
  .strictObject({
    number: z.int().min(1),
    class: z.string().describe('Kind of discrepancy; more may be added.'),
    meaning: z.string(),
    subject: z
      .string()
      .describe(
        'What the finding is about: `payment:pay_1`, `event:12` (its number), `order:order:ord_1`.',
      ),
    state: z
      .enum(FINDING_STATES)
      .describe('`accepted`: still present, and no longer counted as a difference.'),
    detail: z.record(z.string(), z.unknown()).describe('The facts; fields depend on the class.'),
    opened_at: time,
    updated_at: time,
    closed_at: time.nullable(),
    accepted: z
      .strictObject({ at: time, by: z.string(), reason: z.string() })
      .nullable()
      .describe('Who accepted it, and why; null if not accepted.'),
  })
  .meta({ id: 'Finding' });

export const listFindings = defineEndpoint({
  id: 'listFindings',
  method: 'get',
  path: '/api/v1/findings',
  permission: 'read',
  summary: 'List findings, newest first',
  description: SEARCHED,
  params: z.strictObject({}),
  query: z.strictObject({
    state: z.enum(FINDING_STATES).optional(),
    class: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a class such as over_refund')
      .optional(),
    subject: id.optional(),
    limit,
    cursor,
  }),
  response: z
    .strictObject({ findings: z.array(finding), next_cursor: nextCursor })
    .meta({ id: 'FindingPage' }),
  statuses: [],
  handle: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const { rows, next } = await searchFindings(
      db,
      { state: query.state, findingClass: query.class, subject: query.subject },
      { below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER, limit: query.limit },
    );
    return {
      outcome: 'ok',
      body: { findings: rows.map(findingJson), next_cursor: numberCursor(next) },
    };
  },
});

export const accept = defineEndpoint({
  id: 'acceptFinding',
  method: 'post',
  path: '/api/v1/findings/{number}/accept',
  permission: 'operate',
  summary: 'Accept an open finding',
  description:
    'It no longer counts as a difference. It closes by itself when its cause is gone, and counts again if ' +
    'its detail changes. The name of the token is recorded.',
  params: z.strictObject({ number }),
  query: z.strictObject({}),
  body: z.strictObject({ reason: reasonGiven.describe('Why you accept it.') }),
  response: z
    .strictObject({ accepted: z.int().min(1), by: z.string(), reason: z.string() })
    .meta({ id: 'Acceptance' }),
  statuses: [404, 409],
  handle: async ({ db }, { params: { number: accepted }, body: { reason }, actor }) => {
    const { outcome } = await acceptFindingAs({ db }, actor, { number: accepted, reason });
    if (outcome === 'accepted') {
      return { outcome: 'ok', body: { accepted, by: actor.name, reason } };
    }
    const message = notAcceptedText(accepted, outcome);
    return { outcome: outcome === 'unknown' ? 'not_found' : 'conflict', message };
  },
});

export const acceptFindings = defineEndpoint({
  id: 'acceptFindings',
  method: 'post',
  path: '/api/v1/findings/accept',
  permission: 'operate',
  summary: 'Accept several open findings',
  description:
    'Each as by the request for one, for the same reason. What is not open anymore is refused, and the ' +
    'others are accepted. The name of the token is recorded.',
  params: z.strictObject({}),
  query: z.strictObject({}),
  body: z.strictObject({
    numbers: z.array(z.int().min(1)).min(1).max(MAX_ACCEPTED),
    reason: reasonGiven.describe('Why you accept them.'),
  }),
  maxBodyBytes: 16 * 1024,
  response: z
    .strictObject({
      accepted: z.array(z.int().min(1)),
      refused: z.array(z.strictObject({ number: z.int().min(1), reason: z.string() })),
    })
    .meta({ id: 'Acceptances' }),
  statuses: [],
  handle: async ({ db }, { body, actor }) => {
    const { accepted, refused } = await acceptFindingsAs({ db }, actor, {
      findings: body.numbers.map((chosen) => ({ number: chosen })),
      reason: body.reason,
    });
    const reasons = refused.map(({ number: place, outcome }) => ({
      number: place,
      reason: notAcceptedText(place, outcome),
    }));
    return { outcome: 'ok', body: { accepted: [...accepted], refused: reasons } };
  },
});
