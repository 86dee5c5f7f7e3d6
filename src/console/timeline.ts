/** Schema of the timeline of an order or a resource. */
import { z } from 'zod';
import { AUDIT_ACTIONS, AUDIT_RESULTS } from '../audit/domain/entry.ts';
import { decline } from '../webhooks/fields.ts';
import { ORDER_STATUSES } from '../webhooks/orderStatuses.ts';
import { amount, currency, flag, reason, resourceKind, resourceStatus, time } from './schemas.ts';

export const observationSource = z
  .enum(['webhook', 'retrieve', 'list'])
  .describe('`webhook`: an event; `retrieve`, `list`: a request to the service.');

const cause = z
  .strictObject({
    source: observationSource,
    event_number: z.int().nullable().describe('Inbox number of the event.'),
    event_id: z.string().nullable(),
  })
  .meta({ id: 'Cause' });

const common = {
  at: time.describe('When Tallyhook recorded it; of an event, when it was received.'),
  text: z.string().describe('The entry in one sentence.'),
};
const resource = { kind: resourceKind, id: z.string() };
const status = z.enum(ORDER_STATUSES).nullable();

const timelineEntry = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('event'),
      ...common,
      number: z.int(),
      event_id: z.string().nullable(),
      event_type: z.string().nullable(),
    }),
    z.strictObject({
      type: z.literal('snapshot'),
      ...common,
      ...resource,
      effective_at: time.describe('When the service changed the resource.'),
      status: resourceStatus,
      stage: z.string().nullable(),
      currency: currency.nullable(),
      amount: amount.nullable(),
      amount_received: amount.nullable(),
      decline: decline.nullable().describe('Failed payments only.'),
      reason,
      is_current: z
        .boolean()
        .describe('Whether this snapshot is the current state of the resource.'),
      cause,
    }),
    z.strictObject({
      type: z.literal('transfer'),
      ...common,
      ...resource,
      effective_at: time
        .nullable()
        .describe('When the service moved the money; null: not known yet, after an upgrade.'),
      leg: z.string(),
      debit: z.string(),
      credit: z.string(),
      currency,
      amount,
      amount_cumulative: amount.describe('Total of the leg after this transfer.'),
      cause: cause.nullable(),
    }),
    z.strictObject({
      type: z.literal('status'),
      ...common,
      status,
      previous_status: status,
      cause: cause.nullable(),
    }),
    z.strictObject({
      type: z.literal('registered'),
      ...common,
      currency,
      amount,
      by: z.string().describe("Name of the caller's token."),
    }),
    z.strictObject({
      type: z.enum(['finding_opened', 'finding_closed']),
      ...common,
      number: z.int(),
      class: z.string(),
      subject: z.string(),
      detail: z.record(z.string(), z.unknown()),
    }),
    z.strictObject({
      type: z.enum(['alert_opened', 'alert_acknowledged', 'alert_resolved']),
      ...common,
      number: z.int().describe('As in `/api/v1/alerts`.'),
      rule: z.string(),
      subject: z.string(),
      severity: z.string(),
    }),
    z.strictObject({
      type: z.literal('action'),
      ...common,
      number: z.int().describe('As in `/api/v1/audit`.'),
      action: z.enum(AUDIT_ACTIONS),
      subject: z.strictObject({ kind: z.string(), id: z.string() }),
      by: z.string().describe('Name of the person or token.'),
      role: z.string(),
      reason: z.string().nullable(),
      result: z.enum(AUDIT_RESULTS),
      attempt: z.int().nullable(),
    }),
  ])
  .meta({ id: 'TimelineEntry' });

/** A timeline in a response. */
export const timelineFields = {
  timeline: z
    .array(timelineEntry)
    .describe(
      'Oldest first, by effective time: snapshots and transfers by `effective_at`, everything else by `at`.',
    ),
  timeline_complete: z
    .boolean()
    .describe('False if only the entries that were recorded last are listed.'),
};

/** Of a request for a timeline. */
export const byRecordedTime = flag(
  'Orders the timeline by `at`: each event is before what it caused.',
);
