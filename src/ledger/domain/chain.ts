/**
 * The chain of the journal. Terms: a *block* is a span of transfers by their ids, with the digest of each;
 * the *chain* is all blocks; the *chain head* is the last block without its transfers, which is published.
 *
 * 1. The digest of a transfer covers all of its columns; the form of its block names them.
 * 2. The digest of a block covers its fields, the ids and digests of its transfers, and the digest of the
 *    block before it. So a chain head fixes every transfer up to it.
 * 3. Spans of ids follow each other without a gap: a transfer that appears within one later is found.
 * 4. Digests cover bytes in one form: each field has a type, a length and its value. Nothing depends on how
 *    a text or JSON is written.
 */

import { bytes, integer, joined, text } from './digestForm.ts';

/** A block without its transfers. Digests, keys and signatures are in hexadecimal. */
export interface Block {
  readonly number: number;
  readonly form: number;
  readonly previousDigest: string;
  /** It has the transfers with a greater id, up to and including `throughId`. */
  readonly afterId: number;
  readonly throughId: number;
  readonly transfers: number;
  /** Of this block and all before it. */
  readonly totalTransfers: number;
  /** SHA-256 of the ids and digests of its transfers. */
  readonly entriesDigest: string;
  /** The database server and its timeline. A restore or a failover changes it. */
  readonly history: string;
  readonly chainedMicros: number;
  /** The key that signed it; null while the installation has none. */
  readonly publicKey: string | null;
}

/** A block with its digest, and the signature of it. */
export interface SealedBlock extends Block {
  readonly digest: string;
  readonly signature: string | null;
}

/** What the first block continues. */
export const NO_DIGEST = '00'.repeat(32);

const PURPOSE = 'tallyhook chain block';

/** Rule 4: what the digest of a block covers. */
export function blockBytes(block: Block): Uint8Array {
  return joined([
    text(PURPOSE),
    integer(block.form),
    integer(block.number),
    bytes(block.previousDigest),
    integer(block.afterId),
    integer(block.throughId),
    integer(block.transfers),
    integer(block.totalTransfers),
    bytes(block.entriesDigest),
    text(block.history),
    integer(block.chainedMicros),
    bytes(block.publicKey ?? ''),
  ]);
}

/** Finds how a block fails to continue the one before it. @param previous undefined before the first block */
export function linkProblems(
  previous: SealedBlock | undefined,
  block: SealedBlock,
): readonly string[] {
  const expected = {
    number: (previous?.number ?? 0) + 1,
    previousDigest: previous?.digest ?? NO_DIGEST,
    afterId: previous?.throughId ?? 0,
    totalTransfers: (previous?.totalTransfers ?? 0) + block.transfers,
  };
  if (block.number !== expected.number) {
    const missing = block.number - expected.number;
    const which = missing === 1 ? `block ${expected.number} is` : `${missing} blocks are`;
    return [`${which} missing before it`];
  }
  const differs =
    block.previousDigest !== expected.previousDigest ||
    block.afterId !== expected.afterId ||
    block.totalTransfers !== expected.totalTransfers;
  return differs
    ? [`it does not continue block ${expected.number - 1}: one of the two was changed or replaced`]
    : [];
}

/** The id and digest of a transfer, as a block has them. */
interface Entry {
  readonly id: bigint;
  readonly digest: string;
}

const ID_BYTES = 8;
const ENTRY_BYTES = 40;

function entriesOf(entries: Uint8Array): readonly Entry[] {
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  return Array.from({ length: Math.floor(entries.length / ENTRY_BYTES) }, (_, place) => {
    const start = place * ENTRY_BYTES;
    const digest = entries.subarray(start + ID_BYTES, start + ENTRY_BYTES);
    return { id: view.getBigInt64(start), digest: hexOf(digest) };
  });
}

function hexOf(digest: Uint8Array): string {
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export interface ChangedTransfer {
  /** In decimal: whoever edits a table may write any number. */
  readonly id: string;
  readonly what: 'edited' | 'removed' | 'inserted';
}

/** Compares the transfers of a block with those of the journal, in the order of their ids. */
export function changedTransfers(
  chained: Uint8Array,
  actual: Uint8Array,
): readonly ChangedTransfer[] {
  const before = new Map(entriesOf(chained).map(({ id, digest }) => [id, digest]));
  const now = new Map(entriesOf(actual).map(({ id, digest }) => [id, digest]));
  const gone = [...before.keys()]
    .filter((id) => !now.has(id))
    .map((id) => ({ id, what: 'removed' as const }));
  const others = [...now].flatMap(([id, digest]) => {
    const known = before.get(id);
    if (known === digest) return [];
    return [{ id, what: known === undefined ? ('inserted' as const) : ('edited' as const) }];
  });
  return [...gone, ...others]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, what }) => ({ id: String(id), what }));
}

/** A chain head that was published: at least its number and digest. */
export interface PublishedHead {
  readonly number: number;
  readonly digest: string;
  /** Undefined if only number and digest are known. */
  readonly block?: SealedBlock;
}

/** `1234:ab12…`, as it is printed in statements and summaries. */
export function formatHead({ number, digest }: PublishedHead): string {
  return `${number}:${digest}`;
}

export function parseHead(given: string): PublishedHead | undefined {
  const match = /^([1-9]\d{0,15}):([0-9a-f]{64})$/i.exec(given.trim());
  const [, number = '', digest = ''] = match ?? [];
  return match ? { number: Number(number), digest: digest.toLowerCase() } : undefined;
}

/** The first block of a server or timeline. */
export interface HistoryStart {
  readonly number: number;
  readonly history: string;
  readonly chainedMicros: number;
}

export type HeadVerdict =
  /** The chain has the block. */
  | { readonly outcome: 'confirmed' }
  /** The chain ends before it. */
  | { readonly outcome: 'ahead' }
  /** Another block has its number, which was chained after a restore or failover: `since`. */
  | { readonly outcome: 'replaced_after_restore'; readonly since: HistoryStart }
  /** Another block has its number, and nothing explains it. */
  | { readonly outcome: 'rewritten' };

/**
 * Compares a published chain head with the chain.
 * @param stored the block with the number of the head
 * @param starts where the server or its timeline changed, ascending
 */
export function judgeHead(
  head: PublishedHead,
  stored: SealedBlock | undefined,
  starts: readonly HistoryStart[],
): HeadVerdict {
  if (stored === undefined) return { outcome: 'ahead' };
  if (stored.digest === head.digest) return { outcome: 'confirmed' };
  // A block that replaces the published one was chained later than it.
  const publishedMicros = head.block?.chainedMicros ?? 0;
  const since = starts.findLast(
    ({ number, chainedMicros }) => number <= head.number && chainedMicros >= publishedMicros,
  );
  return since ? { outcome: 'replaced_after_restore', since } : { outcome: 'rewritten' };
}
