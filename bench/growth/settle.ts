/**
 * Does for copied rows what schedules do for received ones from minute to minute, so that a load meets a ledger
 * that has lived, and not its backlog: sums and chain reach the last transfer. What was copied counts as
 * proven, and no schedule counts as missed.
 */
import { appendNext } from '../../src/ledger/chain/publishChain.ts';
import { fenceJournal } from '../../src/ledger/fenceJournal.ts';
import { readEnds, writePosition } from '../../src/ledger/store/verifyRounds.ts';
import { sumNext } from '../../src/ledger/sumTransfers.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { MINUTE_MS } from '../../src/platform/time.ts';
import { TIMETABLE } from '../../src/scheduler/domain/timetable.ts';
import { claimSlot, finishSlot } from '../../src/scheduler/store/slots.ts';

/** More than the schedules take at once: nobody waits. */
const SUMMED_AT_ONCE = 50_000;
const CHAINED_AT_ONCE = 10_000;

export async function settle(db: Database): Promise<void> {
  while (await sumNext(db, SUMMED_AT_ONCE));
  const throughId = await fenceJournal(db);
  while (await appendNext(db, { throughId, key: undefined, limit: CHAINED_AT_ONCE }));
  await db.transaction(async (tx) => {
    const { lastChange, lastEvent, lastBlock, lastLine } = await readEnds(tx);
    await writePosition(tx, {
      changeNumber: lastChange,
      eventId: lastEvent,
      blockNumber: lastBlock,
      lineId: lastLine,
    });
  });
  await skipMissed(db);
  await db.query('analyze');
}

/** A scheduler that starts runs what was missed; copied payments that are pending are all overdue. */
async function skipMissed(db: Database): Promise<void> {
  const at = new Date();
  for (const schedule of Object.keys(TIMETABLE)) {
    const slot = { schedule, at, holder: 'bench' };
    await claimSlot(db, slot, { leaseMs: MINUTE_MS, latest: at });
    await finishSlot(db, { ...slot, error: null });
  }
}
