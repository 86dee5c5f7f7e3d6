/**
 * Finds money that has been in transit for too long. The scheduler runs it.
 *
 * 1. The stored beginning of a term selects resources. What is selected is derived again from its snapshots, under
 *    the lock, before anybody is alerted: a version that does not know the column may have written the row, during
 *    an upgrade or before it. So each resource is selected once.
 */
import { overdueAlerts, type TermFacts } from '../alerts/domain/rules/overdue.ts';
import { syncAlerts } from '../alerts/syncAlerts.ts';
import type { Clock } from '../platform/clock.ts';
import { groupBy } from '../platform/collections.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import { DAY_MS } from '../platform/time.ts';
import { placeInEpochs } from './domain/epochs.ts';
import type { Finding } from './domain/findings.ts';
import { foldSnapshots } from './domain/merge.ts';
import { namedOrderId } from './domain/orderKey.ts';
import { TERMS } from './domain/overdue.ts';
import { refKey } from './domain/snapshot.ts';
import { formatInstant } from './domain/time.ts';
import { openFindings } from './recordFindings.ts';
import { lockPastTerm, markOverdue, type TermRow } from './store/overdue.ts';
import { readEpochs, readSnapshots } from './store/snapshots.ts';

const ROWS_PER_TRANSACTION = 500;

export function createOverdueCheck(parts: {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}): () => Promise<void> {
  return async () => {
    const nowMs = parts.clock.nowMs();
    let found = 0;
    for (;;) {
      const { selected, overdue } = await parts.db.transaction((tx) => checkSome(tx, nowMs));
      found += overdue;
      if (selected < ROWS_PER_TRANSACTION) break;
    }
    if (found > 0) parts.log.warn({ found }, 'ledger.overdue_found');
  };
}

/** @returns how many resources were selected, and how many of them are overdue */
async function checkSome(
  tx: Queryable,
  nowMs: number,
): Promise<{ readonly selected: number; readonly overdue: number }> {
  const begunBefore = (days: number) => new Date(nowMs - days * DAY_MS);
  const terms = TERMS.map(({ kind, account, statuses, days }) => {
    return { kind, account, statuses, days, begunBefore: begunBefore(days) };
  });
  const rows = await lockPastTerm(tx, { terms, limit: ROWS_PER_TRANSACTION });
  if (rows.length === 0) return { selected: 0, overdue: 0 };
  const judged = (await readBeginnings(tx, rows)).map(({ row, sinceMicros }) => {
    const isOverdue = sinceMicros < begunBefore(row.days).getTime() * 1000;
    return { row, sinceMicros, isOverdue };
  });
  await markOverdue(
    tx,
    judged.map(({ row: { kind, id }, sinceMicros, isOverdue }) => {
      return { kind, id, since: formatInstant(sinceMicros), isOverdue };
    }),
  );
  const due = judged.filter(({ isOverdue }) => isOverdue);
  await openFindings(tx, due.map(findingOf));
  await syncAlerts(
    tx,
    due.flatMap((one) => overdueAlerts(factsOf(one), nowMs) ?? []),
  );
  return { selected: rows.length, overdue: due.length };
}

interface Begun {
  readonly row: TermRow;
  /** Microseconds since 1970. */
  readonly sinceMicros: number;
}

/** When the terms of resources began. The caller holds their rows. */
async function readBeginnings(tx: Queryable, rows: readonly TermRow[]): Promise<readonly Begun[]> {
  const snapshots = groupBy(await readSnapshots(tx, rows), ({ ref }) => refKey(ref));
  const epochs = groupBy(await readEpochs(tx, rows), ({ ref }) => refKey(ref));
  return rows.map((row) => {
    const own = placeInEpochs(snapshots.get(refKey(row)) ?? [], epochs.get(refKey(row)) ?? []);
    const state = own.length > 0 ? foldSnapshots(own) : undefined;
    // A row that does not follow from its snapshots is for `verify` to report; its money is in transit all the same.
    return { row, sinceMicros: state?.termSinceMicros ?? row.createdAt.getTime() * 1000 };
  });
}

function findingOf({ row, sinceMicros }: Begun): Finding {
  const { account, days: termDays } = row;
  const since = new Date(Math.floor(sinceMicros / 1000));
  return { class: 'overdue', subject: refKey(row), detail: { account, termDays, since } };
}

function factsOf({ row, sinceMicros }: Begun): TermFacts {
  const isPayout = row.kind === 'payout';
  return {
    kind: row.kind,
    id: row.id,
    before: undefined,
    status: row.status,
    stage: row.stage ?? undefined,
    currency: row.currency ?? undefined,
    amountMinor: row.amountMinor ?? undefined,
    createdMs: row.createdAt.getTime(),
    termSinceMs: Math.floor(sinceMicros / 1000),
    isOverdue: true,
    orderId: isPayout ? (row.reference ?? undefined) : namedOrderId(row.orderKey),
    paymentId: row.kind === 'payment' ? row.id : (row.paymentId ?? undefined),
    // Money in transit has not failed, so there is no reason.
    reason: undefined,
    termDays: row.days,
  };
}
