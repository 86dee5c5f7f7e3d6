/** The bodies of an order's events, and what the ledger read from each. */
import type { Queryable } from '../../platform/db/database.ts';
import { findAbsence, readBodies } from '../bodies/readBodies.ts';
import { readBodyKeys } from '../bodies/store/bodies.ts';
import type { BodyAbsence } from '../domain/bodyAbsence.ts';
import { readEvidence, readPartRows, type StoredEvidence } from './store/explain.ts';

export interface OrderBody {
  readonly number: number;
  readonly body: Buffer | undefined;
  /** Why there is no body. */
  readonly absence: BodyAbsence | undefined;
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
  const bodies = await readBodies(db, await readBodyKeys(db, [...new Set(numbers)]));
  const parts = await readPartRows(db, orderKey, MAX_PARTS);
  const evidence = await readEvidence(db, parts, MAX_SNAPSHOTS);
  const found: OrderBody[] = [];
  for (const number of numbers) {
    const body = bodies.get(number);
    found.push({
      number,
      body,
      absence: body ? undefined : await findAbsence(db, number),
      snapshots: evidence.filter(({ inboxId }) => inboxId === number),
    });
  }
  return found;
}
