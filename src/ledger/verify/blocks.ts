/**
 * Checks the chain of the journal by ranges of blocks: each block is as it was sealed, continues the one
 * before it, and has the transfers that the journal has (domain/chain.ts). The range without an end also
 * checks the key of the last block, and the seals of closings.
 */
import { sealProblems } from '../chain/chainKey.ts';
import { changedTransfers, linkProblems, type SealedBlock } from '../domain/chain.ts';
import { MAX_OFFENDERS } from '../domain/checks.ts';
import { formatInstant } from '../domain/time.ts';
import { type KeyRange, numbersBetween, rangesBetween } from '../domain/verifyPlan.ts';
import {
  type CheckedBlock,
  nameTransfers,
  readBlock,
  readChainHead,
  readCheckedBlocks,
  readEntries,
} from '../store/chain.ts';
import { estimateRows } from '../store/verifyResources.ts';
import { checkSeals } from './seals.ts';
import type { Bounds, Run } from './walk.ts';

/** At most so many thousand transfers are read by one statement. */
const BLOCKS_AT_ONCE = 20;

/** Up to so many thousand transfers. */
export const BLOCKS_OF_RANGE = 20;

/** Ranges that contain every block once, and those that are appended meanwhile. */
export function rangesOfBlocks(lastBlock: number): readonly KeyRange[] {
  return rangesBetween(numbersBetween(0, lastBlock, BLOCKS_OF_RANGE).map(String));
}

/** @param bounds numbers of blocks */
export async function checkBlocks(
  run: Run,
  { after = 0, until }: Bounds<number> = {},
): Promise<void> {
  const total = await estimateRows(run.db, 'chain_blocks');
  let previous = after === 0 ? undefined : await readBlock(run.db, after);
  let isFirst = true;
  let from = after;
  for (;;) {
    const blocks = await readCheckedBlocks(run.db, { after: from, until, limit: BLOCKS_AT_ONCE });
    for (const block of blocks) {
      // The range before this one ends with its predecessor, and reports that it was removed.
      const isLinked = !isFirst || after === 0 || previous !== undefined;
      await checkBlock(run, block, isLinked ? linkProblems(previous, block) : []);
      previous = block;
      isFirst = false;
      from = block.number;
    }
    run.onProgress({ phase: 'blocks', done: from - after, total });
    if (blocks.length < BLOCKS_AT_ONCE) break;
  }
  if (until === undefined) {
    await checkKey(run);
    await checkSeals(run);
  } else if (from < until) {
    run.tally.report('chained', { subject: `block:${until}` }, ['it was removed']);
  }
}

async function checkBlock(run: Run, block: CheckedBlock, links: readonly string[]): Promise<void> {
  const { tally } = run;
  const form = block.isSame === null ? [`its form ${block.form} is not known to this version`] : [];
  tally.report('chained', subjectOf(block), [...sealProblems(block), ...links, ...form]);
  tally.addChecked('chained', block.transfers);
  if (block.isSame === false) await reportTransfers(run, block);
}

function subjectOf({ number }: SealedBlock): { readonly subject: string } {
  return { subject: `block:${number}` };
}

const WHAT = {
  edited: 'it was edited after it was chained',
  removed: 'it was removed after it was chained',
  inserted: 'it was inserted after its neighbors were chained',
} as const;

/** Names the transfers of a block that differ. */
async function reportTransfers({ db, tally }: Run, block: CheckedBlock): Promise<void> {
  const { chained, actual } = await readEntries(db, block.number);
  const changed = changedTransfers(chained, actual);
  const ids = changed.slice(0, MAX_OFFENDERS).map(({ id }) => id);
  const names = new Map((await nameTransfers(db, ids)).map((transfer) => [transfer.id, transfer]));
  const where = `in block ${block.number} of ${formatInstant(block.chainedMicros)}`;
  for (const { id, what } of changed) {
    const name = names.get(id);
    const about = name ? `: ${name.kind} ${name.resourceId}, ${name.leg}, number ${name.seq}` : '';
    tally.report('chained', { subject: `transfer:${id}` }, [`${WHAT[what]} ${where}${about}`]);
  }
  // The entries differ, and no transfer does: they have another order, or are there twice.
  if (changed.length === 0) {
    tally.report('chained', subjectOf(block), ['its list of transfers was edited']);
  }
}

/** The last block must be signed by the key of this installation: whoever replaces blocks does not have it. */
async function checkKey({ db, tally, chainKey }: Run): Promise<void> {
  const head = await readChainHead(db);
  if (chainKey === undefined || head === undefined || head.publicKey === chainKey) return;
  const by = head.publicKey === null ? 'is not signed' : `is signed with the key ${head.publicKey}`;
  tally.report('chained', subjectOf(head), [
    `it ${by}, but the key of this installation is ${chainKey}. The scheduler signs a further block within ` +
      'minutes after CHAIN_KEY was set or changed; if it was not, the block was replaced',
  ]);
}
