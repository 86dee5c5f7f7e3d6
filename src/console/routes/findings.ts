/** Endpoint of findings: recorded discrepancies. */
import { z } from 'zod';
import { FINDING_STATES, readFindingRows } from '../../ledger/read/store/findings.ts';
import { findingJson } from '../../representation/finding.ts';
import { cutPage, numberPlace, readCursor } from '../cursor.ts';
import { defineEndpoint } from '../endpoint.ts';
import { cursor, id, limit, nextCursor, time } from '../schemas.ts';

const finding = z
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
    const rows = await readFindingRows(db, {
      state: query.state,
      findingClass: query.class,
      subject: query.subject,
      below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER,
      limit: query.limit + 1,
    });
    const { shown, next } = cutPage(rows, query.limit, (row) => [row.id]);
    return {
      outcome: 'ok',
      body: {
        findings: shown.map(findingJson),
        next_cursor: next,
      },
    };
  },
});
