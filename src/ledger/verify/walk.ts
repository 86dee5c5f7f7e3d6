/**
 * Walks the ledger in chunks, by key. Each chunk is read at one moment of its own: what is read
 * together agrees, and no snapshot is held open for longer than a chunk takes, however large the
 * ledger is. What is written behind the walk is not seen by it; the next run sees it.
 */
import type { Queryable, Session } from '../../platform/db/database.ts';
import { readConsistently } from '../store/readConsistently.ts';
import { estimateRows } from '../store/verifyResources.ts';
import type { Tally } from './tally.ts';

export const PHASES = {
  inbox: { table: 'webhook_events', unit: 'events' },
  resources: { table: 'resources', unit: 'resources' },
  orders: { table: 'orders', unit: 'orders' },
  rebuilding: { table: 'resources', unit: 'resources' },
  'rebuilding orders': { table: 'orders', unit: 'orders' },
} as const;
export type Phase = keyof typeof PHASES;

export interface Progress {
  readonly phase: Phase;
  readonly done: number;
  /** About how many there are; 0 when that is not known. */
  readonly total: number;
}

/** What the parts of one run share. */
export interface Run {
  readonly db: Session;
  readonly tally: Tally;
  readonly merchantId: string;
  /** Resources, orders or events that are read together. */
  readonly chunkSize: number;
  readonly onProgress: (progress: Progress) => void;
}

export interface Chunk<Key> {
  /** The last key that was read; undefined when nothing was left. */
  readonly last: Key | undefined;
  readonly count: number;
}

/** Reads chunk after chunk until one is empty. */
export async function walk<Key>(
  run: Run,
  phase: Phase,
  readChunk: (tx: Queryable, after: Key | undefined) => Promise<Chunk<Key>>,
): Promise<void> {
  const total = await estimateRows(run.db, PHASES[phase].table);
  let done = 0;
  let after: Key | undefined;
  for (;;) {
    const from = after;
    const { last, count } = await readConsistently(run.db, (tx) => readChunk(tx, from));
    if (last === undefined) return;
    after = last;
    done += count;
    run.onProgress({ phase, done, total });
  }
}
