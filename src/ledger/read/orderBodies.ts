/** The bodies of an order's events, and what the ledger read from each. */
import type { Queryable } from '../../platform/db/database.ts';
import { type EventBody, readEventBodies } from './eventBodies.ts';
import { readEvidence, readPartRows, type StoredEvidence } from './store/explain.ts';

export interface OrderBody extends EventBody {
  readonly number: number;
  /** The snapshots that the body brought first. */
  readonly snapshots: readonly StoredEvidence[];
}

const MAX_PARTS = 1_000;
const MAX_SNAPSHOTS = 20_000;

/** @param numbers inbox numbers of events of this order */
export async function readOrderBodies(
  db: Queryable,
  orderKey: string,
  numbers: readonly number[],
): Promise<readonly OrderBody[]> {
  const bodies = await readEventBodies(db, numbers);
  const parts = await readPartRows(db, orderKey, MAX_PARTS);
  const evidence = await readEvidence(db, parts, MAX_SNAPSHOTS);
  return numbers.map((number) => ({
    number,
    body: bodies.get(number)?.body,
    absence: bodies.get(number)?.absence,
    snapshots: evidence.filter(({ inboxId }) => inboxId === number),
  }));
}
