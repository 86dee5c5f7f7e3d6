/** A service with a long history: payments that are generated in SQL from their numbers. */
import type { Queryable } from '../../src/platform/db/database.ts';
import { SANDBOX_MERCHANT_ID, SANDBOX_PROFILE_ID } from '../../src/sandbox/account.ts';

/** Ninety days, for any number of payments. */
export const SPAN_MS = 90 * 24 * 60 * 60 * 1000;
export const CUSTOMERS = 50_000;
const ROWS_PER_STATEMENT = 50_000;

export interface History {
  readonly payments: number;
  /** The time of the newest payment; the others precede it at equal intervals. */
  readonly endMs: number;
}

export function paymentIdOf(number: number): string {
  return `pay_bench_${String(number).padStart(9, '0')}`;
}

/**
 * Inserts payments 1 to `payments`, the last one newest. In a hundred: 80 succeeded, 8 failed,
 * 6 cancelled, 4 wait for capture, 2 are processing; 80 USD, 15 EUR, 4 JPY, 1 KWD.
 */
export async function insertPayments(db: Queryable, history: History): Promise<void> {
  for (let first = 1; first <= history.payments; first += ROWS_PER_STATEMENT) {
    const last = Math.min(history.payments, first + ROWS_PER_STATEMENT - 1);
    await db.query(
      `insert into sandbox.resources
         (kind, id, parent_id, status, currency, customer_id, created_at, modified_at, due_at, state)
       select 'payment', id, null, status, currency, customer_id, at, at, null,
              jsonb_build_object(
                'payment_id', id, 'merchant_id', $4::text, 'profile_id', $5::text,
                'status', status, 'amount', amount,
                'amount_received', case when status = 'succeeded' then amount else 0 end,
                'amount_capturable', case when status = 'requires_capture' then amount else 0 end,
                'currency', currency, 'customer_id', customer_id,
                'capture_method', case when n % 100 >= 94 then 'manual' else 'automatic' end,
                'payment_method', 'card',
                'payment_method_data', jsonb_build_object('card', jsonb_build_object(
                  'last4', '4242', 'brand', 'Visa', 'exp_month', '12', 'exp_year', '2039')),
                'metadata', jsonb_build_object('order_id', 'ord_' || n),
                'created', iso, 'modified_at', iso, 'attempt_count', 1,
                'hidden', jsonb_build_object('client_secret', id || '_secret_' || md5(id)))
         from (select n,
                      'pay_bench_' || lpad(n::text, 9, '0') as id,
                      100 + (n * 7919) % 100000 as amount,
                      case when n % 100 < 80 then 'succeeded' when n % 100 < 88 then 'failed'
                           when n % 100 < 94 then 'cancelled' when n % 100 < 98 then 'requires_capture'
                           else 'processing' end as status,
                      case when n / 100 % 100 < 80 then 'USD' when n / 100 % 100 < 95 then 'EUR'
                           when n / 100 % 100 < 99 then 'JPY' else 'KWD' end as currency,
                      'cus_' || (n * 7907) % $6::bigint as customer_id,
                      at, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as iso
                 from (select n,
                              date_trunc('milliseconds',
                                $3::timestamptz - ($7::bigint - n) * $8::double precision
                                                  * interval '1 millisecond') as at
                         from generate_series($1::bigint, $2::bigint) as n) as times) as payments
        order by n`,
      [
        first,
        last,
        new Date(history.endMs),
        SANDBOX_MERCHANT_ID,
        SANDBOX_PROFILE_ID,
        CUSTOMERS,
        history.payments,
        SPAN_MS / history.payments,
      ],
    );
    if (process.stderr.isTTY) process.stderr.write(`\r  payment ${last} of ${history.payments} `);
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  // As autovacuum would after an insert of this size.
  await db.query('vacuum analyze sandbox.resources');
}
