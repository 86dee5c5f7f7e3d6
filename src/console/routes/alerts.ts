/** Alerts: what a person must know, and what people do about it. */
import { z } from 'zod';
import { acknowledgeAlert, LONGEST_SNOOZE_MS, snoozeAlert } from '../../alerts/actOnAlert.ts';
import { RULES, SEVERITIES } from '../../alerts/domain/alert.ts';
import { ALERT_STATES, readAlert, readAlertRows } from '../../alerts/store/alertRows.ts';
import { alertJson } from '../../representation/alert.ts';
import { cutPage, numberPlace, readCursor } from '../cursor.ts';
import { defineEndpoint } from '../endpoint.ts';
import { cursor, limit, nextCursor, number, time } from '../schemas.ts';

const state = z.enum(ALERT_STATES);

const alert = z
  .strictObject({
    number: z.int().min(1),
    rule: z
      .string()
      .describe(`What kind of thing it is. Others may be added: ${RULES.join(', ')}.`),
    subject: z
      .string()
      .describe('What it is about: `dispute:dp_1`, `order:order:ord_1`, `system:webhooks`.'),
    variant: z
      .string()
      .describe('What tells it from others of its rule on its subject; usually empty.'),
    severity: z.enum(SEVERITIES),
    state: state.describe('`acknowledged`: it stands, and somebody deals with it.'),
    sentence: z.string().describe('What is so, for people.'),
    next_step: z.string().describe('What to run or look at first.'),
    detail: z
      .record(z.string(), z.unknown())
      .describe('The facts of the sentence; differ by rule.'),
    order_id: z.string().nullable(),
    payment_id: z.string().nullable(),
    deadline_at: time.nullable(),
    opened_at: time,
    updated_at: time,
    resolved_at: time
      .nullable()
      .describe('When its condition was gone, or what is final was acknowledged.'),
    acknowledged: z
      .strictObject({ at: time, by: z.string(), reason: z.string() })
      .nullable()
      .describe('Who deals with it, and how; null when nobody said so.'),
    snoozed: z
      .strictObject({ until: time, by: z.string() })
      .nullable()
      .describe('Until when nothing is said of it.'),
  })
  .meta({ id: 'Alert' });

export const listAlerts = defineEndpoint({
  id: 'listAlerts',
  method: 'get',
  path: '/api/v1/alerts',
  summary: 'Alerts, newest first',
  params: z.strictObject({}),
  query: z.strictObject({
    state: state.optional(),
    severity: z.enum(SEVERITIES).optional(),
    rule: z.enum(RULES).optional(),
    limit,
    cursor,
  }),
  response: z
    .strictObject({ alerts: z.array(alert), next_cursor: nextCursor })
    .meta({ id: 'AlertPage' }),
  statuses: [],
  handle: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const rows = await readAlertRows(db, {
      states: query.state && [query.state],
      severity: query.severity,
      rule: query.rule,
      below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER,
      limit: query.limit + 1,
    });
    const { shown, next } = cutPage(rows, query.limit, (row) => [row.id]);
    return { outcome: 'ok', body: { alerts: shown.map(alertJson), next_cursor: next } };
  },
});

const params = z.strictObject({ number });

export const getAlert = defineEndpoint({
  id: 'getAlert',
  method: 'get',
  path: '/api/v1/alerts/{number}',
  summary: 'One alert',
  params,
  query: z.strictObject({}),
  response: alert,
  statuses: [404],
  handle: async ({ db }, { params: { number: id } }) => {
    const row = await readAlert(db, id);
    return row ? { outcome: 'ok', body: alertJson(row) } : unknown(id);
  },
});

export const acknowledge = defineEndpoint({
  id: 'acknowledgeAlert',
  method: 'post',
  path: '/api/v1/alerts/{number}/acknowledge',
  summary: 'Say that somebody deals with an open alert',
  description:
    'It is not said again, unless it grows more severe, and ends by itself when its condition does. ' +
    'What is final, such as a lost dispute, is resolved by this. Who acknowledged it is the name of the token.',
  params,
  query: z.strictObject({}),
  body: z.strictObject({
    reason: z.string().trim().min(1).max(500).describe('What is done about it.'),
  }),
  response: alert,
  statuses: [404, 409],
  handle: async ({ db }, { params: { number: id }, body: { reason }, actor }) => {
    const acknowledged = await acknowledgeAlert(db, id, { by: actor, reason });
    switch (acknowledged.outcome) {
      case 'done':
        return { outcome: 'ok', body: alertJson(acknowledged.alert) };
      case 'unknown':
        return unknown(id);
      case 'resolved':
        return resolved(id);
      case 'already': {
        const message = `Alert ${id} was acknowledged before by ${acknowledged.alert.acknowledgedBy}; nothing was changed.`;
        return { outcome: 'conflict', message };
      }
    }
  },
});

export const snooze = defineEndpoint({
  id: 'snoozeAlert',
  method: 'post',
  path: '/api/v1/alerts/{number}/snooze',
  summary: 'Have nothing said of an alert until a time',
  description:
    'If it still stands then, it is said once. Another snooze takes the place of the first. Who ' +
    'snoozed it is the name of the token.',
  params,
  query: z.strictObject({}),
  body: z.strictObject({ until: time.describe('In the future, 30 days ahead at most. UTC.') }),
  response: alert,
  statuses: [404, 409],
  handle: async ({ db, clock }, { params: { number: id }, body, actor }) => {
    const until = new Date(body.until);
    const spanMs = until.getTime() - clock.nowMs();
    if (spanMs <= 0 || spanMs > LONGEST_SNOOZE_MS) {
      const message =
        'The body cannot be used: until: must be in the future, 30 days ahead at most.';
      return { outcome: 'invalid', message };
    }
    const snoozed = await snoozeAlert(db, id, { by: actor, until });
    switch (snoozed.outcome) {
      case 'done':
        return { outcome: 'ok', body: alertJson(snoozed.alert) };
      case 'unknown':
        return unknown(id);
      case 'resolved':
        return resolved(id);
    }
  },
});

function unknown(id: number) {
  return { outcome: 'not_found', message: `There is no alert ${id}.` } as const;
}

function resolved(id: number) {
  const message = `Alert ${id} is resolved: no more is said of it. Nothing was changed.`;
  return { outcome: 'conflict', message } as const;
}
