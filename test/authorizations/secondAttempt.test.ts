/** The start of a hold on a payment that failed before and was confirmed again under its id. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAuthorization } from '../../src/authorizations/store/authorizations.ts';
import { applySnapshots } from '../../src/ledger/applySnapshots.ts';
import type { EventApplier } from '../../src/ledger/inbox/applyEvents.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { observe } from '../support/observations.ts';

let db: TestDatabase;
let applier: EventApplier;

beforeAll(async () => {
  db = await createTestDatabase();
  applier = testApplier(db);
});
afterAll(() => db.drop());

const AT = {
  held: '2026-11-01T10:00:00.000Z',
  failed: '2026-11-06T10:00:00.000Z',
  heldAgain: '2026-11-08T10:00:00.000Z',
};
const microsOf = (time: string) => Date.parse(time) * 1000;

/** A webhook about a payment, sent when it changed. */
function webhook(paymentId: string, status: string, modifiedAt: string): Promise<void> {
  const fields = { capture_method: 'manual', amount_received: 0, created: AT.held };
  const object = paymentObject({
    ...fields,
    payment_id: paymentId,
    status,
    modified_at: modifiedAt,
    amount_capturable: status === 'requires_capture' ? 6540 : 0,
  });
  return applyEach(db, applier, [eventBody(object, { timestamp: modifiedAt })]);
}

/** A hold that a retrieve shows long after it began. */
function retrieve(paymentId: string, modifiedAt: string): Promise<void> {
  const content = {
    status: 'requires_capture',
    amountMinor: 6540,
    currency: 'USD',
    versionMicros: microsOf(modifiedAt),
    captureMethod: 'manual',
    amountCapturableMinor: 6540,
  };
  const observedMicros = microsOf(modifiedAt) + 3_600_000_000;
  const observation = observe(content, { id: paymentId, source: 'retrieve', observedMicros });
  const input = { toRetrieve: [], alsoLock: [], nowMs: Date.now(), historyUntilMs: undefined };
  return db.transaction((tx) => applySnapshots(tx, { ...input, observations: [observation] }));
}

const startOf = async (paymentId: string) =>
  (await readAuthorization(db, paymentId))?.authorizedMicros;

test('a hold begins with its own webhook, and not with that of an attempt that failed', async () => {
  await webhook('pay_first', 'requires_capture', AT.held);
  expect(await startOf('pay_first')).toBe(microsOf(AT.held));
  await webhook('pay_first', 'failed', AT.failed);
  await webhook('pay_first', 'requires_capture', AT.heldAgain);
  expect(await startOf('pay_first')).toBe(microsOf(AT.heldAgain));
});

test('without a webhook of its own, a hold begins when the attempt before it failed', async () => {
  await webhook('pay_again', 'requires_capture', AT.held);
  await webhook('pay_again', 'failed', AT.failed);
  await retrieve('pay_again', AT.heldAgain);
  expect(await startOf('pay_again')).toBe(microsOf(AT.failed));
});
