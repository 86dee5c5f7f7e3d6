/**
 * Verifies the ledger: runs every check of domain/checks.ts over all stored data, while workers run.
 * Memory is bounded by one chunk, regardless of the size of the ledger.
 */
import type { Database, Session } from '../../platform/db/database.ts';
import { readFirstBodyDay } from '../bodies/store/days.ts';
import type { CheckResult } from '../domain/checks.ts';
import { ACCOUNTS } from '../domain/legs.ts';
import { readConsistently } from '../store/readConsistently.ts';
import { createRebuildTables } from '../store/rebuild.ts';
import { type AccountBalance, readBalances } from '../store/verifyResources.ts';
import { checkBlocks } from './blocks.ts';
import { checkClosings } from './closings.ts';
import { checkInbox } from './inbox.ts';
import { checkLines } from './lines.ts';
import { checkOrders } from './orders.ts';
import { compareWithRebuilt, keepObservations } from './rebuild.ts';
import { checkResources } from './resources.ts';
import { checkSums, rangesOfSums } from './sums.ts';
import { createTally, type Tally } from './tally.ts';
import { CHUNK_SIZE, type Progress, type Run } from './walk.ts';

export interface VerifyOptions {
  /** The installation account. */
  readonly merchantId: string;
  /** The public key with which this installation signs the chain, if it is known. */
  readonly chainKey?: string | undefined;
  /** Rebuild the ledger from the inbox beside the live one, and compare. */
  readonly rebuild: boolean;
  readonly onProgress?: (progress: Progress) => void;
  readonly chunkSize?: number;
}

export interface VerifyReport {
  readonly passed: boolean;
  readonly checks: readonly CheckResult[];
  /** Balances of the journal, read in one snapshot. */
  readonly balances: readonly AccountBalance[];
  /**
   * With `rebuild`: the first day with bodies, if retention has removed older ones. What was received
   * before is rebuilt from stored snapshots. Null: every body was read.
   */
  readonly bodiesFrom?: string | null;
}

export function verifyLedger(db: Database, options: VerifyOptions): Promise<VerifyReport> {
  const { rebuild } = options;
  return db.session(async (session) => {
    const run: Run = {
      db: session,
      tally: createTally({ rebuild }),
      merchantId: options.merchantId,
      chainKey: options.chainKey,
      chunkSize: options.chunkSize ?? CHUNK_SIZE,
      onProgress: options.onProgress ?? (() => undefined),
    };
    if (rebuild) await createRebuildTables(session);
    await checkInbox(run, rebuild ? keepObservations : () => Promise.resolve());
    await checkResources(run);
    await checkOrders(run);
    await checkLines(run);
    await checkAllSums(run);
    await checkClosings(run);
    await checkBlocks(run);
    const balances = await checkBalance(session, run.tally);
    if (rebuild) await compareWithRebuilt(run);
    const checks = run.tally.results();
    return {
      passed: checks.every(({ failures }) => failures === 0),
      checks,
      balances,
      ...(rebuild && { bodiesFrom: await readFirstBodyDay(session) }),
    };
  });
}

/** A statement compares about so many transfers. */
const SUMMED_ROWS = 20_000;

async function checkAllSums(run: Run): Promise<void> {
  for (const { after, until } of await rangesOfSums(run.db, SUMMED_ROWS)) {
    await checkSums(run, {
      after: after === undefined ? undefined : Number(after),
      until: until === undefined ? undefined : Number(until),
    });
  }
}

/**
 * A journal row always balances. A row with an unknown account would still remove money from the
 * ledger, so unknown accounts do not count.
 */
export async function checkBalance(db: Session, tally: Tally): Promise<readonly AccountBalance[]> {
  const balances = await readConsistently(db, readBalances);
  const sums = new Map<string, bigint>();
  for (const { currency, account, balanceMinor } of balances) {
    const counts = Object.hasOwn(ACCOUNTS, account);
    sums.set(currency, (sums.get(currency) ?? 0n) + (counts ? BigInt(balanceMinor) : 0n));
  }
  for (const [currency, sumMinor] of sums) {
    const problems = sumMinor === 0n ? [] : [`debits exceed credits by ${sumMinor} minor units`];
    tally.report('balance', { subject: `currency:${currency}` }, problems);
  }
  tally.addChecked('balance', sums.size);
  return balances;
}
