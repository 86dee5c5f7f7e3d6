/**
 * Statements that measure the inbox and the findings for Prometheus. Each counts at most
 * `COUNTED_ROWS` rows, which bounds its cost during an outage.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { oneRow } from '../../platform/db/oneRow.ts';

/** A count stops here, and then means "this many or more". */
const COUNTED_ROWS = 100_000;

export interface InboxMeasure {
  readonly pending: number;
  /** Those of them with at least one failed attempt. */
  readonly retried: number;
  /** Age of the oldest counted event; 0 if none is pending. */
  readonly oldestAgeSeconds: number;
  readonly dead: number;
  /** Seconds since 1970; null before the first event. */
  readonly lastReceivedSeconds: number | null;
}

/** Counts pending and dead events, and reads when the last event was received. */
export async function measureInbox(db: Queryable): Promise<InboxMeasure> {
  const rows = await db.query<InboxMeasure>(
    `select p.pending, p.retried,
            greatest(coalesce(extract(epoch from clock_timestamp() - p.oldest), 0), 0)::float8
              as "oldestAgeSeconds",
            (select count(*) from (select from dead_events where discarded_at is null limit $1) d) as dead,
            (select extract(epoch from received_at)::float8
               from webhook_events order by id desc limit 1) as "lastReceivedSeconds"
       from (select count(*) as pending, count(*) filter (where attempts > 0) as retried,
                    min(since) as oldest
               from (select attempts, since from pending order by webhook_event_id limit $1) w) p`,
    [COUNTED_ROWS],
  );
  return oneRow(rows);
}

export interface FindingCount {
  readonly class: string;
  readonly isAccepted: boolean;
  readonly findings: number;
}

/** Open findings by class and acceptance. Reads the index of open findings. */
export function measureFindings(db: Queryable): Promise<readonly FindingCount[]> {
  return db.query<FindingCount>(
    `select class, accepted_at is not null as "isAccepted", count(*) as findings
       from (select class, accepted_at from findings where state = 'open' limit $1) f
      group by 1, 2`,
    [COUNTED_ROWS],
  );
}

export interface FlowMeasure {
  /** Events that were received within the last minute, `COUNTED_EVENTS` at most. */
  readonly lastMinute: number;
  /** Seconds from the receipt to the end of applying, of the newest events that changed something; null without any. */
  readonly typicalSeconds: number | null;
  readonly longestSeconds: number | null;
}

/** More than arrive in a minute, except during a backlog of the service. */
const COUNTED_EVENTS = 10_000;
const TIMED_CHANGES = 200;

/** How many events arrive, and how long the newest changes took. Replays do not count: their receipt is long past. */
export async function measureFlow(db: Queryable): Promise<FlowMeasure> {
  const rows = await db.query<FlowMeasure>(
    `select r.received as "lastMinute", t.typical as "typicalSeconds", t.longest as "longestSeconds"
       from (select count(*) filter (where received_at > statement_timestamp() - interval '1 minute')
                      as received
               from (select received_at from webhook_events order by id desc limit $1) e) r
      cross join (
              select percentile_cont(0.5) within group (order by seconds) as typical,
                     max(seconds) as longest
                from (select greatest(extract(epoch from c.changed_at - e.received_at), 0)::float8
                               as seconds
                        from (select webhook_event_id, changed_at from changes
                               order by number desc limit $2) c
                        join webhook_events e on e.id = c.webhook_event_id
                       where not exists (select from event_replays p
                                          where p.webhook_event_id = e.id)) s) t`,
    [COUNTED_EVENTS, TIMED_CHANGES],
  );
  return oneRow(rows);
}
