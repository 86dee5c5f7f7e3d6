/** Statements that copy the template's ledger, each copy with ids of its own. */
import type { Queryable } from '../../src/platform/db/database.ts';
import { MARK } from './template.ts';

export interface Copies {
  readonly from: number;
  readonly to: number;
  /** Inbox rows of the template: copy `n` has the numbers from `n * events + 1`. */
  readonly events: number;
  /** How much later each copy was posted than the one before it (0). */
  readonly minutesApart?: number;
}

/** A text of the template as copy `g` has it. */
const own = (text: string) =>
  `replace(${text}, '${MARK}', 't' || lpad(g::text, ${MARK.length - 1}, '0'))`;

/** The hash of a content of the template, as the copy's content has it. */
const ownHash = (kind: string, id: string, hash: string) =>
  `(select sha256(convert_to(${own('h.content::text')}, 'UTF8')) from snapshots h
     where h.kind = ${kind} and h.resource_id = ${id} and h.content_hash = ${hash})`;

/** Copies everything; statement by statement, so that each checks what the one before it wrote. */
export async function insertCopies(
  db: Queryable,
  { from, to, events, minutesApart = 0 }: Copies,
): Promise<void> {
  for (const statement of STATEMENTS) {
    const values = [from, to, events, minutesApart];
    await db.query(statement, values.slice(0, parametersOf(statement)));
  }
}

function parametersOf(statement: string): number {
  return Math.max(...[...statement.matchAll(/\$(\d)/g)].map(([, place]) => Number(place)));
}

const STATEMENTS = [
  `with copy as materialized (
     select e.id + g * $3::bigint as id, ${own('e.event_id')} as event_id, e.merchant_id, e.event_type,
            e.body_day, convert_to(${own("convert_from(b.body, 'UTF8')")}, 'UTF8') as body,
            e.received_at
       from generate_series($1::int, $2::int) g
      cross join webhook_events e
       join webhook_bodies b on b.day = e.body_day and b.webhook_event_id = e.id
      where e.id <= $3
      -- As an inbox receives them: rows that are near in number are near on the disk.
      order by 1
   ), bodies as (
     insert into webhook_bodies (day, webhook_event_id, body) select body_day, id, body from copy
   )
   insert into webhook_events (id, event_id, merchant_id, event_type, body_day, body_bytes,
                               body_sha256, received_at)
     overriding system value
   select id, event_id, merchant_id, event_type, body_day, octet_length(body), sha256(body), received_at
     from copy`,
  `insert into snapshots (kind, resource_id, epoch, content_hash, content, source, observed_micros,
                          webhook_event_id)
   select s.kind, ${own('s.resource_id')}, s.epoch,
          sha256(convert_to(${own('s.content::text')}, 'UTF8')), ${own('s.content::text')}::json,
          s.source, s.observed_micros, s.webhook_event_id + g * $3::bigint
     from generate_series($1::int, $2::int) g
    cross join snapshots s
    where s.webhook_event_id <= $3`,
  `insert into resources (kind, id, payment_id, order_key, status, stage, currency, amount_minor,
                          authorized_minor, captured_minor, capture_method, reference, unified_code,
                          unified_message, error_code, created_at, deadline_at, term_since, epoch,
                          version_micros, head_hash, posts, uncertainties, contradiction, open_findings,
                          next_check_at, posted, first_seen_at, updated_at)
   select r.kind, ${own('r.id')}, ${own('r.payment_id')}, ${own('r.order_key')}, r.status, r.stage,
          r.currency, r.amount_minor, r.authorized_minor, r.captured_minor, r.capture_method,
          ${own('r.reference')}, r.unified_code, r.unified_message, r.error_code, r.created_at,
          r.deadline_at, r.term_since, r.epoch, r.version_micros, ${ownHash('r.kind', 'r.id', 'r.head_hash')},
          r.posts, r.uncertainties, r.contradiction, r.open_findings, r.next_check_at, r.posted,
          r.first_seen_at - g * interval '1 minute', r.updated_at
     from generate_series($1::int, $2::int) g
    cross join resources r
    where r.id like '%\\_${MARK}\\_%'`,
  `insert into orders (order_key, order_id, status, moved_to, open_findings, first_seen_at, updated_at)
   select ${own('o.order_key')}, ${own('o.order_id')}, o.status, o.moved_to, o.open_findings,
          o.first_seen_at - g * interval '1 minute', o.updated_at
     from generate_series($1::int, $2::int) g
    cross join orders o
    where o.order_id like '%\\_${MARK}\\_%'`,
  `insert into order_totals (order_key, currency, status, authorized_minor, captured_minor,
                             refunded_minor, refund_pending_minor, disputed_minor, charged_back_minor)
   select ${own('t.order_key')}, t.currency, t.status, t.authorized_minor, t.captured_minor,
          t.refunded_minor, t.refund_pending_minor, t.disputed_minor, t.charged_back_minor
     from generate_series($1::int, $2::int) g
    cross join order_totals t
    where t.order_key like '%\\_${MARK}\\_%'`,
  `insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor,
                          previous_minor, cumulative_minor, head_hash, webhook_event_id,
                          recorded_at, effective_at, effective_source)
   select t.kind, ${own('t.resource_id')}, t.leg, t.currency, t.leg_seq, t.debit, t.credit,
          t.amount_minor, t.previous_minor, t.cumulative_minor,
          ${ownHash('t.kind', 't.resource_id', 't.head_hash')}, t.webhook_event_id + g * $3::bigint,
          t.recorded_at + g * $4 * interval '1 minute',
          t.effective_at + g * $4 * interval '1 minute', t.effective_source
     from generate_series($1::int, $2::int) g
    cross join transfers t
    where t.webhook_event_id <= $3
    order by g, t.id`,
];

/** The size of the ledger; the numbers of an inbox start at 1. */
export async function countRows(
  db: Queryable,
): Promise<{ readonly resources: number; readonly events: number; readonly findings: number }> {
  const [row] = await db.query<{ resources: number; events: number; findings: number }>(
    `select (select count(*) from resources) as resources,
            (select coalesce(max(id), 0) from webhook_events) as events,
            (select count(*) from findings) as findings`,
  );
  return row ?? { resources: 0, events: 0, findings: 0 };
}
