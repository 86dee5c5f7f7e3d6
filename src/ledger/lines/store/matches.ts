/** Statements on matches. Whoever writes holds the lock of settlement (`lockSettlement`). */
import type { Queryable } from '../../../platform/db/database.ts';
import type { MatchRule, TargetKind } from '../../domain/lines.ts';
import {
  BANK_DAYS,
  type Candidate,
  type NewMatch,
  type OpenLine,
  REPORT_DAYS,
  type SettlementCandidate,
} from '../../domain/matchLines.ts';
import { orderIdOf, orderKeyOf } from '../../domain/orderKey.ts';

const OPEN_LINE = `l.id, l.type, l.reference, l.day::text as day, l.currency,
  l.gross_minor as "grossMinor", l.text`;

/** No match, and none that was undone: a person decided about that line. */
const IS_OPEN = `not exists (select from settlement_matches m where m.line_id = l.id)`;

export interface OpenLinesPage {
  readonly afterId: number;
  readonly limit: number;
}

/** Report lines without a match that can be about a resource, by their numbers. */
export function readOpenReportLines(
  tx: Queryable,
  { afterId, limit }: OpenLinesPage,
): Promise<readonly OpenLine[]> {
  return tx.query<OpenLine>(
    `select ${OPEN_LINE} from settlement_lines l
      where l.id > $1 and l.type in ('payment', 'refund', 'dispute', 'payout') and ${IS_OPEN}
      order by l.id
      limit $2`,
    [afterId, limit],
  );
}

export function readOpenBankLines(
  tx: Queryable,
  { afterId, limit }: OpenLinesPage,
): Promise<readonly OpenLine[]> {
  return tx.query<OpenLine>(
    `select ${OPEN_LINE} from settlement_lines l
      where l.id > $1 and l.type = 'bank' and ${IS_OPEN}
      order by l.id
      limit $2`,
    [afterId, limit],
  );
}

/** Other open bank lines that could be about the settlements that these could be about by their amounts. */
export function readOtherBankLines(
  tx: Queryable,
  lineIds: readonly number[],
): Promise<readonly OpenLine[]> {
  return tx.query<OpenLine>(
    `with lines as materialized (
       select distinct l.currency, l.gross_minor, l.day
         from settlement_lines l where l.id = any ($1::bigint[]))
     select ${OPEN_LINE} from settlement_lines l
      where l.type = 'bank' and ${IS_OPEN} and l.id <> all ($1::bigint[])
        and exists (select from lines one
                     where one.currency = l.currency and one.gross_minor = l.gross_minor
                       and abs(one.day - l.day) <= ${BANK_DAYS.before + BANK_DAYS.after})
      order by l.id
      limit 100000`,
    [lineIds],
  );
}

interface CandidateRow extends Omit<Candidate, 'orderId'> {
  readonly orderKey: string | null;
}

/** The legs by which each kind of resource moves money that a report has. */
const REPORTED_LEGS = `('payment', 'captured'), ('refund', 'settled'), ('dispute', 'held'), ('payout', 'initiated')`;

/** Whether a leg moved money, and did not take back what it moved: a refund that was returned did not settle then. */
const IS_FORWARD = 't.cumulative_minor > t.previous_minor';

/** What such a leg has moved if a line is about it; negative: the line is of the other direction. */
const MOVED_MINOR = `case when l.type = 'payment' then l.gross_minor else -l.gross_minor end`;

const CANDIDATE = `r.kind, r.id, r.payment_id as "paymentId", r.order_key as "orderKey", r.currency,
  case when r.kind = 'payment' then r.captured_minor else coalesce(r.amount_minor, 0) end as "amountMinor",
  (select count(*) from settlement_matches m
    where m.target_kind = r.kind and m.target_id = r.id and m.undone_at is null) as lines,
  coalesce((extract(epoch from r.created_at) * 1000000)::bigint, 0) as "movedMicros"`;

/** Resources that references may name: by their id, their payment or their order. */
export async function readNamedCandidates(
  tx: Queryable,
  references: readonly string[],
): Promise<readonly Candidate[]> {
  const orders = references.flatMap((id) => [orderKeyOf({ id, orderId: id }), orderKeyOf({ id })]);
  const rows = await tx.query<CandidateRow>(
    `select ${CANDIDATE}
       from (select kind, id from resources
              where kind in ('payment', 'refund', 'dispute', 'payout') and id = any ($1::text[])
             union
             select kind, id from resources where payment_id = any ($1::text[])
             union
             select kind, id from resources where order_key = any ($2::text[])) named
       join resources r using (kind, id)
      where r.currency is not null
      limit 100000`,
    [references, orders],
  );
  return rows.map(toCandidate);
}

/**
 * Lines with free resources that they could be about by their amounts: enough of these pairs to judge which
 * lines and resources are the only ones for each other. A line with several resources is returned with two
 * of them. A resource that is the only one of a line is returned with another open line, if one exists.
 *
 * Only the transfers of the days around the lines are read, each once, however many lines are of these days:
 * `offset 0` keeps the planner from reading the whole journal instead. What makes a resource free is in
 * subqueries, because the planner expects an anti-join to leave no row, and would join in loops.
 * @param lineIds open lines without a reference
 */
export async function readPairsByAmount(
  tx: Queryable,
  lineIds: readonly number[],
): Promise<readonly { readonly line: OpenLine; readonly candidate: Candidate }[]> {
  const rows = await tx.query<CandidateRow & { readonly line: OpenLine }>(
    `with lines as materialized (
       select l.id, legs.leg, l.currency, ${MOVED_MINOR} as amount_minor, l.day
         from settlement_lines l
         join (values ${REPORTED_LEGS}) as legs (kind, leg) on legs.kind = l.type
        where l.id = any ($1::bigint[])
     ), alike as materialized (
       select distinct leg, currency, amount_minor, day from lines
     ), days as materialized (
       select distinct leg, currency, day + shift as moved_on
         from alike cross join generate_series(-${REPORT_DAYS}, ${REPORT_DAYS_AFTER}) as shift
     ), moved as materialized (
       select t.kind, t.resource_id, leg, currency, t.amount_minor, moved_on
         from days
        cross join lateral (
          select t.kind, t.resource_id, t.amount_minor
            from transfers t
           where t.currency = days.currency and t.leg = days.leg
             and t.effective_at >= moved_on::timestamp at time zone 'UTC'
             and t.effective_at < (moved_on + 1)::timestamp at time zone 'UTC'
             and t.amount_minor in (select amount_minor from alike)
             and ${IS_FORWARD}
          offset 0) t
     ), free as materialized (
       select moved.*
         from moved
        where coalesce((select false from settlement_matches m
                         where m.target_kind = moved.kind and m.target_id = resource_id
                           and m.undone_at is null limit 1), true)
          and (select r.currency from resources r where r.kind = moved.kind and r.id = resource_id) = currency
     ), ranked as materialized (
       select leg, currency, amount_minor, day, kind, resource_id,
              dense_rank() over (partition by leg, currency, amount_minor, day order by resource_id) as place
         from alike
         join free using (leg, currency, amount_minor)
        where moved_on between day - ${REPORT_DAYS} and day + ${REPORT_DAYS_AFTER}
     ), found as materialized (
       select distinct id as line_id, kind, resource_id
         from ranked join lines using (leg, currency, amount_minor, day)
        where place <= 2
     ), only_ones as materialized (
       select distinct min(kind) as kind, min(resource_id) as resource_id
         from found group by line_id having count(*) = 1
     ), others as (
       select l.id as line_id, o.kind, o.resource_id,
              dense_rank() over (partition by o.kind, o.resource_id order by l.id) as place
         from only_ones o
         join (values ${REPORTED_LEGS}) as legs (kind, leg) on legs.kind = o.kind
         join transfers t on t.kind = o.kind and t.resource_id = o.resource_id and t.leg = legs.leg
                         and ${IS_FORWARD}
         join settlement_lines l
           on l.type = t.kind and l.currency = t.currency and ${MOVED_MINOR} = t.amount_minor
          and (t.effective_at at time zone 'UTC')::date
              between l.day - ${REPORT_DAYS} and l.day + ${REPORT_DAYS_AFTER}
        where l.reference is null and ${IS_OPEN}
     ), pairs as (
       select line_id, kind, resource_id from found
       union
       select line_id, kind, resource_id from others where place <= 2)
     select jsonb_build_object('id', l.id, 'type', l.type, 'reference', l.reference, 'day', l.day,
                               'currency', l.currency, 'grossMinor', l.gross_minor, 'text', l.text) as line,
            ${CANDIDATE}
       from pairs
       join settlement_lines l on l.id = pairs.line_id
       join resources r on r.kind = pairs.kind and r.id = pairs.resource_id and r.currency = l.currency
      order by l.id
      limit $2`,
    [lineIds, PAIRS_PER_LINE * lineIds.length],
  );
  return rows.map(({ line, ...row }) => ({ line, candidate: toCandidate(row) }));
}

/** The day of a line can be that of another time zone. */
const REPORT_DAYS_AFTER = 1;

/** Two resources of a line, or its only one with two lines beside it. */
const PAIRS_PER_LINE = 3;

function toCandidate({ orderKey, ...rest }: CandidateRow): Candidate {
  return { ...rest, orderId: orderKey === null ? null : orderIdOf(orderKey) };
}

/** Settlements around the days of bank lines, with what they come to. */
export async function readSettlementCandidates(
  tx: Queryable,
  { fromDay, toDay }: { readonly fromDay: string; readonly toDay: string },
): Promise<readonly SettlementCandidate[]> {
  const rows = await tx.query<Omit<SettlementCandidate, 'netMinor'> & { readonly net: string }>(
    `select s.id, s.reference, s.currency, sums.net::text as net, sums.day::text as day,
            (select count(*) from settlement_matches m
              where m.target_kind = 'settlement' and m.target_id = s.id::text and m.undone_at is null)
              as "bankLines"
       from settlements s
      cross join lateral (
        select sum(l.gross_minor::numeric - l.fee_minor) as net, max(l.day) as day
          from settlement_lines l where l.settlement_id = s.id) sums
      where sums.day between $1::date - ${NAMED_DAYS} and $2::date + ${BANK_DAYS.after}
      order by s.id
      limit 50000`,
    [fromDay, toDay],
  );
  return rows.map(({ net, ...rest }) => ({ ...rest, netMinor: BigInt(net) }));
}

/** A settlement that a bank line names may be older than one that only its amount suggests. */
const NAMED_DAYS = 90;

export async function insertMatches(tx: Queryable, matches: readonly NewMatch[]): Promise<void> {
  await tx.query(
    `insert into settlement_matches (line_id, target_kind, target_id, rule, reason)
     select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[])`,
    [
      matches.map(({ lineId }) => lineId),
      matches.map(({ targetKind }) => targetKind),
      matches.map(({ targetId }) => targetId),
      matches.map(({ rule }) => rule),
      matches.map(({ reason }) => reason),
    ],
  );
}

export interface ActiveMatch {
  readonly id: number;
  readonly targetKind: TargetKind;
  readonly targetId: string | null;
  readonly rule: MatchRule;
  readonly writtenOffMinor: number;
}

export async function readActiveMatch(
  tx: Queryable,
  lineId: number,
): Promise<ActiveMatch | undefined> {
  const rows = await tx.query<ActiveMatch>(
    `select id, target_kind as "targetKind", target_id as "targetId", rule,
            written_off_minor as "writtenOffMinor"
       from settlement_matches
      where line_id = $1 and undone_at is null
      limit 1`,
    [lineId],
  );
  return rows[0];
}

export interface MatchByHand {
  readonly lineId: number;
  readonly targetKind: TargetKind;
  readonly targetId: string | undefined;
  readonly reason: string;
  readonly writtenOffMinor: number;
  readonly by: string;
}

export async function insertMatchByHand(tx: Queryable, match: MatchByHand): Promise<void> {
  await tx.query(
    `insert into settlement_matches (line_id, target_kind, target_id, rule, reason, written_off_minor,
                                     matched_by)
     values ($1, $2, $3, 'by_hand', $4, $5, $6)`,
    [
      match.lineId,
      match.targetKind,
      match.targetId ?? null,
      match.reason,
      match.writtenOffMinor,
      match.by,
    ],
  );
}

export async function undoMatch(
  tx: Queryable,
  { id, by, reason }: { readonly id: number; readonly by: string; readonly reason: string },
): Promise<void> {
  await tx.query(
    `update settlement_matches set undone_at = statement_timestamp(), undone_by = $2, undone_reason = $3
      where id = $1`,
    [id, by, reason],
  );
}

export interface NamedTarget {
  readonly kind: TargetKind;
  readonly id: string;
  readonly currency: string;
}

/** Whether the ledger has a resource, or a report a settlement, with money in a currency. */
export async function targetExists(
  tx: Queryable,
  { kind, id, currency }: NamedTarget,
): Promise<boolean> {
  const rows = await tx.query<{ found: boolean }>(
    kind === 'settlement'
      ? `select exists (select from settlements where id::text = $2 and currency = $3 and $1 <> '') as found`
      : `select exists (select from resources
                         where kind = $1 and id = $2 and currency = $3) as found`,
    [kind, id, currency],
  );
  return rows[0]?.found ?? false;
}

/**
 * What a target moved and no line explains yet: of a resource, what it moved in psp.clearing less its lines; of a
 * settlement, what is settled less what arrived.
 */
export async function readDifference(
  tx: Queryable,
  { kind, id, currency }: NamedTarget,
): Promise<number> {
  const moved =
    kind === 'settlement'
      ? `select sum(gross_minor::numeric - fee_minor) from settlement_lines
          where settlement_id = ($2::text)::bigint and currency = $3`
      : `select sum(case when debit = 'psp.clearing' then amount_minor else -amount_minor end)
           from transfers
          where kind = $1 and resource_id = $2 and currency = $3
            and (debit = 'psp.clearing' or credit = 'psp.clearing')`;
  const rows = await tx.query<{ difference: number }>(
    `select (coalesce((${moved}), 0) - coalesce((
              select sum(l.gross_minor::numeric - m.written_off_minor)
                from settlement_matches m
                join settlement_lines l on l.id = m.line_id
               where m.target_kind = $1 and m.target_id = $2 and m.undone_at is null
                 and l.currency = $3), 0))::bigint as difference`,
    [kind, id, currency],
  );
  return rows[0]?.difference ?? 0;
}
