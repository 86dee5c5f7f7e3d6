/** Statements on payment links. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { PaymentLinkState } from '../../domain/paymentLink.ts';
import type { Page } from '../page.ts';
import type { CreatedBounds } from '../paymentLinks.ts';

export async function insertPaymentLink(tx: Queryable, state: PaymentLinkState): Promise<void> {
  await tx.query(
    `insert into sandbox.payment_links (payment_link_id, created_at, state) values ($1, $2, $3)`,
    [state.payment_link_id, state.created, JSON.stringify(state)],
  );
}

export async function readPaymentLink(
  db: Queryable,
  id: string,
): Promise<PaymentLinkState | undefined> {
  const rows = await db.query<{ state: PaymentLinkState }>(
    'select state from sandbox.payment_links where payment_link_id = $1',
    [id],
  );
  return rows[0]?.state;
}

/** Reads a link and locks its row until the transaction ends. */
export async function lockPaymentLink(
  tx: Queryable,
  id: string,
): Promise<PaymentLinkState | undefined> {
  const rows = await tx.query<{ state: PaymentLinkState }>(
    'select state from sandbox.payment_links where payment_link_id = $1 for update',
    [id],
  );
  return rows[0]?.state;
}

/** Writes a changed link. Its row is locked by the caller. */
export async function updatePaymentLink(tx: Queryable, state: PaymentLinkState): Promise<void> {
  await tx.query('update sandbox.payment_links set state = $2 where payment_link_id = $1', [
    state.payment_link_id,
    JSON.stringify(state),
  ]);
}

/** One page, newest first. */
export async function listPaymentLinks(
  db: Queryable,
  page: CreatedBounds & Page,
): Promise<PaymentLinkState[]> {
  const rows = await db.query<{ state: PaymentLinkState }>(
    `select state from sandbox.payment_links
      where ($1::timestamptz is null or created_at >= $1)
        and ($2::timestamptz is null or created_at <= $2)
      order by created_at desc, payment_link_id desc
      limit $3 offset $4`,
    [page.from ?? null, page.to ?? null, page.limit, page.offset],
  );
  return rows.map(({ state }) => state);
}

/** How many there are in all. */
export async function countPaymentLinks(db: Queryable, bounds: CreatedBounds): Promise<number> {
  const rows = await db.query<{ count: number }>(
    `select count(*) as count from sandbox.payment_links
      where ($1::timestamptz is null or created_at >= $1)
        and ($2::timestamptz is null or created_at <= $2)`,
    [bounds.from ?? null, bounds.to ?? null],
  );
  return rows[0]?.count ?? 0;
}
