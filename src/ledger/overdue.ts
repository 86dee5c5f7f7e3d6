/** Finds money that has been in transit for too long. The scheduler runs it. */
import { overdueAlerts, type TermFacts } from '../alerts/domain/rules/overdue.ts';
import { syncAlerts } from '../alerts/syncAlerts.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import type { Finding } from './domain/findings.ts';
import { namedOrderId } from './domain/orderKey.ts';
import { TERMS } from './domain/overdue.ts';
import { refKey } from './domain/snapshot.ts';
import { openFindings } from './recordFindings.ts';
import { markOverdue, type OverdueRow } from './store/overdue.ts';

const ROWS_PER_TRANSACTION = 500;

export function createOverdueCheck(parts: {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}): () => Promise<void> {
  return async () => {
    const nowMs = parts.clock.nowMs();
    const request = { terms: TERMS, now: new Date(nowMs), limit: ROWS_PER_TRANSACTION };
    let found = 0;
    for (;;) {
      const rows = await parts.db.transaction(async (tx) => {
        const due = await markOverdue(tx, request);
        await openFindings(tx, due.map(findingOf));
        await syncAlerts(
          tx,
          due.flatMap((row) => overdueAlerts(factsOf(row), nowMs) ?? []),
        );
        return due.length;
      });
      found += rows;
      if (rows < ROWS_PER_TRANSACTION) break;
    }
    if (found > 0) parts.log.warn({ found }, 'ledger.overdue_found');
  };
}

function findingOf(row: OverdueRow): Finding {
  const { account, days: termDays, since } = row;
  return { class: 'overdue', subject: refKey(row), detail: { account, termDays, since } };
}

function factsOf(row: OverdueRow): TermFacts {
  const isPayout = row.kind === 'payout';
  return {
    kind: row.kind,
    id: row.id,
    before: undefined,
    status: row.status,
    stage: row.stage ?? undefined,
    currency: row.currency ?? undefined,
    amountMinor: row.amountMinor ?? undefined,
    createdMs: row.since.getTime(),
    termSinceMs: undefined,
    orderId: isPayout ? (row.reference ?? undefined) : namedOrderId(row.orderKey),
    paymentId: row.kind === 'payment' ? row.id : (row.paymentId ?? undefined),
    // Money in transit has not failed, so there is no reason.
    reason: undefined,
    termDays: row.days,
  };
}
