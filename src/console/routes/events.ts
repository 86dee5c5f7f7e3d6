/** Endpoints of the inbox: list, show, replay and discard. They return no bodies, because they hold personal data. */
import { z } from 'zod';
import { discardEventAs } from '../../actions/discardEvent.ts';
import { replayEventsAs } from '../../actions/replayEvents.ts';
import { readEventListFilter } from '../../ledger/read/eventFilter.ts';
import { searchEvents } from '../../ledger/read/store/events.ts';
import { EVENT_STATES, findEvent } from '../../ledger/read/store/parts.ts';
import { encodePlace, numberPlace, readCursor } from '../../representation/cursor.ts';
import { eventJson } from '../../representation/event.ts';
import { MAX_OF_EVENT, readEventChanges } from '../../trail/eventChanges.ts';
import { eventChangesJson } from '../../trail/eventChangesJson.ts';
import { defineEndpoint } from '../endpoint.ts';
import { eventFilters, ofReplay } from '../eventFilter.ts';
import { cursor, id, limit, nextCursor, reasonGiven, resourceKind, time } from '../schemas.ts';
import { alert } from './alerts.ts';
import { change } from './changes.ts';
import { finding } from './findings.ts';
import { messageState } from './messages.ts';
import { transfer } from './transfers.ts';

const event = z
  .strictObject({
    number: z.int().min(1).describe('Inbox number.'),
    event_id: z.string().nullable().describe("The service's event id; null if the body has none."),
    event_type: z.string().nullable(),
    merchant_id: z.string().nullable().describe('The merchant account of the event.'),
    state: z
      .enum(EVENT_STATES)
      .describe(
        '`pending`: waits to be applied. `applied`. `not_applied`: stored, and nothing was posted. ' +
          '`dead`: every attempt failed; replay it once the cause is fixed. `discarded`: a person ' +
          'decided that this dead event will not be applied.',
      ),
    attempts: z.int().min(0),
    error: z.string().nullable().describe('For dead events: why the last attempt failed.'),
    discarded: z
      .strictObject({ at: time, by: z.string(), reason: z.string() })
      .nullable()
      .describe('Who discarded a dead event, and why.'),
    received_at: time,
    secret: z
      .string()
      .nullable()
      .describe(
        'Fingerprint of the secret that verified the first delivery, as `tallyhook doctor` shows it; null ' +
          'if an older version received the event.',
      ),
  })
  .meta({ id: 'Event' });

export const listEvents = defineEndpoint({
  id: 'listEvents',
  method: 'get',
  path: '/api/v1/events',
  permission: 'read',
  summary: 'List received events, newest first',
  description:
    'A search by type, time or order reads 5,000 events at most: a page can be short, or empty, although ' +
    '`next_cursor` is set. Continue with it until it is null.',
  params: z.strictObject({}),
  query: z.strictObject({ ...eventFilters, replay: ofReplay, limit, cursor }),
  response: z
    .strictObject({ events: z.array(event), next_cursor: nextCursor })
    .meta({ id: 'EventPage' }),
  statuses: [],
  handle: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const below = from.place?.[0] ?? Number.MAX_SAFE_INTEGER;
    const filter = await readEventListFilter(db, query);
    const { rows, next } = await searchEvents(db, filter, { below, limit: query.limit });
    return {
      outcome: 'ok',
      body: {
        events: rows.map(eventJson),
        next_cursor: next === undefined ? null : encodePlace([next]),
      },
    };
  },
});

const changed = z
  .strictObject({
    resources: z
      .array(
        z.strictObject({
          kind: resourceKind,
          id: z.string(),
          snapshots: z.int().min(1).describe('How many snapshots of it the event brought.'),
          previous_status: z.string().nullable().describe('Null: it was not known before.'),
          status: z.string().nullable().describe('Of the resource, once the event was applied.'),
          late: z
            .boolean()
            .nullable()
            .describe(
              'A newer state was known. Null: it has too many snapshots to place this one.',
            ),
        }),
      )
      .describe('Resources of which it brought a snapshot.'),
    changes: z.array(change).describe('Of the change feed.'),
    transfers: z.array(transfer),
    order_webhooks: z
      .array(
        z.strictObject({
          number: z.int().min(1),
          message_id: z.string(),
          type: z.string(),
          state: messageState,
        }),
      )
      .describe('The order webhooks of its changes.'),
    findings_opened: z.array(finding),
    findings_closed: z.array(finding),
    alerts_opened: z.array(alert),
    alerts_resolved: z.array(alert),
    complete: z.boolean().describe(`False: of a kind there are more than ${MAX_OF_EVENT}.`),
    nothing: z
      .strictObject({
        why: z
          .enum(['pending', 'dead', 'discarded', 'not_applied', 'known', 'known_before'])
          .describe(
            '`known`: another event or a read brought the same before. `known_before`: so it was, and ' +
              'nothing shows by what.',
          ),
        text: z.string(),
      })
      .nullable()
      .describe('Why the ledger is as it was before; null if it brought something.'),
  })
  .meta({ id: 'EventChanges' });

export const getEvent = defineEndpoint({
  id: 'getEvent',
  method: 'get',
  path: '/api/v1/events/{event}',
  permission: 'read',
  summary: 'Get an event, and what it changed',
  description:
    'A change, a finding or an alert names the last event that contributed: events that are applied ' +
    'together can have one. Those of version 0.1 name none.',
  params: z.strictObject({ event: id.describe('Event id or inbox number.') }),
  query: z.strictObject({}),
  response: z.strictObject({ ...event.shape, changed }).meta({ id: 'EventDetail' }),
  statuses: [404],
  handle: async ({ db }, { params: { event: name } }) => {
    const found = await findEvent(db, name);
    if (!found) return unknown(name);
    const changes = await readEventChanges(db, found);
    return { outcome: 'ok', body: { ...eventJson(found), changed: eventChangesJson(changes) } };
  },
});

export const replay = defineEndpoint({
  id: 'replayEvent',
  method: 'post',
  path: '/api/v1/events/{event}/replay',
  permission: 'operate',
  summary: 'Apply an event again',
  description:
    'Replaying is idempotent: an event that is applied already changes nothing in the ledger. The name of ' +
    'the token is recorded. A removed body cannot be replayed: 409.',
  params: z.strictObject({ event: id.describe('Event id or inbox number.') }),
  query: z.strictObject({}),
  response: z
    .strictObject({
      number: z.int().min(1).describe('Inbox number.'),
      enqueued: z
        .boolean()
        .describe('False if the queue is unavailable: the event is enqueued within two minutes.'),
    })
    .meta({ id: 'Replay' }),
  statuses: [202, 404, 409],
  handle: async ({ db, enqueueEvents }, { params: { event: name }, actor }) => {
    const found = await findEvent(db, name);
    if (!found) return unknown(name);
    const parts = { db, enqueue: enqueueEvents };
    const { outcome, refused } = await replayEventsAs(parts, actor, [found.id]);
    const [refusal] = refused;
    if (refusal) {
      const message = `The event ${found.id} cannot be replayed: ${refusal.reason}.`;
      return { outcome: 'conflict', message };
    }
    return {
      outcome: 'accepted',
      body: { number: found.id, enqueued: outcome === 'enqueued' },
    };
  },
});

export const discard = defineEndpoint({
  id: 'discardEvent',
  method: 'post',
  path: '/api/v1/events/{event}/discard',
  permission: 'operate',
  summary: 'Discard a dead event',
  description:
    'The event counts no more as dead, and its finding is accepted with the same reason. It keeps its body ' +
    'and can still be replayed. The name of the token is recorded.',
  params: z.strictObject({ event: id.describe('Event id or inbox number.') }),
  query: z.strictObject({}),
  body: z.strictObject({ reason: reasonGiven.describe('Why it is not to be applied.') }),
  response: event,
  statuses: [404, 409],
  handle: async ({ db }, { params: { event: name }, body: { reason }, actor }) => {
    const found = await findEvent(db, name);
    if (!found) return unknown(name);
    const isDone = await discardEventAs({ db }, actor, { number: found.id, reason });
    const after = isDone ? await findEvent(db, String(found.id)) : undefined;
    if (after) return { outcome: 'ok', body: eventJson(after) };
    const message = `The event ${found.id} is ${found.state}, not dead. Nothing was changed.`;
    return { outcome: 'conflict', message };
  },
});

function unknown(name: string) {
  const message = `No event is known as ${JSON.stringify(name)}.`;
  return { outcome: 'not_found', message } as const;
}
