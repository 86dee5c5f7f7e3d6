/** The timeline of an order in the form of the API. */
import { z } from 'zod';
import { ORDER_STATUSES } from '../ledger/domain/order.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import type { Cause, TimelineEntry } from '../ledger/domain/timeline.ts';
import { declineJson } from '../representation/decline.ts';
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
      rules: z.boolean().describe('The state of the resource stands on this snapshot now.'),
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

export function timelineBody(entry: TimelineEntry): z.input<typeof timelineEntry> {
  const said = { at: formatInstant(entry.atMicros), text: entry.text };
  switch (entry.type) {
    case 'event': {
      const { type, number, eventId, eventType } = entry;
      return { type, ...said, number, event_id: eventId, event_type: eventType };
    }
    case 'snapshot': {
      const { type, kind, id, stage, rules } = entry;
      return {
        ...{ type, ...said, kind, id, status: entry.status, stage, currency: entry.currency },
        amount: entry.amountMinor,
        amount_received: entry.receivedMinor,
        decline: declineJson(entry),
        reason: entry.reason,
        rules,
        cause: causeBody(entry.cause),
      };
    }
    case 'transfer': {
      const { type, kind, id, leg, debit, credit } = entry;
      return {
        ...{ type, ...said, kind, id, leg, debit, credit, currency: entry.currency },
        amount: entry.amountMinor,
        amount_cumulative: entry.cumulativeMinor,
        cause: entry.cause && causeBody(entry.cause),
      };
    }
    case 'status':
      return {
        type: entry.type,
        ...said,
        status: entry.status,
        previous_status: entry.previousStatus,
        cause: entry.cause && causeBody(entry.cause),
      };
    case 'registered':
      return {
        type: entry.type,
        ...said,
        currency: entry.currency,
        amount: entry.amountMinor,
        by: entry.by,
      };
    case 'alert_opened':
    case 'alert_acknowledged':
    case 'alert_resolved': {
      const { type, number, rule, subject, severity } = entry;
      return { type, ...said, number, rule, subject, severity };
    }
    default: {
      const { type, number, subject, detail } = entry;
      return { type, ...said, number, class: entry.class, subject, detail };
    }
  }
}

function causeBody({ source, eventNumber, eventId }: Cause): z.input<typeof cause> {
  return { source, event_number: eventNumber, event_id: eventId };
}
