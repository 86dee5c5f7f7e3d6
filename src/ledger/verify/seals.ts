/** Checks that each closing is as it was sealed, and that the chain has the block of its seal. */
import { closingProblems } from '../chain/chainKey.ts';
import { readSealContent } from '../chain/sealClosings.ts';
import type { Closing, Seal } from '../domain/closings.ts';
import { readClosings } from '../read/store/closings.ts';
import { readBlock } from '../store/chain.ts';
import type { Run } from './walk.ts';

/** Also of months that were reopened: their closings are kept. */
export async function checkSeals(run: Run): Promise<void> {
  for (const closing of await readClosings(run.db)) {
    if (!closing.seal) continue;
    const subject = `closing:${closing.month}:${closing.version}`;
    run.tally.report('chained', { subject }, await problemsOf(run, closing, closing.seal));
  }
}

async function problemsOf({ db }: Run, closing: Closing, seal: Seal): Promise<readonly string[]> {
  const { blockNumber: number, blockDigest: digest } = seal;
  const block = await readBlock(db, number);
  if (block?.digest !== digest) {
    return [`it was sealed with block ${number}:${digest}, which the chain does not have`];
  }
  return closingProblems(await readSealContent(db, closing, block), seal, block.publicKey);
}
