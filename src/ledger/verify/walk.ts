/**
 * Reads the ledger in chunks, by key. Each chunk is read in a database snapshot of its own, so its rows
 * agree, and no snapshot stays open for longer than one chunk. Rows written behind the current key are
 * left to the next run.
 */
import type { Queryable, Session } from '../../platform/db/database.ts';
import { readConsistently } from '../store/readConsistently.ts';
import { estimateRows } from '../store/verifyResources.ts';
import type { Tally } from './tally.ts';

export const PHASES = {
  inbox: { table: 'webhook_events', unit: 'events' },
  resources: { table: 'resources', unit: 'resources' },
  orders: { table: 'orders', unit: 'orders' },
  changes: { table: 'changes', unit: 'changes' },
  lines: { table: 'settlement_lines', unit: 'lines' },
  rebuilding: { table: 'resources', unit: 'resources' },
  'rebuilding orders': { table: 'orders', unit: 'orders' },
  blocks: { table: 'chain_blocks', unit: 'blocks' },
} as const;
export type Phase = keyof typeof PHASES;

export interface Progress {
  readonly phase: Phase;
  readonly done: number;
  /** The approximate total; 0 if it is not known. */
  readonly total: number;
}

/** How many rows a check reads at once, which bounds its memory. */
export const CHUNK_SIZE = 500;

/** The shared state of one run. */
export interface Run {
  readonly db: Pick<Session, 'query' | 'transaction'>;
  readonly tally: Tally;
  readonly merchantId: string;
  /** The public key with which this installation signs the chain, if it is known. */
  readonly chainKey?: string | undefined;
  /** Resources, orders or events per chunk. */
  readonly chunkSize: number;
  readonly onProgress: (progress: Progress) => void;
}

export interface Chunk<Key> {
  /** The last key of the chunk; undefined if nothing was left. */
  readonly last: Key | undefined;
  readonly count: number;
}

/** A part of a table, by its keys: later than `after`, up to and including `until`. */
export interface Bounds<Key> {
  readonly after?: Key | undefined;
  readonly until?: Key | undefined;
}

/** Reads chunks until one is empty. @param start the key after which to begin */
export async function walk<Key>(
  run: Run,
  phase: Phase,
  readChunk: (tx: Queryable, after: Key | undefined) => Promise<Chunk<Key>>,
  start?: Key,
): Promise<void> {
  const total = await estimateRows(run.db, PHASES[phase].table);
  let done = 0;
  let after = start;
  for (;;) {
    const from = after;
    const { last, count } = await readConsistently(run.db, (tx) => readChunk(tx, from));
    if (last === undefined) return;
    after = last;
    done += count;
    run.onProgress({ phase, done, total });
  }
}
