/**
 * The ledger of a small shop, applied by the worker's own code, which the bench copies until it is
 * large. Copies differ only in their ids, so all of them are as consistent as the first.
 */
import { createHash } from 'node:crypto';
import { createEventApplier } from '../../src/ledger/inbox/applyEvents.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { readEnvelope } from '../../src/receiver/envelope.ts';
import { storeBatch } from '../../src/receiver/storeBatch.ts';
import { MERCHANT_ID } from '../events.ts';

/** Part of every id of the template, once; as wide as the number that replaces it in a copy. */
export const MARK = 't0000000';

/** The mark of a copy. */
export function markOf(copy: number): string {
  return `t${String(copy).padStart(MARK.length - 1, '0')}`;
}

export const TEMPLATE_PAYMENTS = 1_000;
const BATCH = 500;

export async function applyTemplate(connectionString: string): Promise<void> {
  const bodies = Array.from({ length: TEMPLATE_PAYMENTS }, (_, paymentNumber) =>
    eventsOf(paymentNumber),
  ).flat();
  await applyBodies(connectionString, bodies, BATCH);
}

/** Persists and applies bodies with the code of the receiver and of the worker. */
export async function applyBodies(
  connectionString: string,
  bodies: readonly Buffer[],
  batchSize: number,
  afterBatch: (db: Database) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const log = createLog('silent');
  const db = createDatabase({
    connectionString,
    log,
    applicationName: 'tallyhook-bench-template',
    maxConnections: 1,
    responseTimeoutMs: 60_000,
    plans: 'by_key',
  });
  try {
    const applier = createEventApplier({
      db,
      account: { merchantId: MERCHANT_ID, profileId: undefined },
      clock: systemClock,
      metrics: { event: () => undefined, secondsToApply: () => undefined },
      log,
    });
    for (let from = 0; from < bodies.length; from += batchSize) {
      const events = bodies.slice(from, from + batchSize).map((body) => ({
        ...readEnvelope(body),
        body,
        bodyHash: createHash('sha256').update(body).digest(),
        secretFingerprint: 0,
      }));
      const { outcomes: stored } = await storeBatch(db, events, new Date());
      await applier.applyBatch(
        stored.flatMap((one) => ('toEnqueue' in one ? [one.toEnqueue ?? []].flat() : [])),
      );
      await afterBatch(db);
    }
  } finally {
    await db.close();
  }
}

const START_MS = Date.UTC(2026, 0, 1);

/** The events of the payment with this number. One in a thousand ends in a dispute. */
function eventsOf(paymentNumber: number): readonly Buffer[] {
  const name = `${MARK}_${paymentNumber}`;
  const amount = 100 + paymentNumber;
  let step = 0;
  const event = (type: string, contentType: string, object: object): Buffer => {
    step += 1;
    const modified = new Date(START_MS + paymentNumber * 60_000 + step * 1_000).toISOString();
    const content = { type: contentType, object: { ...object, modified_at: modified } };
    const head = { merchant_id: MERCHANT_ID, event_id: `evt_${name}_${step}`, event_type: type };
    return Buffer.from(JSON.stringify({ ...head, content, timestamp: modified }));
  };
  const payment = (status: string, rest: object): Buffer =>
    event(`payment_${status}`, 'payment_details', {
      payment_id: `pay_${name}`,
      merchant_id: MERCHANT_ID,
      status,
      amount,
      currency: 'USD',
      capture_method: 'automatic',
      metadata: { order_id: `ord_${name}` },
      created: new Date(START_MS + paymentNumber * 60_000).toISOString(),
      ...rest,
    });
  const child = { payment_id: `pay_${name}`, currency: 'USD' };
  const paid = { amount_received: amount, amount_capturable: 0 };
  const histories: readonly (readonly [after: number, () => readonly Buffer[]])[] = [
    [
      999,
      () => [
        payment('succeeded', paid),
        event('dispute_opened', 'dispute_details', {
          ...child,
          dispute_id: `dp_${name}`,
          dispute_status: 'dispute_opened',
          dispute_stage: 'dispute',
          amount: String(amount),
        }),
      ],
    ],
    [
      980,
      () => [
        event('payout_success', 'payout_details', {
          payout_id: `po_${name}`,
          amount,
          currency: 'USD',
          status: 'success',
        }),
      ],
    ],
    [930, () => [payment('failed', { amount_received: 0, error_code: 'card_declined' })]],
    [
      900,
      () => [
        payment('requires_capture', {
          status: 'requires_capture',
          capture_method: 'manual',
          amount_received: 0,
          amount_capturable: amount,
        }),
      ],
    ],
    [
      700,
      () => [
        payment('succeeded', paid),
        event('refund_succeeded', 'refund_details', {
          ...child,
          refund_id: `ref_${name}`,
          amount: 50,
          status: 'succeeded',
        }),
      ],
    ],
    [0, () => [payment('processing', { amount_received: 0 }), payment('succeeded', paid)]],
  ];
  return histories.find(([after]) => paymentNumber >= after)?.[1]() ?? [];
}
