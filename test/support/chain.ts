/** The chain of the journal in tests: what the schedule `chain` does. */
import { type ChainKey, chainKeyOf } from '../../src/ledger/chain/chainKey.ts';
import { appendNext } from '../../src/ledger/chain/publishChain.ts';
import type { SealedBlock } from '../../src/ledger/domain/chain.ts';
import { fenceJournal } from '../../src/ledger/fenceJournal.ts';
import { readChainHead } from '../../src/ledger/store/chain.ts';
import type { Database } from '../../src/platform/db/database.ts';

export const CHAIN_KEY = 'a-secret-of-the-chain-0123456789abcdef';

/** Chains every transfer. @returns the head of the chain */
export async function chainJournal(
  db: Database,
  { key = chainKeyOf(CHAIN_KEY), limit = 1_000 }: { key?: ChainKey; limit?: number } = {},
): Promise<SealedBlock> {
  const throughId = await fenceJournal(db);
  while (await appendNext(db, { throughId, key, limit }));
  const head = await readChainHead(db);
  if (!head) throw new Error('there was nothing to chain');
  return head;
}
