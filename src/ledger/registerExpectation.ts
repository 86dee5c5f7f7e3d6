/**
 * Registers the amount that a shop expects for an order. Expectations are stored beside the ledger and
 * never change an order.
 */
import type { Queryable } from '../platform/db/database.ts';
import { insertRegistered } from './store/changes.ts';
import {
  insertExpectation,
  lockExpectation,
  markReplaced,
  type NewExpectation,
} from './store/expectations.ts';

/** `unchanged`: the same amount was registered before, by anyone. */
export type Registration = 'registered' | 'unchanged' | 'replaced';

/** A round fails only if another registration of the same order commits first. */
const MAX_ROUNDS = 10;

/** @param tx the transaction that also records who registers it */
export async function registerExpectation(
  tx: Queryable,
  wanted: NewExpectation,
): Promise<Registration> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const outcome = await tryToRegister(tx, wanted);
    if (outcome === undefined) continue;
    if (outcome !== 'unchanged') await insertRegistered(tx, wanted.orderKey);
    return outcome;
  }
  throw new Error(
    `the expectation of ${wanted.orderKey} changed in each of ${MAX_ROUNDS} attempts to register it`,
  );
}

/** Undefined if the current expectation was replaced between the two statements. */
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
  await markReplaced(tx, wanted.orderKey);
  await insertExpectation(tx, wanted);
  return 'replaced';
}
