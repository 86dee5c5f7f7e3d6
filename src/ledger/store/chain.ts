/** Statements on the chain of the journal; domain/chain.ts defines the terms. */
import { tryLockByName } from '../../platform/db/advisoryLocks.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { oneRow } from '../../platform/db/oneRow.ts';
import type { HistoryStart, SealedBlock } from '../domain/chain.ts';
import { formatInstant } from '../domain/time.ts';

/**
 * What the digest of a transfer covers, by the form of its block: these columns, as PostgreSQL sends a row in
 * binary. That is the number of columns, and for each its type, its length and its bytes; a length of -1 is
 * null. A migration that adds a column adds a form. An earlier form is never changed.
 */
const FORMS = {
  1: `t.id, t.kind, t.resource_id, t.leg, t.currency, t.leg_seq, t.debit, t.credit, t.amount_minor,
      t.previous_minor, t.cumulative_minor, t.head_hash, t.webhook_event_id, t.recorded_at,
      t.effective_at, t.effective_source`,
} as const;

/** The form of new blocks. */
export const FORM = 1;

/** Names with their schema: a function of the same name elsewhere must not take their place. */
const entryOf = (form: keyof typeof FORMS) =>
  `pg_catalog.int8send(t.id) || pg_catalog.sha256(pg_catalog.record_send(row(${FORMS[form]})))`;

const ENTRY = `case b.form ${Object.keys(FORMS)
  .map((form) => `when ${form} then ${entryOf(Number(form) as keyof typeof FORMS)}`)
  .join(' ')} end`;

/** The transfers of the block `b` as they are now. The first block has every transfer before its end. */
const ENTRIES_NOW = `
  coalesce((select string_agg(${ENTRY}, '' order by t.id)
              from transfers t
             where t.id > case when b.number = 1 then -9223372036854775808 else b.after_id end
               and t.id <= b.through_id), '')`;

const HEADER = `
  b.number, b.form, encode(b.previous_digest, 'hex') as "previousDigest", b.after_id as "afterId",
  b.through_id as "throughId", b.transfers, b.total_transfers as "totalTransfers",
  encode(pg_catalog.sha256(b.entries), 'hex') as "entriesDigest", b.history,
  (extract(epoch from b.chained_at) * 1000000)::bigint as "chainedMicros",
  encode(b.public_key, 'hex') as "publicKey", encode(b.signature, 'hex') as signature,
  encode(b.digest, 'hex') as digest`;

/**
 * Takes the publisher's lock until the transaction ends.
 * @returns false if another publisher holds it
 */
export function tryLockChain(tx: Queryable): Promise<boolean> {
  return tryLockByName(tx, 'tallyhook chain');
}

/** The last block; undefined before the first one. */
export async function readChainHead(db: Queryable): Promise<SealedBlock | undefined> {
  const rows = await db.query<SealedBlock>(
    `select ${HEADER} from chain_blocks b order by b.number desc limit 1`,
  );
  return rows[0];
}

export async function readBlock(db: Queryable, number: number): Promise<SealedBlock | undefined> {
  const rows = await db.query<SealedBlock>(
    `select ${HEADER} from chain_blocks b where b.number = $1 limit 1`,
    [number],
  );
  return rows[0];
}

/** The number of the last block; 0 if there is none. */
export async function readLastBlockNumber(db: Queryable): Promise<number> {
  const rows = await db.query<{ number: number }>(
    'select coalesce(max(number), 0) as number from chain_blocks',
  );
  return rows[0]?.number ?? 0;
}

/** What a block is made of. */
export interface BlockContent {
  readonly throughId: number;
  readonly transfers: number;
  readonly entries: Buffer;
  readonly entriesDigest: string;
  readonly history: string;
  readonly nowMicros: number;
}

/** The next transfers after an id, up to another. */
export async function readContent(
  tx: Queryable,
  {
    after,
    through,
    limit,
  }: { readonly after: number; readonly through: number; readonly limit: number },
): Promise<BlockContent> {
  const rows = await tx.query<BlockContent>(
    `select coalesce(max(e.id), $1) as "throughId", count(*) as transfers,
            coalesce(string_agg(e.entry, '' order by e.id), '') as entries,
            encode(sha256(coalesce(string_agg(e.entry, '' order by e.id), '')), 'hex') as "entriesDigest",
            server_history() as history,
            (extract(epoch from clock_timestamp()) * 1000000)::bigint as "nowMicros"
       from (select t.id, ${entryOf(FORM)} as entry
               from transfers t
              where t.id > $1 and t.id <= $2
              order by t.id
              limit $3) e`,
    [after, through, limit],
  );
  return oneRow(rows);
}

/** Appends a block. The database rejects one that does not continue the chain. */
export async function appendBlock(
  tx: Queryable,
  block: SealedBlock,
  entries: Buffer,
): Promise<void> {
  await tx.query(
    `select append_chain_block($1, $2, decode($3, 'hex'), $4, $5, $6, $7, $8, $9, $10,
                               decode($11, 'hex'), decode($12, 'hex'), decode($13, 'hex'))`,
    [
      block.number,
      block.form,
      block.previousDigest,
      block.afterId,
      block.throughId,
      block.transfers,
      block.totalTransfers,
      entries,
      block.history,
      formatInstant(block.chainedMicros),
      block.publicKey,
      block.signature,
      block.digest,
    ],
  );
}

/** A block, and whether the journal has its transfers unchanged; null for an unknown form. */
export interface CheckedBlock extends SealedBlock {
  readonly isSame: boolean | null;
}

/** The next blocks by number, compared with the journal. */
export function readCheckedBlocks(
  db: Queryable,
  {
    after,
    until,
    limit,
  }: { readonly after: number; readonly until: number | undefined; readonly limit: number },
): Promise<readonly CheckedBlock[]> {
  return db.query<CheckedBlock>(
    `select ${HEADER}, b.entries = ${ENTRIES_NOW} as "isSame"
       from chain_blocks b
      where b.number > $1 and ($2::bigint is null or b.number <= $2)
      order by b.number
      limit $3`,
    [after, until ?? null, limit],
  );
}

/** The transfers of a block, as it has them and as the journal has them. */
export async function readEntries(
  db: Queryable,
  number: number,
): Promise<{ readonly chained: Buffer; readonly actual: Buffer }> {
  const rows = await db.query<{ chained: Buffer; actual: Buffer }>(
    `select b.entries as chained, ${ENTRIES_NOW} as actual from chain_blocks b where b.number = $1 limit 1`,
    [number],
  );
  const [row] = rows;
  if (!row) throw new Error(`block ${number} was removed while it was checked`);
  return row;
}

export interface NamedTransfer {
  readonly id: string;
  readonly kind: string;
  readonly resourceId: string;
  readonly leg: string;
  readonly seq: number;
}

/** What transfers are about, as the journal has them now. */
export function nameTransfers(
  db: Queryable,
  ids: readonly string[],
): Promise<readonly NamedTransfer[]> {
  return db.query<NamedTransfer>(
    `select id::text, kind, resource_id as "resourceId", leg, leg_seq as seq
       from transfers where id = any ($1::bigint[])
      order by id
      limit $2`,
    [ids, ids.length],
  );
}

/** The first block of each server and timeline, the latest 100. */
export function readHistoryStarts(db: Queryable): Promise<readonly HistoryStart[]> {
  return db.query<HistoryStart>(
    `select number, history, "chainedMicros"
       from (select b.number, b.history, (extract(epoch from b.chained_at) * 1000000)::bigint as "chainedMicros",
                    lag(b.history) over (order by b.number) as previous
               from chain_blocks b) s
      where previous <> history
      order by number
      limit 100`,
  );
}

const MAX_COUNTED = 10_000;

export interface Unchained {
  /** At most `MAX_COUNTED`. */
  readonly transfers: number;
  /** False: this many or more. */
  readonly isCountComplete: boolean;
  /** Age of the oldest of them; 0 if there is none. */
  readonly oldestAgeSeconds: number;
  /** Seconds since the last block; null before the first one. */
  readonly lastBlockAgeSeconds: number | null;
}

/** Transfers that are not in the chain yet. */
export async function measureUnchained(db: Queryable): Promise<Unchained> {
  const rows = await db.query<Unchained>(
    `select count(*) as transfers, count(*) < ${MAX_COUNTED} as "isCountComplete",
            greatest(coalesce(extract(epoch from clock_timestamp() - min(t.recorded_at)), 0), 0)::float8
              as "oldestAgeSeconds",
            (select extract(epoch from clock_timestamp() - chained_at)::float8
               from chain_blocks order by number desc limit 1) as "lastBlockAgeSeconds"
       from (select recorded_at from transfers
              where id > coalesce((select through_id from chain_blocks order by number desc limit 1), 0)
              order by id limit ${MAX_COUNTED}) t`,
  );
  return oneRow(rows);
}
