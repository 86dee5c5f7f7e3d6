/** Verifies the whole chain of the journal, several ranges at once, and compares it with a published head. */
import type { Database, Queryable } from '../../platform/db/database.ts';
import { sealProblems } from '../chain/chainKey.ts';
import {
  type HeadVerdict,
  type HistoryStart,
  judgeHead,
  type PublishedHead,
  type SealedBlock,
} from '../domain/chain.ts';
import type { CheckCount, CheckResult } from '../domain/checks.ts';
import {
  measureUnchained,
  readBlock,
  readChainHead,
  readHistoryStarts,
  readLastBlockNumber,
  type Unchained,
} from '../store/chain.ts';
import { rangesOfBlocks } from './blocks.ts';
import type { Checker } from './proveLedger.ts';
import { createTally } from './tally.ts';

export interface ChainOptions {
  /** The installation account. */
  readonly merchantId: string;
  /** The public key that must have signed the last block; undefined: not known here. */
  readonly publicKey: string | undefined;
  /** What was published earlier. */
  readonly head: PublishedHead | undefined;
  /** Opens what checks ranges in parallel. @param ranges how many there are */
  readonly openCheckers: (ranges: number) => readonly Checker[];
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
}

export interface ChainReport {
  readonly passed: boolean;
  /** Its first offender is the first in the order of the blocks. */
  readonly check: CheckResult;
  /** The last block; undefined while there is none. */
  readonly last: SealedBlock | undefined;
  readonly unchained: Unchained;
  /** Where the server or its timeline changed. */
  readonly starts: readonly HistoryStart[];
  readonly publicKey: string | undefined;
  readonly head: ComparedHead | undefined;
}

export type ComparedHead = { readonly given: PublishedHead } & (
  | HeadVerdict
  /** What was given is not what an installation published. */
  | { readonly outcome: 'invalid'; readonly problems: readonly string[] }
);

export async function verifyChain(db: Database, options: ChainOptions): Promise<ChainReport> {
  const { head, publicKey } = options;
  const check = await checkRanges(db, options);
  const starts = await readHistoryStarts(db);
  const compared = head && (await compareHead(db, head, starts));
  return {
    passed: check.failures === 0 && (compared === undefined || compared.outcome === 'confirmed'),
    check,
    last: await readChainHead(db),
    unchained: await measureUnchained(db),
    starts,
    publicKey,
    head: compared,
  };
}

/** The results are added in the order of the ranges, so that the first offender is the first of the chain. */
async function checkRanges(
  db: Queryable,
  { merchantId, publicKey, openCheckers, onProgress }: ChainOptions,
): Promise<CheckResult> {
  const ranges = rangesOfBlocks(await readLastBlockNumber(db));
  const found: (readonly CheckCount[])[] = [];
  let next = 0;
  let done = 0;
  const work = async (checker: Checker): Promise<void> => {
    for (;;) {
      const place = next;
      const range = ranges[place];
      if (!range) return;
      next += 1;
      found[place] = await checker({
        phase: 'blocks',
        ...range,
        merchantId,
        chainKey: publicKey,
        lastChange: 0,
      });
      done += 1;
      onProgress?.({ done, total: ranges.length });
    }
  };
  await Promise.all(openCheckers(ranges.length).map(work));
  const tally = createTally({ rebuild: false });
  for (const counts of found) tally.add(counts);
  const check = tally.results().find(({ name }) => name === 'chained');
  if (!check) throw new Error('the check of the chain has no result');
  return check;
}

async function compareHead(
  db: Queryable,
  given: PublishedHead,
  starts: readonly HistoryStart[],
): Promise<ComparedHead> {
  const problems = given.block ? sealProblems(given.block) : [];
  if (problems.length > 0) return { given, outcome: 'invalid', problems };
  return { given, ...judgeHead(given, await readBlock(db, given.number), starts) };
}
