/** Statements that explain the balance of psp.clearing (domain/clearing.ts). They read all of its transfers. */
import { RESOURCE_KINDS } from '../../../contract/resources/index.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import {
  CLEARING_PART_NAMES,
  type ClearingItem,
  type ClearingPart,
  type ClearingPartSum,
  type CurrencyClearing,
} from '../../domain/clearing.ts';
import { LINE_KINDS } from '../../domain/legs.ts';
import { LINE_TIME } from '../../domain/lines.ts';
import type { Place } from '../../domain/listPage.ts';
import type { NotRead, UnmatchedClearing } from '../../domain/statement.ts';
import { instantOrNull } from '../../domain/time.ts';
import { micros } from './instants.ts';

const NAMES = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ');
const BEFORE = `coalesce($1::timestamptz, 'infinity')`;
/** When a line is in clearing: as its transfers are, which an earlier version may have posted at noon. */
const INSTANT = `coalesce(p.since, (l.day + time '${LINE_TIME}') at time zone 'UTC')`;

/** Items that were in clearing before the time $1: part, subject, reference, currency, minor, since. */
const ITEMS = `
  moved as (
    select kind, resource_id as id, currency, min(effective_at) as since,
           sum(case when debit = 'psp.clearing' then amount_minor else -amount_minor end) as minor
      from transfers
     where (debit = 'psp.clearing' or credit = 'psp.clearing')
       and kind not in (${NAMES(LINE_KINDS)}) and effective_at < ${BEFORE}
     group by 1, 2, 3),
  posted as (
    select resource_id as id, min(effective_at) as since
      from transfers where kind in (${NAMES(LINE_KINDS)}) group by 1),
  lines as (
    select l.id, l.type, l.settlement_id, l.currency, l.gross_minor as gross,
           l.gross_minor::numeric - l.fee_minor as net, ${INSTANT} as since,
           coalesce(l.reference, l.text) as reference, m.target_kind, m.target_id,
           coalesce(m.written_off_minor, 0) as written_off
      from settlement_lines l
      left join settlement_matches m on m.line_id = l.id and m.undone_at is null
      left join posted p on p.id = l.id::text
     where ${INSTANT} < ${BEFORE}),
  reported as (
    select target_kind as kind, target_id as id, currency, min(since) as since,
           sum(gross::numeric - written_off) as minor
      from lines where target_kind in (${NAMES(RESOURCE_KINDS)})
     group by 1, 2, 3),
  settled as (
    select settlement_id as id, currency, max(since) as since, sum(net) as minor
      from lines where settlement_id is not null group by 1, 2),
  arrived as (
    select target_id::bigint as id, currency, min(since) as since,
           sum(gross::numeric - written_off) as minor
      from lines where target_kind = 'settlement' group by 1, 2),
  items as (
    select case when r.id is null then 'not_reported' else 'reported_differently' end as part,
           kind || ':' || id as subject, null::text as reference, currency,
           coalesce(m.minor, 0) - coalesce(r.minor, 0) as minor, coalesce(m.since, r.since) as since
      from moved m full join reported r using (kind, id, currency)
    union all
    select 'unknown_lines', 'line:' || id, reference, currency, -gross, since
      from lines where target_kind is null and type in (${NAMES(RESOURCE_KINDS)})
    union all
    select case when a.id is null then 'not_arrived' else 'arrived_differently' end,
           'settlement:' || id, (select reference from settlements t where t.id = coalesce(s.id, a.id)),
           currency, coalesce(s.minor, 0) - coalesce(a.minor, 0), coalesce(s.since, a.since)
      from settled s full join arrived a using (id, currency)
    union all
    select 'unknown_arrivals', 'line:' || id, reference, currency, -gross, since
      from lines where target_kind is null and type = 'bank')`;

interface StoredPart {
  readonly currency: string;
  readonly part: ClearingPart;
  readonly items: number;
  readonly amount: string;
  readonly sinceMicros: number;
}

/** The parts of each currency. @param beforeMicros undefined: of everything */
export async function readClearingParts(
  tx: Queryable,
  beforeMicros: number | undefined,
): Promise<readonly (ClearingPartSum & { readonly currency: string })[]> {
  const rows = await tx.query<StoredPart>(
    `with ${ITEMS}
     select currency, part, count(*) as items, sum(minor)::text as amount,
            ${micros('min(since)')} as "sinceMicros"
       from items
      where minor <> 0
      group by currency, part
      order by currency, array_position(array[${NAMES(CLEARING_PART_NAMES)}], part)
      limit 10000`,
    [instantOrNull(beforeMicros)],
  );
  return rows.map(({ amount, ...rest }) => ({ ...rest, amountMinor: BigInt(amount) }));
}

export interface ClearingItemFilter {
  readonly parts: readonly ClearingPart[];
  readonly currency: string | undefined;
  readonly after: Place | undefined;
  readonly limit: number;
}

/** The oldest items. */
export async function readClearingItems(
  tx: Queryable,
  { parts, currency, after, limit }: ClearingItemFilter,
): Promise<readonly ClearingItem[]> {
  const rows = await tx.query<Omit<ClearingItem, 'amountMinor'> & { readonly amount: string }>(
    `with ${ITEMS}
     select part, subject, reference, currency, minor::text as amount, ${micros('since')} as "sinceMicros"
       from items
      where minor <> 0 and part = any ($2::text[]) and ($3::text is null or currency = $3)
        and ($4::timestamptz is null or (since, subject) > ($4, $5))
      order by since, subject
      limit $6`,
    [null, parts, currency ?? null, instantOrNull(after?.atMicros), after?.id ?? null, limit],
  );
  return rows.map(({ amount, ...rest }) => ({ ...rest, amountMinor: BigInt(amount) }));
}

/** Transfers with which a statement or a page has what is unmatched: reading a million takes about three seconds. */
const MAX_TRANSFERS = 1_000_000;

/** Why what is unmatched would not be read; undefined: it can be. */
export async function whyNotRead(tx: Queryable): Promise<NotRead | undefined> {
  const [row] = await tx.query<{ isImported: boolean; isSmall: boolean }>(
    `select exists (select from settlement_lines) as "isImported",
            coalesce((select max(id) from transfers), 0) <= $1::bigint as "isSmall"`,
    [MAX_TRANSFERS],
  );
  if (!row?.isImported) return 'not_imported';
  return row.isSmall ? undefined : 'too_large';
}

const OLDEST = 10;

interface StoredUnmatched extends StoredPart {
  /** An item; null: a part. */
  readonly subject: string | null;
  readonly reference: string | null;
}

/** The parts of each currency before a time, and the oldest items of each: both from one reading. */
export async function readUnmatchedBefore(
  tx: Queryable,
  beforeMicros: number,
  currency: string | undefined,
): Promise<UnmatchedClearing> {
  const rows = await tx.query<StoredUnmatched>(
    `with ${ITEMS},
     unmatched as materialized (
       select * from items where minor <> 0 and ($2::text is null or currency = $2)),
     parts as (
       select currency, part, count(*) as items, sum(minor) as minor, min(since) as since
         from unmatched group by 1, 2)
     select currency, part, items, minor::text as amount, ${micros('since')} as "sinceMicros",
            null as subject, null as reference
       from parts
     union all
     select oldest.currency, oldest.part, 1, minor::text, ${micros('since')}, subject, reference
       from (select distinct currency from parts) c
      cross join lateral (
        select * from unmatched u where u.currency = c.currency
         order by since, subject limit ${OLDEST}) oldest
     limit 10000`,
    [instantOrNull(beforeMicros), currency ?? null],
  );
  const currencies = [...new Set(rows.map((row) => row.currency))].sort();
  return {
    outcome: 'read',
    clearing: currencies.map((name) => clearingOf(name, rows)),
    oldest: rows
      .flatMap((row) => itemsOf(row))
      .toSorted((one, other) => one.sinceMicros - other.sinceMicros),
  };
}

function clearingOf(currency: string, rows: readonly StoredUnmatched[]): CurrencyClearing {
  const own = rows.filter((row) => row.currency === currency && row.subject === null);
  const parts = CLEARING_PART_NAMES.flatMap((name) =>
    own
      .filter(({ part }) => part === name)
      .map(({ part, items, amount, sinceMicros }) => ({
        part,
        items,
        sinceMicros,
        amountMinor: BigInt(amount),
      })),
  );
  return {
    currency,
    balanceMinor: parts.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
    parts,
  };
}

function itemsOf({ subject, amount, items: _one, ...item }: StoredUnmatched) {
  return subject === null ? [] : [{ ...item, subject, amountMinor: BigInt(amount) }];
}

/** The balance of psp.clearing in each currency. */
export async function readClearingBalances(
  tx: Queryable,
  beforeMicros: number | undefined,
): Promise<readonly { readonly currency: string; readonly balanceMinor: bigint }[]> {
  const rows = await tx.query<{ currency: string; balance: string }>(
    `select currency,
            sum(case when debit = 'psp.clearing' then amount_minor else -amount_minor end)::text as balance
       from transfers
      where (debit = 'psp.clearing' or credit = 'psp.clearing') and effective_at < ${BEFORE}
      group by currency
      order by currency
      limit 1000`,
    [instantOrNull(beforeMicros)],
  );
  return rows.map(({ currency, balance }) => ({ currency, balanceMinor: BigInt(balance) }));
}
