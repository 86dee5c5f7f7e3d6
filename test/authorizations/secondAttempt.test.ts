/** A hold on a payment that failed before and was confirmed again under its id: its start, and the policy. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockPersonsAttempt } from '../../src/actions/captureOrCancel.ts';
import { createAuthorizationCheck } from '../../src/authorizations/checkAuthorizations.ts';
import { readAuthorization } from '../../src/authorizations/store/authorizations.ts';
import { applySnapshots } from '../../src/ledger/applySnapshots.ts';
import type { EventApplier } from '../../src/ledger/inbox/applyEvents.ts';
import type { ActionOutcome } from '../../src/outcomes/action.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
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
  const input = { toRetrieve: [], alsoLock: [], nowMs: Date.now(), history: undefined };
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

test('a hold begins with its first webhook after the failure, also with one without a version', async () => {
  await webhook('pay_undated', 'failed', AT.failed);
  const undated = paymentObject({
    payment_id: 'pay_undated',
    status: 'requires_capture',
    capture_method: 'manual',
    amount_capturable: 6540,
    modified_at: undefined,
  });
  await applyEach(db, applier, [eventBody(undated, { timestamp: AT.heldAgain })]);
  await webhook('pay_undated', 'requires_capture', '2026-11-09T10:00:00.000Z');
  expect(await startOf('pay_undated')).toBe(microsOf(AT.heldAgain));
});

/** A policy that captures six hours before the deadline, at a service that captures a payment with these outcomes. */
function policyAt(id: string, outcomes: readonly ActionOutcome[]) {
  let nowMs = 0;
  let sent = 0;
  const check = createAuthorizationCheck({
    db,
    log: silentLog,
    clock: { nowMs: () => nowMs },
    thresholds: [48, 24, 6, 1],
    policy: { action: 'capture', hours: 6 },
    service: {
      refresh: () => Promise.resolve({ outcome: 'applied' }),
      act: ({ paymentId }) => {
        if (paymentId !== id) return Promise.resolve(REFUSED);
        sent += 1;
        return Promise.resolve(outcomes[sent - 1] ?? REFUSED);
      },
    },
    isPaused: () => Promise.resolve(false),
    lockPersonsAttempt,
  });
  const runAt = async (atMs: number): Promise<number> => {
    nowMs = atMs;
    await check.run();
    return sent;
  };
  return { runAt };
}

const WEEK_MS = 7 * 24 * HOUR_MS;
/** Six hours before the deadline of a hold that began then. */
const dueMs = (start: string) => Date.parse(start) + WEEK_MS - 6 * HOUR_MS;
const REFUSED = { outcome: 'refused', reason: 'HTTP 400 IR_14: not capturable' } as const;
const FAILED = { outcome: 'failed', reason: 'HTTP 503' } as const;
const FAILED_LATER = '2026-11-08T11:00:00.000Z';
const HELD_LATER = '2026-11-08T12:00:00.000Z';

const alertOf = async (paymentId: string) => {
  const [alert] = await db.query<{ sentence: string }>(
    'select sentence from alerts where subject = $1 order by id desc limit 1',
    [`payment:${paymentId}`],
  );
  return alert?.sentence;
};

test.each([
  ['done', { outcome: 'done' }],
  ['refused', REFUSED],
  ['unknown', { outcome: 'unknown', reason: 'no response arrived' }],
] as const)(
  'the policy acts on a second hold, after its attempt on the first one was %s (rule 5)',
  async (name, first) => {
    const id = `pay_policy_${name}`;
    await webhook(id, 'requires_capture', AT.held);
    const { runAt } = policyAt(id, [first, FAILED]);
    expect(await runAt(dueMs(AT.held))).toBe(1);
    await webhook(id, 'failed', FAILED_LATER);
    await webhook(id, 'requires_capture', HELD_LATER);

    expect(await runAt(dueMs(HELD_LATER) - 42 * HOUR_MS)).toBe(1);
    expect(await alertOf(id)).not.toContain('The policy tried');
    const secondMs = dueMs(HELD_LATER);
    expect(await runAt(secondMs)).toBe(2);
    expect(await alertOf(id)).toMatch(
      /tried to capture it at \S+ \S+ UTC and failed without effect/,
    );
    // As for any hold: another attempt a minute after the first one failed, and none after a refusal.
    expect(await runAt(secondMs + MINUTE_MS)).toBe(3);
    expect(await alertOf(id)).toContain('for the 2nd time');
    expect(await runAt(secondMs + HOUR_MS)).toBe(3);
  },
);

test('a later event about the same hold lets the policy make no second attempt (rule 4)', async () => {
  await webhook('pay_same', 'failed', '2026-11-01T09:00:00.000Z');
  await retrieve('pay_same', AT.held);
  const { runAt } = policyAt('pay_same', []);
  const firstMs = dueMs(AT.held);
  expect(await runAt(firstMs)).toBe(1);
  // The start that was not known before: the deadline is later, and the hold is the same.
  await webhook('pay_same', 'requires_capture', new Date(firstMs + HOUR_MS).toISOString());
  expect(await runAt(firstMs + WEEK_MS)).toBe(1);
});
