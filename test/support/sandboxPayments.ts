/** Inserts many payments into a sandbox with one statement: a history without webhooks. */
import type { Queryable } from '../../src/platform/db/database.ts';

export interface InsertedPayment {
  readonly id: string;
  readonly createdMs: number;
  readonly modifiedMs: number;
  readonly status: string;
  readonly currency: string;
  /** Minor units. */
  readonly amount: number;
}

export async function insertPayments(
  db: Queryable,
  account: { readonly merchantId: string; readonly profileId: string },
  payments: readonly InsertedPayment[],
): Promise<void> {
  const states = payments.map((payment) => {
    const isPaid = payment.status === 'succeeded';
    const isHeld = payment.status === 'requires_capture';
    return JSON.stringify({
      payment_id: payment.id,
      merchant_id: account.merchantId,
      profile_id: account.profileId,
      status: payment.status,
      amount: payment.amount,
      amount_received: isPaid ? payment.amount : 0,
      amount_capturable: isHeld ? payment.amount : 0,
      currency: payment.currency,
      capture_method: isHeld ? 'manual' : 'automatic',
      metadata: { order_id: `ord_${payment.id}` },
      created: new Date(payment.createdMs).toISOString(),
      modified_at: new Date(payment.modifiedMs).toISOString(),
      attempt_count: 1,
      hidden: { client_secret: `${payment.id}_secret` },
    });
  });
  await db.query(
    `insert into sandbox.resources
       (kind, id, parent_id, status, currency, customer_id, created_at, modified_at, due_at, state)
     select 'payment', state->>'payment_id', null, state->>'status', state->>'currency', null,
            (state->>'created')::timestamptz, (state->>'modified_at')::timestamptz, null, state
       from unnest($1::jsonb[]) as u (state)`,
    [states],
  );
}
