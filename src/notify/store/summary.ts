/** Statements for the daily summary. */

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
 * What the journal recorded within a period: captures, settled refunds and delivered payouts, net of
 * reversals, and the amounts that disputes began to hold. Currencies without any of them are left out.
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

/** How many findings are open and not accepted. */
export async function countOpenFindings(db: Queryable): Promise<number> {
  const rows = await db.query<{ open: number }>(
    `select count(*) as open from findings where state = 'open' and accepted_at is null`,
  );
  return rows[0]?.open ?? 0;
}

/** How many alerts are open and not acknowledged, by severity. */
export function countOpenAlerts(
  db: Queryable,
): Promise<readonly { readonly severity: Severity; readonly open: number }[]> {
  return db.query(
    `select severity, count(*) as open from alerts where state = 'open' group by severity limit 10`,
  );
}
