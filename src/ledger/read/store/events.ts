/** Statements that list the inbox for people and their programs. */
import type { Queryable } from '../../../platform/db/database.ts';
import { EVENT_SELECT, type EventState, type EventSummary, NOT_APPLIED } from './parts.ts';

const WAITS = 'exists (select from pending p where p.webhook_event_id = e.id)';
const IS_DEAD = 'exists (select from dead_events d where d.webhook_event_id = e.id)';

/**
 * The numbers below $1 of events in a state, greatest first. Each state is looked for where it is
 * kept: among millions of applied events, the few dead ones must not be searched for.
 */
const NUMBERS: Readonly<Record<EventState | 'any', string>> = {
  any: 'select id from webhook_events where id < $1 order by id desc limit $2',
  pending: `
    select e.webhook_event_id from pending e
     where e.webhook_event_id < $1
       and not exists (select from dead_events d where d.webhook_event_id = e.webhook_event_id)
     order by e.webhook_event_id desc limit $2`,
  dead: `
    select webhook_event_id from dead_events
     where webhook_event_id < $1 and discarded_at is null order by webhook_event_id desc limit $2`,
  discarded: `
    select webhook_event_id from dead_events
     where webhook_event_id < $1 and discarded_at is not null
     order by webhook_event_id desc limit $2`,
  not_applied: `
    select e.id
      from (select distinct substring(subject from '^event:([0-9]{1,18})$')::bigint as id
              from findings where state = 'open' and class in ${NOT_APPLIED}) e
     where e.id < $1 and not ${WAITS} and not ${IS_DEAD}
     order by e.id desc limit $2`,
  applied: `
    select e.id from webhook_events e
     where e.id < $1 and not ${WAITS} and not ${IS_DEAD}
       and not exists (select from findings f
                        where f.subject = 'event:' || e.id and f.state = 'open'
                          and f.class in ${NOT_APPLIED})
     order by e.id desc limit $2`,
};

/** Events below an inbox number, newest first, of one state if one is given. */
export function readEventRows(
  db: Queryable,
  page: {
    readonly state: EventState | undefined;
    readonly below: number;
    readonly limit: number;
  },
): Promise<readonly EventSummary[]> {
  return db.query<EventSummary>(
    `${EVENT_SELECT}
      where e.id = any (array(${NUMBERS[page.state ?? 'any']}))
      order by e.id desc`,
    [page.below, page.limit],
  );
}
