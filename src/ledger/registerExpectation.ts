/**
 * Registers what a shop expects an order to bring. It only ever stands beside the ledger: nothing
 * here touches an order, so nothing here can disagree with its parts.
 */
import type { Database, Queryable } from '../platform/db/database.ts';
import { insertRegistered } from './store/changes.ts';
import {
  endExpectation,
  insertExpectation,
  lockExpectation,
  type NewExpectation,
} from './store/expectations.ts';

/** `unchanged`: the same was expected already, whoever said so first. */
export type Registration = 'registered' | 'unchanged' | 'replaced';

/** Each round is lost only to another registration of the same order that was just committed. */
const MAX_ROUNDS = 10;

export function registerExpectation(db: Database, wanted: NewExpectation): Promise<Registration> {
  return db.transaction(async (tx) => {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const outcome = await tryToRegister(tx, wanted);
      if (outcome === undefined) continue;
      if (outcome !== 'unchanged') await insertRegistered(tx, wanted.orderKey);
      return outcome;
    }
    throw new Error(
      `what is expected of ${wanted.orderKey} was replaced again and again meanwhile`,
    );
  });
}

/** Undefined when what stood there was replaced between two looks. */
async function tryToRegister(
  tx: Queryable,
  wanted: NewExpectation,
): Promise<Registration | undefined> {
  if (await insertExpectation(tx, wanted)) return 'registered';
  const current = await lockExpectation(tx, wanted.orderKey);
  if (!current) return undefined;
  if (current.amountMinor === wanted.amountMinor && current.currency === wanted.currency) {
    return 'unchanged';
  }
  await endExpectation(tx, wanted.orderKey);
  await insertExpectation(tx, wanted);
  return 'replaced';
}
