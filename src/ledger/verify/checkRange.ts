/** Checks one range of the ledger, on a connection of its own. */
import { RESOURCE_KINDS } from '../../contract/resources/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { CheckCount } from '../domain/checks.ts';
import type { ResourceRef } from '../domain/snapshot.ts';
import type { KeyRange, RangePhase } from '../domain/verifyPlan.ts';
import { checkBlocks } from './blocks.ts';
import { checkChanges } from './changes.ts';
import { checkClosings } from './closings.ts';
import { checkInbox } from './inbox.ts';
import { checkLines } from './lines.ts';
import { checkOrders } from './orders.ts';
import { checkResources } from './resources.ts';
import { checkSums } from './sums.ts';
import { createTally } from './tally.ts';
import { CHUNK_SIZE, type Run } from './walk.ts';

/** A range to check. Also sent to threads, so it is data. */
export interface RangeTask extends KeyRange {
  readonly phase: RangePhase;
  /** The last planned change. */
  readonly lastChange: number;
  /** The installation account. */
  readonly merchantId: string;
  /** The public key with which this installation signs the chain, if it is known. */
  readonly chainKey: string | undefined;
}

/** @returns the results of the checks that found a subject */
export async function checkRange(
  db: Pick<Database, 'query' | 'transaction'>,
  task: RangeTask,
): Promise<readonly CheckCount[]> {
  const run: Run = {
    db,
    tally: createTally({ rebuild: false }),
    merchantId: task.merchantId,
    chainKey: task.chainKey,
    chunkSize: CHUNK_SIZE,
    onProgress: () => undefined,
  };
  const { phase, after, until, lastChange } = task;
  switch (phase) {
    case 'inbox':
      await checkInbox(run, () => Promise.resolve(), {
        after: numberOf(after),
        until: numberOf(until),
      });
      break;
    case 'resources':
      await checkResources(run, { after: refOf(after), until: refOf(until) });
      break;
    case 'orders':
      await checkOrders(run, { after, until });
      break;
    case 'changes':
      await checkChanges(run, {
        after: numberOf(after) ?? 0,
        until: numberOf(until) ?? lastChange,
        last: lastChange,
      });
      break;
    case 'sums':
      await checkSums(run, { after: numberOf(after), until: numberOf(until) });
      break;
    case 'closings':
      await checkClosings(run, { after: numberOf(after), until: numberOf(until) });
      break;
    case 'blocks':
      await checkBlocks(run, { after: numberOf(after), until: numberOf(until) });
      break;
    case 'lines':
      await checkLines(run, { after: numberOf(after), until: numberOf(until) });
      break;
    default:
      phase satisfies never;
  }
  return run.tally.counts();
}

function numberOf(key: string | undefined): number | undefined {
  return key === undefined ? undefined : Number(key);
}

/** `payment:pay_1` */
function refOf(key: string | undefined): ResourceRef | undefined {
  if (key === undefined) return undefined;
  const end = key.indexOf(':');
  const kind = RESOURCE_KINDS.find((one) => one === key.slice(0, end));
  if (kind === undefined) throw new Error(`${key} is not the key of a resource`);
  return { kind, id: key.slice(end + 1) };
}
