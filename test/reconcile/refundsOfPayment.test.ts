/** The refunds of a payment, retrieved before another refund, also where a list ignores its filter. */
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient, type PaymentServiceClient } from '../../src/client/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createRefundService } from '../../src/refunds/refundService.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';

let db: TestDatabase;
let sandbox: TestSandbox;
beforeEach(async () => {
  [db, sandbox] = await Promise.all([createTestDatabase(), startTestSandbox()]);
});
afterEach(async () => {
  await Promise.all([db.drop(), sandbox.close()]);
});

/** Pays, and refunds a part. */
async function payAndRefund(id: string): Promise<void> {
  await sandbox.call('POST', '/payments', cardPayment({ payment_id: id }));
  const refund = { payment_id: id, refund_id: `ref_${id}`, amount: 100 };
  await sandbox.call('POST', '/refunds', refund);
}

function countingRetrieves() {
  const client = createClient(sandbox);
  const retrieved: string[] = [];
  const counting: PaymentServiceClient = {
    ...client,
    refunds: {
      ...client.refunds,
      retrieve: (id, ...rest) => {
        retrieved.push(id);
        return client.refunds.retrieve(id, ...rest);
      },
    },
  };
  const account = { merchantId: undefined, profileId: undefined };
  return {
    retrieved,
    service: createRefundService({ db, client: counting, clock: systemClock, account }),
  };
}

test('a list that ignores the payment causes no retrieve of refunds of other payments', async () => {
  for (const id of ['pay_a', 'pay_b', 'pay_c']) await payAndRefund(id);
  await sandbox.control('PUT', '/faults', { lists: { ignored_filters: ['payment_id'] } });
  const { service, retrieved } = countingRetrieves();
  expect(await service.refresh('pay_b')).toEqual({ outcome: 'applied' });
  expect(retrieved).toEqual(['ref_pay_b']);
});

test('refunds that do not name their payment are retrieved', async () => {
  await payAndRefund('pay_a');
  await sandbox.control('PUT', '/faults', { lists: { short_rows: true } });
  const { service, retrieved } = countingRetrieves();
  expect(await service.refresh('pay_a')).toEqual({ outcome: 'applied' });
  expect(retrieved).toEqual(['ref_pay_a']);
});

test('a list that ignores the payment and is too long to be read fails', async () => {
  await payAndRefund('pay_a');
  const client = createClient(sandbox);
  const others = Array.from({ length: 10_002 }, (_, n) => {
    return { refund_id: `ref_${n}`, payment_id: 'pay_other' };
  });
  const iterate: typeof client.refunds.iterate = () => Readable.from(others);
  const account = { merchantId: undefined, profileId: undefined };
  const long = { ...client, refunds: { ...client.refunds, iterate } };
  const service = createRefundService({ db, client: long, clock: systemClock, account });
  expect(await service.refresh('pay_a')).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('too long'),
  });
});
