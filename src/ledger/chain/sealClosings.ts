/** Seals closings with the head of the chain, once that has their last transfer (domain/seals.ts). */
import type { Queryable } from '../../platform/db/database.ts';
import type { SealedBlock } from '../domain/chain.ts';
import type { Closing } from '../domain/closings.ts';
import type { SealContent } from '../domain/seals.ts';
import { readClosingBalances, readClosingDays, readClosings } from '../read/store/closings.ts';
import { insertSeal, readSealable } from '../store/seals.ts';
import { type ChainKey, sealClosing } from './chainKey.ts';

/** @param tx holds the lock of the publisher */
export async function sealClosings(
  tx: Queryable,
  head: SealedBlock,
  key: ChainKey | undefined,
): Promise<void> {
  // CHAIN_KEY was removed: the next block is not signed, and seals begin with it.
  if (head.publicKey !== (key?.publicKey ?? null)) return;
  const ids = new Set(await readSealable(tx, head.throughId));
  if (ids.size === 0) return;
  const closings = await readClosings(tx);
  for (const closing of closings.filter(({ id }) => ids.has(id))) {
    const sealed = sealClosing(await readSealContent(tx, closing, head), key);
    await insertSeal(tx, closing.id, {
      blockNumber: head.number,
      blockDigest: head.digest,
      ...sealed,
    });
  }
}

/** What a seal of the closing covers. */
export async function readSealContent(
  tx: Queryable,
  closing: Closing,
  { number, digest }: SealContent['block'],
): Promise<SealContent> {
  return {
    closing,
    days: await readClosingDays(tx, closing.id, undefined),
    balances: await readClosingBalances(tx, closing.id, undefined),
    block: { number, digest },
  };
}
