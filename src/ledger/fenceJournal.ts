/**
 * Divides the journal by a number. A transfer gets its number when it is inserted, and becomes visible with
 * its commit, so a lower number may become visible after a greater one. The fence reads the last number, and
 * waits for the transactions that may have inserted it or a lower one. Writers wait for nothing.
 */

import { startStopwatch } from '../platform/clock.ts';
import type { Queryable } from '../platform/db/database.ts';
import { UnavailableError } from '../platform/errors.ts';
import { sleep } from '../platform/sleep.ts';
import { readJournalWriters, readLastTransferNumber } from './store/closings.ts';

const POLL_MS = 20;
const MAX_WAIT_SECONDS = 30;

/**
 * @param tx a transaction in which each statement sees what was committed before it
 * @param signal ends the wait with its reason
 * @returns a number: every transfer up to it is visible or never will be, and later ones have greater numbers
 */
export async function fenceJournal(
  tx: Queryable,
  signal = new AbortController().signal,
): Promise<number> {
  const last = await readLastTransferNumber(tx);
  let before = await readJournalWriters(tx);
  const elapsedSeconds = startStopwatch();
  while (before.length > 0) {
    if (elapsedSeconds() > MAX_WAIT_SECONDS) {
      throw new UnavailableError(
        `A transaction that writes to the journal has not ended for ${MAX_WAIT_SECONDS} seconds, so what ` +
          'is in it is not certain and nothing was done. Try again in a minute; ' +
          'pg_stat_activity shows what runs.',
      );
    }
    signal.throwIfAborted();
    await sleep(POLL_MS, signal);
    const now = new Set(await readJournalWriters(tx));
    before = before.filter((writer) => now.has(writer));
  }
  return last;
}
