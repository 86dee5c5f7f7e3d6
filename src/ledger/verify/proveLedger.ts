/**
 * Proves the ledger in ranges (domain/verifyPlan.ts), while workers run.
 *
 * 1. Each range is recorded with its result when it ends. A run that was killed loses the ranges that it
 *    was checking; the next run checks them and what else is due.
 * 2. A range that failed is checked again by each run until it passes, so a failure is not forgotten when
 *    the next share is sound.
 * 3. One run at a time.
 */
import { startStopwatch } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { keysetRows } from '../../platform/keyset.ts';
import { createChangeFeed } from '../changeFeed.ts';
import type { CheckCount } from '../domain/checks.ts';
import {
  countDue,
  finishRange,
  finishRound,
  type Proof,
  type Range,
  type RoundChecks,
  readDue,
  readProof,
  readRoundChecks,
  tryLockVerify,
} from '../store/verifyRounds.ts';
import type { RangeTask } from './checkRange.ts';
import { type Plan, planRun, type VerifyMode } from './planRun.ts';
import { createTally, type Tally } from './tally.ts';
import { checkBalance, type VerifyReport } from './verifyLedger.ts';

/** Checks one range at a time. */
export type Checker = (task: RangeTask) => Promise<readonly CheckCount[]>;

export interface ProveOptions {
  /** The installation account. */
  readonly merchantId: string;
  /** The public key with which this installation signs the chain, if it is known. */
  readonly chainKey?: string | undefined;
  readonly mode: VerifyMode;
  /** Every row is proven at least once in this many days. */
  readonly fullDays: number;
  /** Opens what checks ranges in parallel. @param due how many ranges there are */
  readonly openCheckers: (due: number) => readonly Checker[];
  readonly rangeRows?: number;
  /** No range begins later than this; the next run continues. */
  readonly maxSeconds?: number;
  /** No range begins once it is aborted; the next run continues. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
}

export interface ProofReport extends VerifyReport {
  readonly mode: VerifyMode;
  /** Ranges that this run checked. */
  readonly ranges: number;
  /** Of the run that this one continues, if that was interrupted. */
  readonly continuedFrom: Plan['continuedFrom'];
  readonly proof: Proof;
}

export type ProofOutcome =
  | { readonly outcome: 'proven'; readonly report: ProofReport }
  /** Another run is under way. */
  | { readonly outcome: 'busy' };

const RANGE_ROWS = 5_000;

/** @param db with two connections or more: one holds the lock */
export function proveLedger(db: Database, options: ProveOptions): Promise<ProofOutcome> {
  return db.transaction(async (lock): Promise<ProofOutcome> => {
    if (!(await tryLockVerify(lock))) return { outcome: 'busy' };
    return { outcome: 'proven', report: await prove(db, options) };
  });
}

async function prove(db: Database, options: ProveOptions): Promise<ProofReport> {
  await createChangeFeed(db).publish();
  const { mode, fullDays, rangeRows = RANGE_ROWS } = options;
  const plan = await db.transaction((tx) => planRun(tx, { mode, fullDays, rangeRows }));
  const tally = createTally({ rebuild: false });
  const ranges = await checkDue(db, { options, plan, tally });
  await finishRound(db);
  if (mode === 'full') await addRound(db, plan.roundId, tally);
  const balances = mode === 'full' ? await checkBalance(db, tally) : [];
  const checks = tally.results().filter(({ name }) => mode === 'full' || name !== 'balance');
  return {
    mode,
    passed: checks.every(({ failures }) => failures === 0),
    checks,
    balances,
    ranges,
    continuedFrom: plan.continuedFrom,
    proof: await readProof(db),
  };
}

interface Run {
  readonly options: ProveOptions;
  readonly plan: Plan;
  readonly tally: Tally;
}

/** Checks every due range, several at once. @returns how many */
async function checkDue(db: Database, { options, plan, tally }: Run): Promise<number> {
  const { mode, merchantId, chainKey, signal, onProgress } = options;
  const { maxSeconds = Number.POSITIVE_INFINITY } = options;
  const elapsed = startStopwatch();
  const total = await countDue(db);
  const due = dueRanges(db);
  let done = 0;
  let isFailed = false;
  const work = async (checker: Checker): Promise<void> => {
    while (!isFailed && !signal?.aborted && elapsed() < maxSeconds) {
      const { value: range } = await due.next();
      if (!range) return;
      const { id, phase, after, until } = range;
      const { lastChange } = plan;
      const checks = await checker({ phase, after, until, merchantId, chainKey, lastChange });
      await finishRange(db, { id, checks });
      // A full run adds the results of its round at the end, with those of the run that it continues.
      if (mode === 'incremental') tally.add(checks);
      done += 1;
      onProgress?.({ done, total });
    }
  };
  await Promise.all(
    options.openCheckers(total).map((checker) =>
      work(checker).catch((error: unknown) => {
        isFailed = true;
        throw error;
      }),
    ),
  );
  return done;
}

const RANGES_AT_ONCE = 500;

/** The due ranges in the order of their numbers. */
function dueRanges(db: Database): AsyncGenerator<Range, void> {
  return keysetRows<Range>(RANGES_AT_ONCE, (last, limit) =>
    readDue(db, { afterId: last?.id ?? 0, limit }),
  );
}

async function addRound(db: Database, roundId: number, tally: Tally): Promise<void> {
  const ranges = keysetRows<RoundChecks>(RANGES_AT_ONCE, (last, limit) =>
    readRoundChecks(db, { roundId, afterId: last?.id ?? 0, limit }),
  );
  for await (const { checks } of ranges) tally.add(checks);
}
