/** Statements for the daily summary. They read the journal, which nobody else here does. */

import type { Severity } from '../../alerts/domain/alert.ts';
import type { Queryable } from '../../platform/db/database.ts';

export interface DayRow {
  readonly currency: string;
  readonly capturedMinor: number;
  readonly refundedMinor: number;
  readonly disputedMinor: number;
  readonly paidOutMinor: number;
}

/**
 * What the journal recorded from an instant to another: captured, refunds settled and payouts
 * delivered, net of what was taken back; and what disputes began to hold. A currency in which
 * nothing of that moved is left out.
 */
export function readDay(
  db: Queryable,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<readonly DayRow[]> {
  return db.query<DayRow>(
    `select currency,
            coalesce(sum(signed) filter (where leg in ('captured', 'capture_voided')), 0)::bigint
              as "capturedMinor",
            coalesce(sum(signed) filter (where leg = 'settled'), 0)::bigint as "refundedMinor",
            coalesce(sum(signed) filter (where leg = 'held' and debit = 'dispute.held'), 0)::bigint as "disputedMinor",
            coalesce(sum(signed) filter (where leg in ('delivered', 'reversed')), 0)::bigint
              as "paidOutMinor"
       from (select currency, leg, debit,
                    case when (leg, debit) in (('captured', 'psp.clearing'),
                                               ('settled', 'refund.in_flight'),
                                               ('held', 'dispute.held'),
                                               ('delivered', 'payout.paid'),
                                               ('capture_voided', 'psp.clearing'),
                                               ('reversed', 'payout.paid'))
                         then amount_minor else -amount_minor end as signed
               from transfers
              where recorded_at >= $1 and recorded_at < $2
                and leg in ('captured', 'capture_voided', 'settled', 'held', 'delivered',
                            'reversed')) moved
      group by currency
      order by currency
      limit 1000`,
    [from.toISOString(), to.toISOString()],
  );
}

/** Findings that are open. */
export async function countOpenFindings(db: Queryable): Promise<number> {
  const rows = await db.query<{ open: number }>(
    `select count(*) as open from findings where state = 'open' and accepted_at is null`,
  );
  return rows[0]?.open ?? 0;
}

/** Alerts that nobody deals with yet, by severity. */
export function countOpenAlerts(
  db: Queryable,
): Promise<readonly { readonly severity: Severity; readonly open: number }[]> {
  return db.query(
    `select severity, count(*) as open from alerts where state = 'open' group by severity limit 10`,
  );
}
