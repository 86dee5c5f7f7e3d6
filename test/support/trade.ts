/**
 * A shop that trades with a sandbox over HTTP, and the comparison of the ledger with what the sandbox
 * really has, part by part and order by order.
 */
import { expect } from 'vitest';
import type { Queryable } from '../../src/platform/db/database.ts';
import type { TestSandbox } from './sandbox.ts';
import { cardPayment } from './sandboxRequests.ts';
import type { Random } from './storm.ts';

/** Makes orders: payments, some captured by hand in part, refunds, disputes, payouts. */
export async function trade(
  sandbox: TestSandbox,
  name: string,
  options: { readonly orders: number; readonly random: Random },
): Promise<void> {
  const { orders, random } = options;
  for (let n = 0; n < orders; n += 1) {
    const id = `pay_${name}_${n}`;
    const isManual = n % 3 === 0;
    const fields = {
      payment_id: id,
      amount: 1_000 + n,
      metadata: { order_id: `ord_${name}_${n}` },
      ...(isManual && { capture_method: 'manual' }),
    };
    await sandbox.call('POST', '/payments', cardPayment(fields));
    if (isManual && random() < 0.7) {
      await sandbox.call('POST', `/payments/${id}/capture`, { amount_to_capture: 500 });
    }
    if (n % 4 === 1) await sandbox.call('POST', '/refunds', { payment_id: id, amount: 300 });
    if (n % 5 === 2) await dispute(sandbox, id, random);
    if (n % 7 === 4) await payOut(sandbox, 900 + n);
  }
}

async function dispute(sandbox: TestSandbox, paymentId: string, random: Random): Promise<void> {
  const opened = await sandbox.call('POST', '/_sandbox/disputes', {
    payment_id: paymentId,
    amount: 200,
  });
  // A payment that failed or is only held has nothing to be disputed.
  if (opened.status !== 200 || random() < 0.5) return;
  const status = random() < 0.5 ? 'dispute_won' : 'dispute_lost';
  await sandbox.call('POST', `/_sandbox/disputes/${opened.body.dispute_id}/move`, { status });
}

async function payOut(sandbox: TestSandbox, amount: number): Promise<void> {
  await sandbox.call('POST', '/payouts/create', {
    amount,
    currency: 'EUR',
    payout_type: 'bank',
    payout_method_data: {
      bank_transfer: {
        payout_method_type: 'sepa',
        iban: 'DE89370400440532013000',
        bic: 'ABCDEFGH',
      },
    },
    auto_fulfill: true,
  });
}

interface Truth {
  readonly [field: string]: unknown;
  readonly status?: string;
  readonly dispute_status?: string;
  readonly amount: number | string;
  readonly amount_received?: number;
  readonly payment_id?: string;
  readonly metadata?: { readonly order_id?: string };
}

const KINDS = ['payment', 'refund', 'dispute', 'payout'] as const;

async function truthOf(sandbox: TestSandbox, kind: string): Promise<ReadonlyMap<string, Truth>> {
  const { data } = await sandbox.control('GET', `/truth/${kind}?limit=1000`);
  return new Map((data as Truth[]).map((row) => [String(row[`${kind}_id`]), row]));
}

async function heldOf(db: Queryable, kind: string): Promise<ReadonlyMap<string, object>> {
  const rows = await db.query<{ id: string; status: string; amount: number }>(
    'select id, status, amount_minor as amount from resources where kind = $1',
    [kind],
  );
  return new Map(rows.map(({ id, status, amount }) => [id, { status, amount }]));
}

/** Every part and every order is in the ledger as the sandbox has it, and nothing else is. */
export async function expectEqual(db: Queryable, sandbox: TestSandbox): Promise<void> {
  for (const kind of KINDS) {
    const truth = await truthOf(sandbox, kind);
    expect(truth.size).toBeGreaterThan(0);
    const expected = [...truth].map(([id, row]) => [id, stateOf(row)]);
    expect([...(await heldOf(db, kind))].sort(byId)).toEqual(expected.sort(byId));
  }
  expect(await heldOrders(db)).toEqual(await trueOrders(sandbox));
}

function stateOf({ status, dispute_status: disputeStatus, amount }: Truth): object {
  return { status: disputeStatus?.replace(/^dispute_/, '') ?? status, amount: Number(amount) };
}

function byId([one]: readonly unknown[], [other]: readonly unknown[]): number {
  return String(one) < String(other) ? -1 : 1;
}

interface OrderSums {
  readonly orderId: string;
  readonly capturedMinor: number;
  readonly refundedMinor: number;
}

function heldOrders(db: Queryable): Promise<readonly OrderSums[]> {
  return db.query<OrderSums>(
    `select o.order_id as "orderId", t.captured_minor as "capturedMinor",
            t.refunded_minor as "refundedMinor"
       from orders o join order_totals t using (order_key)
      where o.order_id is not null
      order by o.order_id collate "C"`,
  );
}

async function trueOrders(sandbox: TestSandbox): Promise<readonly OrderSums[]> {
  const refunds = [...(await truthOf(sandbox, 'refund')).values()];
  return [...(await truthOf(sandbox, 'payment'))]
    .map(([id, payment]) => ({
      orderId: payment.metadata?.order_id ?? '',
      capturedMinor: payment.amount_received ?? 0,
      refundedMinor: refunds
        .filter((refund) => refund.payment_id === id && refund.status === 'succeeded')
        .reduce((sum, { amount }) => sum + Number(amount), 0),
    }))
    .sort((one, other) => (one.orderId < other.orderId ? -1 : 1));
}
