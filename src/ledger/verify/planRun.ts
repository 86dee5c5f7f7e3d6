/** Plans a run of verify: makes ranges of what is to be proven, and marks them as due. */
import type { Queryable } from '../../platform/db/database.ts';
import { spansOf } from '../domain/feedEpochs.ts';
import {
  continuesFull,
  numberRanges,
  numbersBetween,
  rangesBetween,
  rangesWanted,
  shareOf,
} from '../domain/verifyPlan.ts';
import { readEpochs } from '../store/changes.ts';
import {
  countRoughly,
  deleteTail,
  insertRanges,
  insertRound,
  type LedgerEnds,
  markDue,
  markFailedDue,
  type NewRange,
  type Position,
  type Round,
  readEnds,
  readLastSettled,
  readOpenRound,
  readPosition,
  sampleOrderKeys,
  sampleResourceKeys,
  writePosition,
} from '../store/verifyRounds.ts';
import { BLOCKS_OF_RANGE, rangesOfBlocks } from './blocks.ts';
import { rangesOfClosings } from './closings.ts';
import { rangesOfSums } from './sums.ts';

/** Everything at once, or what changed and a share of the rest. */
export type VerifyMode = 'full' | 'incremental';

export interface PlanOptions {
  readonly mode: VerifyMode;
  /** A round is finished in this many days. */
  readonly fullDays: number;
  /** About how many rows are in a range. */
  readonly rangeRows: number;
}

export interface Plan {
  /** The last planned change. */
  readonly lastChange: number;
  readonly roundId: number;
  /** Ranges of this round that an interrupted run has checked; undefined if the round is new. */
  readonly continuedFrom: { readonly startedMs: number; readonly checked: number } | undefined;
}

/** A systematic failure concerns every range; this bounds how many of them one run repeats. */
const MAX_REPEATED = 64;

/** Plans a run, in the caller's transaction. */
export async function planRun(tx: Queryable, options: PlanOptions): Promise<Plan> {
  const ends = await readEnds(tx);
  const position = await readPosition(tx);
  const eventId = await readLastSettled(tx, position?.eventId ?? 0);
  const next: Position = {
    changeNumber: ends.lastChange,
    eventId,
    blockNumber: ends.lastBlock,
    lineId: ends.lastLine,
  };
  const open = await readOpenRound(tx);
  const isContinued =
    open !== undefined && (options.mode === 'incremental' || continuesFull(open, ends.nowMs));
  const round = isContinued ? open : await beginRound(tx, { options, ends, next });
  // Before the first run, and after the feed has lost changes that no run has seen, only a whole round
  // contains everything that changed.
  const isBlind = position === undefined || hasLostChanges(position, ends);
  if (options.mode === 'full' || isBlind) {
    await markDue(tx, { roundId: round.id, limit: round.ranges });
  } else {
    const share = shareOf({
      ranges: round.ranges,
      startedMs: round.startedMs,
      nowMs: ends.nowMs,
      fullDays: options.fullDays,
    });
    const limit = Math.max(0, share - round.checked - round.due);
    await markDue(tx, { roundId: round.id, limit });
    await insertChanged(tx, { position, next, options });
  }
  // A full run leaves the position to the end of its round, because it may be interrupted.
  if (options.mode === 'incremental') await writePosition(tx, next);
  else if (position === undefined) {
    await writePosition(tx, { changeNumber: 0, eventId: 0, blockNumber: 0, lineId: 0 });
  }
  await markFailedDue(tx, MAX_REPEATED);
  const { startedMs, checked } = round;
  return {
    lastChange: ends.lastChange,
    roundId: round.id,
    continuedFrom: isContinued && options.mode === 'full' ? { startedMs, checked } : undefined,
  };
}

/** Retention removes old changes; a restored backup may have fewer than this ledger had. */
function hasLostChanges(
  { changeNumber }: Position,
  { firstChange, lastChange }: LedgerEnds,
): boolean {
  return lastChange < changeNumber || firstChange > changeNumber + 1;
}

interface Beginning {
  readonly options: PlanOptions;
  readonly ends: LedgerEnds;
  readonly next: Position;
}

async function beginRound(tx: Queryable, { options, ends, next }: Beginning): Promise<Round> {
  const isFull = options.mode === 'full';
  const id = await insertRound(tx, { isFull, ...next });
  const ranges = await rangesOfLedger(tx, ends, options.rangeRows);
  await insertRanges(tx, ranges, { roundId: id, isDue: false });
  return { id, isFull, startedMs: ends.nowMs, ranges: ranges.length, checked: 0, due: 0 };
}

/** Ranges that contain every row of the ledger once. */
async function rangesOfLedger(
  tx: Queryable,
  { firstEvent, lastEvent, lastBlock, lastLine }: LedgerEnds,
  rangeRows: number,
): Promise<readonly NewRange[]> {
  const events = numbersBetween(Math.max(0, firstEvent - 1), lastEvent, rangeRows).map(String);
  const resources = rangesWanted(await countRoughly(tx, 'resources'), rangeRows);
  const orders = rangesWanted(await countRoughly(tx, 'orders'), rangeRows);
  const [resourceKeys, orderKeys] = [
    resources > 1 ? await sampleResourceKeys(tx, resources) : [],
    orders > 1 ? await sampleOrderKeys(tx, orders) : [],
  ];
  const sums = await rangesOfSums(tx, rangeRows);
  const closings = await rangesOfClosings(tx);
  const lines = numbersBetween(0, lastLine, rangeRows).map(String);
  return [
    ...rangesBetween(events).map((range) => ({ phase: 'inbox' as const, ...range })),
    ...rangesBetween(resourceKeys).map((range) => ({ phase: 'resources' as const, ...range })),
    ...rangesBetween(orderKeys).map((range) => ({ phase: 'orders' as const, ...range })),
    ...sums.map((range) => ({ phase: 'sums' as const, ...range })),
    ...closings.map((range) => ({ phase: 'closings' as const, ...range })),
    ...rangesOfBlocks(lastBlock).map((range) => ({ phase: 'blocks' as const, ...range })),
    ...rangesBetween(lines).map((range) => ({ phase: 'lines' as const, ...range })),
  ];
}

interface Changed {
  readonly position: Position;
  readonly next: Position;
  readonly options: PlanOptions;
}

/**
 * Ranges of what changed since the last run. Events that are not settled are in a range of their own, and so
 * is the end of the chain.
 */
async function insertChanged(tx: Queryable, { position, next, options }: Changed): Promise<void> {
  const { rangeRows } = options;
  await deleteTail(tx);
  // Between two epochs of the feed there are no changes, and room for billions of ranges.
  const span = { after: position.changeNumber, until: next.changeNumber };
  const changes = spansOf(span, await readEpochs(tx));
  const ranges: readonly NewRange[] = [
    ...numberRanges(position.eventId, next.eventId, rangeRows).map((range) => ({
      phase: 'inbox' as const,
      ...range,
    })),
    { phase: 'inbox', after: String(next.eventId), until: undefined },
    ...changes
      .flatMap(({ after, until }) => numberRanges(after, until, rangeRows))
      .map((range) => ({ phase: 'changes' as const, ...range })),
    ...numberRanges(position.blockNumber, next.blockNumber, BLOCKS_OF_RANGE).map((range) => ({
      phase: 'blocks' as const,
      ...range,
    })),
    { phase: 'blocks', after: String(next.blockNumber), until: undefined },
    ...numberRanges(position.lineId, next.lineId, rangeRows).map((range) => ({
      phase: 'lines' as const,
      ...range,
    })),
  ];
  await insertRanges(tx, ranges, { roundId: undefined, isDue: true });
}
