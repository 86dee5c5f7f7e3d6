/** The timeline of an order in the form of the API. */
import { z } from 'zod';
import { ORDER_STATUSES } from '../ledger/domain/order.ts';
import { decline } from './decline.ts';
import { amount, currency, reason, resourceKind, resourceStatus, time } from './schemas.ts';

const cause = z
  .strictObject({
    source: z
      .enum(['webhook', 'retrieve', 'list'])
      .describe('`webhook`: an event; `retrieve`, `list`: the service was asked.'),
    event_number: z.int().nullable().describe('Number of the event in the inbox.'),
    event_id: z.string().nullable(),
  })
  .meta({ id: 'Cause' });

const told = { at: time, text: z.string().describe('The same in one sentence.') };
const resource = { kind: resourceKind, id: z.string() };
const status = z.enum(ORDER_STATUSES).nullable();

export const timelineEntry = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('event'),
      ...told,
      number: z.int(),
      event_id: z.string().nullable(),
      event_type: z.string().nullable(),
    }),
    z.strictObject({
      type: z.literal('snapshot'),
      ...told,
      ...resource,
      status: resourceStatus,
      stage: z.string().nullable(),
      currency: currency.nullable(),
      amount: amount.nullable(),
      amount_received: amount.nullable(),
      decline: decline.nullable().describe('Failed payments only.'),
      reason,
      is_current: z.boolean().describe('The state of the resource stands on this snapshot now.'),
      cause,
    }),
    z.strictObject({
      type: z.literal('transfer'),
      ...told,
      ...resource,
      leg: z.string(),
      debit: z.string(),
      credit: z.string(),
      currency,
      amount,
      amount_cumulative: amount.describe('What the leg has moved in all, after this transfer.'),
      cause: cause.nullable(),
    }),
    z.strictObject({
      type: z.literal('status'),
      ...told,
      status,
      previous_status: status,
      cause: cause.nullable(),
    }),
    z.strictObject({
      type: z.literal('registered'),
      ...told,
      currency,
      amount,
      by: z.string().describe('Name of the token that was used.'),
    }),
    z.strictObject({
      type: z.enum(['finding_opened', 'finding_closed']),
      ...told,
      number: z.int(),
      class: z.string(),
      subject: z.string(),
      detail: z.record(z.string(), z.unknown()),
    }),
    z.strictObject({
      type: z.enum(['alert_opened', 'alert_acknowledged', 'alert_resolved']),
      ...told,
      number: z.int().describe('As at `/api/v1/alerts`.'),
      rule: z.string(),
      subject: z.string(),
      severity: z.string(),
    }),
  ])
  .meta({ id: 'TimelineEntry' });
