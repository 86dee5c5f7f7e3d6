/** Endpoints of alerts: list, show, acknowledge, snooze, assign. */
import { z } from 'zod';
import { acknowledgeAlertAs, assignAlertAs, snoozeAlertAs } from '../../actions/actOnAlert.ts';
import { type ChangedAlert, LONGEST_SNOOZE_MS } from '../../alerts/actOnAlert.ts';
import { RULES, SEVERITIES } from '../../alerts/domain/alert.ts';
import { ALERT_STATES, readAlert, searchAlerts } from '../../alerts/store/alertRows.ts';
import { alertJson } from '../../representation/alert.ts';
import { numberCursor, numberPlace, readCursor } from '../../representation/cursor.ts';
import { defineEndpoint } from '../endpoint.ts';
import { cursor, limit, nextCursor, number, reasonGiven, SEARCHED, time } from '../schemas.ts';

const state = z.enum(ALERT_STATES);

export const alert = z
  .strictObject({
    number: z.int().min(1),
    rule: z.string().describe(`The rule that raised it. More may be added: ${RULES.join(', ')}.`),
    subject: z
      .string()
      .describe('What the alert is about: `dispute:dp_1`, `order:order:ord_1`, `system:webhooks`.'),
    variant: z
      .string()
      .describe('Distinguishes alerts of one rule about one subject; usually empty.'),
    severity: z.enum(SEVERITIES),
    state: state.describe('`acknowledged`: unresolved, and somebody handles it.'),
    sentence: z.string().describe('The condition, for people.'),
    next_step: z.string().describe('What to run or check first.'),
    detail: z
      .record(z.string(), z.unknown())
      .describe('The facts behind the sentence; fields depend on the rule.'),
    order_id: z.string().nullable(),
    payment_id: z.string().nullable(),
    deadline_at: time.nullable(),
    opened_at: time,
    updated_at: time,
    resolved_at: time
      .nullable()
      .describe('When the condition ended, or an alert about something final was acknowledged.'),
    acknowledged: z
      .strictObject({ at: time, by: z.string(), reason: z.string() })
      .nullable()
      .describe('Who handles it, and how; null if not acknowledged.'),
    snoozed: z
      .strictObject({ until: time, by: z.string(), reason: z.string().nullable() })
      .nullable()
      .describe('Until when notifications are muted, by whom and why.'),
    assigned: z
      .strictObject({ to: z.string(), at: time, by: z.string(), reason: z.string() })
      .nullable()
      .describe('Who is to handle it; null if nobody was named.'),
  })
  .meta({ id: 'Alert' });

export const listAlerts = defineEndpoint({
  id: 'listAlerts',
  method: 'get',
  path: '/api/v1/alerts',
  permission: 'read',
  summary: 'List alerts, newest first',
  description: SEARCHED,
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
    const { rows, next } = await searchAlerts(
      db,
      { states: query.state && [query.state], severity: query.severity, rule: query.rule },
      { below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER, limit: query.limit },
    );
    return {
      outcome: 'ok',
      body: { alerts: rows.map(alertJson), next_cursor: numberCursor(next) },
    };
  },
});

const params = z.strictObject({ number });

export const getAlert = defineEndpoint({
  id: 'getAlert',
  method: 'get',
  path: '/api/v1/alerts/{number}',
  permission: 'read',
  summary: 'Get an alert',
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
  permission: 'operate',
  summary: 'Acknowledge an open alert',
  description:
    'Stops notifications about the alert, unless it becomes more severe. The alert resolves by itself when ' +
    'its condition ends; one about something final, such as a lost dispute, is resolved by this request. ' +
    'The name of the token is recorded.',
  params,
  query: z.strictObject({}),
  body: z.strictObject({
    reason: reasonGiven.describe('What is being done about it.'),
  }),
  response: alert,
  statuses: [404, 409],
  handle: async ({ db }, { params: { number: id }, body: { reason }, actor }) => {
    const acknowledged = await acknowledgeAlertAs({ db }, actor, { number: id, reason });
    switch (acknowledged.outcome) {
      case 'done':
        return { outcome: 'ok', body: alertJson(acknowledged.alert) };
      case 'unknown':
        return unknown(id);
      case 'resolved':
        return resolved(id);
      case 'already': {
        const message = `Alert ${id} is already acknowledged by ${acknowledged.alert.acknowledgedBy}. Nothing was changed.`;
        return { outcome: 'conflict', message };
      }
    }
  },
});

export const snooze = defineEndpoint({
  id: 'snoozeAlert',
  method: 'post',
  path: '/api/v1/alerts/{number}/snooze',
  permission: 'operate',
  summary: 'Mute an alert until a time',
  description:
    'If the alert is still unresolved then, one notification is sent. Another snooze replaces the first. ' +
    'The name of the token is recorded.',
  params,
  query: z.strictObject({}),
  body: z.strictObject({
    until: time.describe('In the future, 30 days ahead at most. UTC.'),
    reason: reasonGiven.optional().describe('Why it can wait.'),
  }),
  response: alert,
  statuses: [404, 409],
  handle: async ({ db, clock }, { params: { number: id }, body, actor }) => {
    const until = new Date(body.until);
    const spanMs = until.getTime() - clock.nowMs();
    if (spanMs <= 0 || spanMs > LONGEST_SNOOZE_MS) {
      const message = 'The body is invalid: until: must be in the future, 30 days ahead at most.';
      return { outcome: 'invalid', message };
    }
    const snoozed = await snoozeAlertAs({ db }, actor, { number: id, until, reason: body.reason });
    return changed(id, snoozed);
  },
});

export const assign = defineEndpoint({
  id: 'assignAlert',
  method: 'post',
  path: '/api/v1/alerts/{number}/assign',
  permission: 'operate',
  summary: 'Assign an alert to a person',
  description:
    'Another assignment replaces the first. Notifications continue as before. The name of the token is recorded.',
  params,
  query: z.strictObject({}),
  body: z.strictObject({
    to: z.string().trim().min(1).max(100).nullable().describe('A name; null for nobody.'),
    reason: reasonGiven.describe('Why this person.'),
  }),
  response: alert,
  statuses: [404, 409],
  handle: async ({ db }, { params: { number: id }, body: { to, reason }, actor }) =>
    changed(id, await assignAlertAs({ db }, actor, { number: id, to: to ?? undefined, reason })),
});

function changed(id: number, result: ChangedAlert) {
  switch (result.outcome) {
    case 'done':
      return { outcome: 'ok', body: alertJson(result.alert) } as const;
    case 'unknown':
      return unknown(id);
    case 'resolved':
      return resolved(id);
  }
}

function unknown(id: number) {
  return { outcome: 'not_found', message: `There is no alert ${id}.` } as const;
}

function resolved(id: number) {
  const message = `Alert ${id} is already resolved. Nothing was changed.`;
  return { outcome: 'conflict', message } as const;
}
