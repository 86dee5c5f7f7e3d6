/**
 * Appends transfers to the chain after their commit (domain/chain.ts).
 *
 * 1. One publisher appends at a time, each block in one transaction: a publisher that is killed leaves a
 *    chain that the next one continues.
 * 2. Only transfers up to a fence are appended (fenceJournal.ts): no smaller id can appear. The publisher
 *    waits for writers; writers never wait for it.
 * 3. Transfers of an earlier version are appended once all have their effective times, which are filled in
 *    place.
 */
import { monotonicMs } from '../../platform/clock.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import type { Log } from '../../platform/log.ts';
import { formatHead, NO_DIGEST, type SealedBlock } from '../domain/chain.ts';
import { fenceJournal } from '../fenceJournal.ts';
import { hasUndatedTransfers } from '../read/store/statement.ts';
import { appendBlock, FORM, readChainHead, readContent, tryLockChain } from '../store/chain.ts';
import { BUDGET_MS, turnsUntil } from '../turns.ts';
import { type ChainKey, sealBlock } from './chainKey.ts';
import { sealClosings } from './sealClosings.ts';

/** Transfers of a block: some tens of milliseconds. */
const BLOCK_TRANSFERS = 1_000;

export interface ChainJobParts {
  readonly db: Database;
  readonly log: Log;
  /** Undefined: blocks are not signed. */
  readonly key: ChainKey | undefined;
  readonly signal: AbortSignal;
}

/** @returns the work of one run of the schedule `chain` */
export function createChainJob({ db, log, key, signal }: ChainJobParts): () => Promise<void> {
  return async () => {
    const endMs = monotonicMs() + BUDGET_MS;
    const throughId = await fenceJournal(db, signal).catch((error: unknown) => {
      // The process stops, and would wait for a writer.
      if (signal.aborted) return undefined;
      throw error;
    });
    if (throughId === undefined) return;
    let head: SealedBlock | undefined;
    for await (const _turn of turnsUntil(endMs, signal)) {
      const appended = await appendNext(db, { throughId, key });
      if (!appended) break;
      head = appended;
    }
    // A log that leaves the machine keeps the head out of reach of whoever can change the database.
    if (head)
      log.info({ head: formatHead(head), transfers: head.totalTransfers }, 'chain.appended');
  };
}

export interface AppendOptions {
  /** The fence. */
  readonly throughId: number;
  readonly key: ChainKey | undefined;
  /** The most transfers of the block. */
  readonly limit?: number;
}

/**
 * Appends the next block, and seals closings that the chain has then. With a new key it appends a block even without transfers, so that the new key
 * signs what is chained already.
 * @returns undefined if there is nothing to append, or another publisher is doing so
 */
export function appendNext(db: Database, options: AppendOptions): Promise<SealedBlock | undefined> {
  return db.transaction(async (tx) => {
    if (!(await tryLockChain(tx)) || (await hasUndatedTransfers(tx))) return undefined;
    const last = await readChainHead(tx);
    const appended = await appendAfter(tx, last, options);
    const head = appended ?? last;
    if (head) await sealClosings(tx, head, options.key);
    return appended;
  });
}

async function appendAfter(
  tx: Queryable,
  last: SealedBlock | undefined,
  { throughId, key, limit = BLOCK_TRANSFERS }: AppendOptions,
): Promise<SealedBlock | undefined> {
  const afterId = last?.throughId ?? 0;
  const content = await readContent(tx, {
    after: afterId,
    through: throughId,
    limit,
  });
  const isNewKey = last !== undefined && key !== undefined && last.publicKey !== key.publicKey;
  if (content.transfers === 0 && !isNewKey) return undefined;
  const block = sealBlock(
    {
      number: (last?.number ?? 0) + 1,
      form: FORM,
      previousDigest: last?.digest ?? NO_DIGEST,
      afterId,
      throughId: content.throughId,
      transfers: content.transfers,
      totalTransfers: (last?.totalTransfers ?? 0) + content.transfers,
      entriesDigest: content.entriesDigest,
      history: content.history,
      chainedMicros: content.nowMicros,
    },
    key,
  );
  await appendBlock(tx, block, content.entries);
  return block;
}
