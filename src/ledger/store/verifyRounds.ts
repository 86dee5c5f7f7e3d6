/** Statements on the rounds and ranges of verify; domain/verifyPlan.ts defines the terms. */
import { MAY_BE_IDLE, type Queryable } from '../../platform/db/database.ts';
import { oneRow } from '../../platform/db/oneRow.ts';
import type { CheckCount } from '../domain/checks.ts';
import type { KeyRange, RangePhase } from '../domain/verifyPlan.ts';

/**
 * Takes the lock of verify until the transaction ends. It may be idle for as long as a run takes.
 * @returns false if another run holds it
 */
export async function tryLockVerify(tx: Queryable): Promise<boolean> {
  const rows = await tx.query<{ locked: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended('tallyhook verify', 0)) as locked,
            ${MAY_BE_IDLE}`,
  );
  return rows[0]?.locked ?? false;
}

export interface LedgerEnds {
  readonly nowMs: number;
  /** The numbers of the feed; 0 if it is empty. */
  readonly firstChange: number;
  readonly lastChange: number;
  /** The numbers of the inbox; 0 if it is empty. */
  readonly firstEvent: number;
  readonly lastEvent: number;
  /** The number of the last block of the chain; 0 if there is none. */
  readonly lastBlock: number;
  /** The number of the last settlement or bank line; 0 if there is none. */
  readonly lastLine: number;
}

export async function readEnds(tx: Queryable): Promise<LedgerEnds> {
  const rows = await tx.query<LedgerEnds>(
    `select (extract(epoch from clock_timestamp()) * 1000)::bigint as "nowMs",
            (select coalesce(min(number), 0) from changes) as "firstChange",
            (select coalesce(max(number), 0) from changes) as "lastChange",
            (select coalesce(min(id), 0) from webhook_events) as "firstEvent",
            (select coalesce(max(id), 0) from webhook_events) as "lastEvent",
            (select coalesce(max(number), 0) from chain_blocks) as "lastBlock",
            (select coalesce(max(id), 0) from settlement_lines) as "lastLine"`,
  );
  return oneRow(rows);
}

/**
 * The last settled event: no event up to it is pending, and none appears later. Numbers are drawn before
 * the commit, so an event may appear behind younger ones for as long as its transaction takes.
 */
export async function readLastSettled(tx: Queryable, after: number): Promise<number> {
  const rows = await tx.query<{ id: number }>(
    `select e.id
       from webhook_events e
      where e.id > $1
        and e.id < coalesce((select min(webhook_event_id) from pending where webhook_event_id > $1),
                            9223372036854775807)
        and e.received_at < now() - interval '15 minutes'
      order by e.id desc
      limit 1`,
    [after],
  );
  return rows[0]?.id ?? after;
}

export interface Position {
  readonly changeNumber: number;
  readonly eventId: number;
  readonly blockNumber: number;
  readonly lineId: number;
}

export async function readPosition(tx: Queryable): Promise<Position | undefined> {
  const rows = await tx.query<Position>(
    `select change_number as "changeNumber", event_id as "eventId", block_number as "blockNumber",
            line_id as "lineId"
       from verify_position limit 1`,
  );
  return rows[0];
}

export async function writePosition(
  tx: Queryable,
  { changeNumber, eventId, blockNumber, lineId }: Position,
): Promise<void> {
  await tx.query(
    `insert into verify_position (change_number, event_id, block_number, line_id, planned_at)
     values ($1, $2, $3, $4, clock_timestamp())
     on conflict (singleton) do update
        set change_number = excluded.change_number, event_id = excluded.event_id,
            block_number = excluded.block_number, line_id = excluded.line_id,
            planned_at = excluded.planned_at`,
    [changeNumber, eventId, blockNumber, lineId],
  );
}

export interface Round {
  readonly id: number;
  readonly isFull: boolean;
  readonly startedMs: number;
  readonly ranges: number;
  /** Ranges that were checked in this round, with any result. */
  readonly checked: number;
  readonly due: number;
}

/** The round that is not finished. */
export async function readOpenRound(tx: Queryable): Promise<Round | undefined> {
  const rows = await tx.query<Round>(
    `select r.id, r.is_full as "isFull",
            (extract(epoch from r.started_at) * 1000)::bigint as "startedMs",
            count(g.id) as ranges, count(g.checked_at) as checked,
            count(g.id) filter (where g.is_due) as due
       from verify_rounds r
       left join verify_ranges g on g.round_id = r.id
      where r.finished_at is null
      group by r.id
      limit 1`,
  );
  return rows[0];
}

/** Begins a round. Ranges that failed in earlier rounds remain until they pass. */
export async function insertRound(
  tx: Queryable,
  { isFull, changeNumber, eventId, blockNumber, lineId }: Position & { readonly isFull: boolean },
): Promise<number> {
  await tx.query(
    // Later events, blocks and lines are in the ranges of what changed.
    `update verify_ranges
        set round_id = null,
            until_key = coalesce(until_key, case phase when 'inbox' then $1::text
                                                       when 'blocks' then $2::text
                                                       when 'lines' then $3::text end)
      where failures > 0 and round_id is not null`,
    [String(eventId), String(blockNumber), String(lineId)],
  );
  await tx.query('delete from verify_ranges where round_id is not null');
  await tx.query(
    `delete from verify_rounds
      where finished_at is null
         or id < (select max(id) from verify_rounds where finished_at is not null)`,
  );
  const rows = await tx.query<{ id: number }>(
    `insert into verify_rounds (is_full, change_number, event_id, block_number, line_id)
     values ($1, $2, $3, $4, $5) returning id`,
    [isFull, changeNumber, eventId, blockNumber, lineId],
  );
  return oneRow(rows).id;
}

export interface NewRange extends KeyRange {
  readonly phase: RangePhase;
}

/** @param roundId undefined: ranges of what changed */
export async function insertRanges(
  tx: Queryable,
  ranges: readonly NewRange[],
  { roundId, isDue }: { readonly roundId: number | undefined; readonly isDue: boolean },
): Promise<void> {
  await tx.query(
    `insert into verify_ranges (round_id, phase, after_key, until_key, is_due)
     select $1, phase, after_key, until_key, $5
       from unnest($2::text[], $3::text[], $4::text[]) as u (phase, after_key, until_key)`,
    [
      roundId ?? null,
      ranges.map(({ phase }) => phase),
      ranges.map(({ after }) => after ?? null),
      ranges.map(({ until }) => until ?? null),
      isDue,
    ],
  );
}

/**
 * Removes the range of events that were not settled, and that of the end of the chain; the next ranges
 * contain both.
 */
export async function deleteTail(tx: Queryable): Promise<void> {
  await tx.query(
    `delete from verify_ranges
      where round_id is null and phase in ('inbox', 'blocks') and until_key is null
        and after_key is not null`,
  );
}

/** Makes the next unchecked ranges of a round due. */
export async function markDue(
  tx: Queryable,
  { roundId, limit }: { readonly roundId: number; readonly limit: number },
): Promise<void> {
  await tx.query(
    `update verify_ranges set is_due = true
      where id in (select id from verify_ranges
                    where round_id = $1 and checked_at is null and not is_due
                    order by id
                    limit $2)`,
    [roundId, limit],
  );
}

/** Makes ranges that failed due again, the oldest first. */
export async function markFailedDue(tx: Queryable, limit: number): Promise<void> {
  await tx.query(
    `update verify_ranges set is_due = true
      where id in (select id from verify_ranges
                    where failures > 0 and not is_due
                    order by checked_at, id
                    limit $1)`,
    [limit],
  );
}

export interface Range extends NewRange {
  readonly id: number;
}

export async function countDue(db: Queryable): Promise<number> {
  const rows = await db.query<{ due: number }>(
    'select count(*) as due from verify_ranges where is_due',
  );
  return rows[0]?.due ?? 0;
}

/** The next due ranges by number. */
export async function readDue(
  db: Queryable,
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Promise<readonly Range[]> {
  const rows = await db.query<{
    readonly id: number;
    readonly phase: RangePhase;
    readonly after: string | null;
    readonly until: string | null;
  }>(
    `select id, phase, after_key as after, until_key as until
       from verify_ranges
      where is_due and id > $1
      order by id
      limit $2`,
    [afterId, limit],
  );
  return rows.map(({ after, until, ...row }) => ({
    ...row,
    after: after ?? undefined,
    until: until ?? undefined,
  }));
}

/** Records the result of a range. What changed is forgotten once it has passed. */
export async function finishRange(
  db: Queryable,
  { id, checks }: { readonly id: number; readonly checks: readonly CheckCount[] },
): Promise<void> {
  const failures = checks.reduce((sum, check) => sum + check.failures, 0);
  await db.query(
    `with passed as (
       delete from verify_ranges where id = $1 and round_id is null and $2::bigint = 0
     )
     update verify_ranges
        set is_due = false, checked_at = clock_timestamp(), failures = $2, checks = $3
      where id = $1 and (round_id is not null or $2::bigint > 0)`,
    [id, failures, JSON.stringify(checks)],
  );
}

/** The results of a checked range. */
export interface RoundChecks {
  readonly id: number;
  readonly checks: readonly CheckCount[];
}

/** The results of the checked ranges of a round. */
export function readRoundChecks(
  db: Queryable,
  {
    roundId,
    afterId,
    limit,
  }: { readonly roundId: number; readonly afterId: number; readonly limit: number },
): Promise<readonly RoundChecks[]> {
  return db.query(
    `select id, checks
       from verify_ranges
      where round_id = $1 and id > $2 and checks is not null
      order by id
      limit $3`,
    [roundId, afterId, limit],
  );
}

/** Finishes the open round if every range was checked, and sets the position to what it has proven. */
export async function finishRound(tx: Queryable): Promise<void> {
  await tx.query(
    `with finished as (
       update verify_rounds r set finished_at = clock_timestamp()
        where r.finished_at is null
          and not exists (select from verify_ranges g
                           where g.round_id = r.id and g.checked_at is null)
       returning change_number, event_id, block_number, line_id
     )
     update verify_position p
        set change_number = greatest(p.change_number, f.change_number),
            event_id = greatest(p.event_id, f.event_id),
            block_number = greatest(p.block_number, f.block_number),
            line_id = greatest(p.line_id, f.line_id)
       from finished f`,
  );
}

export interface Proof {
  /** When verify last began; null before the first run. Milliseconds since 1970, as all times here. */
  readonly lastRunMs: number | null;
  /** When the last finished round began and ended; null before the first one. */
  readonly fullFromMs: number | null;
  readonly fullAtMs: number | null;
  /** Of the open round; 0 if there is none. */
  readonly ranges: number;
  readonly checked: number;
  /** Ranges of a run that is under way or was interrupted. */
  readonly due: number;
  readonly failedRanges: number;
  readonly failures: number;
}

/** What is proven, for people, metrics and alerts. */
export async function readProof(db: Queryable): Promise<Proof> {
  const rows = await db.query<Proof>(
    `select (select (extract(epoch from planned_at) * 1000)::bigint from verify_position) as "lastRunMs",
            (extract(epoch from last.started_at) * 1000)::bigint as "fullFromMs",
            (extract(epoch from last.finished_at) * 1000)::bigint as "fullAtMs",
            open.ranges, open.checked,
            (select count(*) from verify_ranges where is_due) as due,
            failed.ranges as "failedRanges", failed.failures
       from (select count(*) as ranges, coalesce(sum(failures), 0)::bigint as failures
               from verify_ranges where failures > 0) failed
      cross join (select count(*) as ranges, count(g.checked_at) as checked
                    from verify_rounds r
                    join verify_ranges g on g.round_id = r.id
                   where r.finished_at is null) open
       left join lateral (select started_at, finished_at from verify_rounds
                           where finished_at is not null order by id desc limit 1) last on true`,
  );
  return oneRow(rows);
}

/** Keys of resources, `payment:pay_1`, that divide the table into about `ranges` equal parts. */
export async function sampleResourceKeys(
  tx: Queryable,
  ranges: number,
): Promise<readonly string[]> {
  const percent = await samplePercent(tx, 'resources', ranges);
  const rows = await tx.query<{ key: string }>(
    `select kind || ':' || id as key
       from (select kind, id, row_number() over (order by kind, id) as place, count(*) over () as rows
               from resources tablesample system ($1)) sampled
      where place % greatest(1, rows / $2) = 0
      order by kind, id`,
    [percent, ranges],
  );
  return rows.map(({ key }) => key);
}

/** Keys of orders that divide the table into about `ranges` equal parts. */
export async function sampleOrderKeys(tx: Queryable, ranges: number): Promise<readonly string[]> {
  const percent = await samplePercent(tx, 'orders', ranges);
  const rows = await tx.query<{ key: string }>(
    `select order_key as key
       from (select order_key, row_number() over (order by order_key) as place,
                    count(*) over () as rows
               from orders tablesample system ($1)) sampled
      where place % greatest(1, rows / $2) = 0
      order by order_key`,
    [percent, ranges],
  );
  return rows.map(({ key }) => key);
}

const SAMPLED_EACH = 60;

async function samplePercent(
  tx: Queryable,
  table: 'resources' | 'orders',
  ranges: number,
): Promise<number> {
  const rows = await countRoughly(tx, table);
  return Math.min(100, (100 * ranges * SAMPLED_EACH) / Math.max(1, rows));
}

/** About how many rows a table has, also before it was analyzed. */
export async function countRoughly(tx: Queryable, table: 'resources' | 'orders'): Promise<number> {
  const rows = await tx.query<{ rows: number }>(
    `select case when reltuples > 0 then reltuples
                 else pg_relation_size(oid) / 100 end::bigint as rows
       from pg_class where oid = to_regclass($1)`,
    [table],
  );
  return rows[0]?.rows ?? 0;
}
