/** A ledger with one payment in progress, and a service that a test scripts response by response. */
import { API_KEY, type PaymentService, startPaymentService } from '../client/paymentService.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { type TestReconciler, testReconciler } from '../support/reconciler.ts';

/** The payment as the ledger has it. */
const IN_PROGRESS = paymentObject({ status: 'processing', amount_received: 0 });

/** The payment as the service has it afterwards. */
export const PAID = {
  ...IN_PROGRESS,
  status: 'succeeded',
  amount_received: 6540,
  modified_at: '2026-11-01T10:05:00Z',
};

export interface OnePayment {
  readonly db: TestDatabase;
  readonly service: PaymentService;
  readonly reconciler: TestReconciler;
}

export async function startOnePayment(): Promise<OnePayment> {
  const [db, service] = await Promise.all([createTestDatabase(), startPaymentService()]);
  await applyEach(db, testApplier(db), [eventBody(IN_PROGRESS)]);
  const { baseUrl } = service;
  return { db, service, reconciler: testReconciler({ db, service: { baseUrl, apiKey: API_KEY } }) };
}
