/** Numbers are the rules of src/alerts/domain/rules/authorization.ts. */
import { describe, expect, test } from 'vitest';
import {
  type AttemptFacts,
  type HoldFacts,
  holdAlerts,
  holdEndAlerts,
} from '../../../src/alerts/domain/rules/authorization.ts';
import { HOUR_MS } from '../../../src/platform/time.ts';
import { facts, NOW_MS } from './facts.ts';

const DEADLINE = '2026-11-21T12:00:00.000Z';

function holdAlert(fields: Partial<HoldFacts>) {
  const [alert, ...others] = holdAlerts('pay_1', {
    paymentId: 'pay_1',
    orderId: '1001',
    status: 'requires_capture',
    currency: 'USD',
    capturableMinor: 540,
    deadlineMs: NOW_MS,
    thresholdHours: 24,
    isConfirmed: true,
    attempt: undefined,
    ...fields,
  }).active;
  expect(others).toEqual([]);
  return alert;
}

test('an authorization near its deadline can be captured or released by a command (rule 1)', () => {
  expect(holdAlert({})).toStrictEqual({
    rule: 'authorization_expiring',
    subject: 'payment:pay_1',
    variant: DEADLINE,
    severity: 'warning',
    sentence:
      'The authorization of 5.40 USD on payment pay_1 (order 1001) expires at 2026-11-21 12:00 UTC. Capture it before then, or the money is released.',
    nextStep:
      'npx tallyhook authorizations capture pay_1; or, to release it: npx tallyhook authorizations cancel pay_1',
    detail: {
      id: 'pay_1',
      status: 'requires_capture',
      capturableMinor: 540,
      currency: 'USD',
      deadline: DEADLINE,
      thresholdHours: 24,
      isConfirmed: true,
    },
    orderId: '1001',
    paymentId: 'pay_1',
    deadlineAt: new Date(DEADLINE),
  });
});

test('it states that the service did not confirm it', () => {
  expect(holdAlert({ isConfirmed: false })?.sentence).toBe(
    'The authorization of 5.40 USD on payment pay_1 (order 1001) expires at 2026-11-21 12:00 UTC. Capture it before then, or the money is released. The service did not respond, so this may be out of date.',
  );
});

test('each threshold sends a reminder, and nothing held resolves both alerts (rules 1 and 4)', () => {
  expect(holdAlerts('pay_1', undefined)).toEqual({
    subject: 'payment:pay_1',
    rules: ['authorization_expiring', 'authorization_expired'],
    active: [],
    isReminderDue: true,
  });
});

test('after the deadline another alert states that a capture may be refused (rule 2)', () => {
  expect(holdAlert({ thresholdHours: 0, isConfirmed: false })).toMatchObject({
    rule: 'authorization_expired',
    severity: 'critical',
    sentence:
      'The authorization of 5.40 USD on payment pay_1 (order 1001) expired at 2026-11-21 12:00 UTC. The service still lists it as capturable, but may refuse a capture. The service did not respond, so this may be out of date.',
  });
});

describe('the last attempt of the policy (rule 3)', () => {
  const attempt: AttemptFacts = {
    number: 1,
    action: 'capture',
    atMs: NOW_MS - 2 * HOUR_MS,
    outcome: 'failed',
    reason: 'HE_00 No\nresponse',
    nextMs: NOW_MS - HOUR_MS,
  };
  const withAttempt = (fields: Partial<AttemptFacts>) =>
    holdAlert({ attempt: { ...attempt, ...fields } });
  const before =
    'The authorization of 5.40 USD on payment pay_1 (order 1001) expires at 2026-11-21 12:00 UTC. Capture it before then, or the money is released.';
  const again = 'It tries again at 2026-11-21 11:00 UTC if the full amount is still capturable.';
  const byHand = 'It does not try again: act by hand.';

  test.each<[string, Partial<AttemptFacts>, 'critical' | 'warning', string]>([
    [
      'failed',
      {},
      'critical',
      `The policy tried to capture it at 2026-11-21 10:00 UTC and failed without effect: HE_00 No response. ${again}`,
    ],
    [
      'refused, and not tried again',
      { outcome: 'refused', action: 'cancel', reason: undefined, nextMs: undefined },
      'critical',
      `The policy tried to cancel it at 2026-11-21 10:00 UTC, and the service refused it: unknown. ${byHand}`,
    ],
    [
      'without a response',
      { outcome: 'unknown' },
      'critical',
      `The policy tried to capture it at 2026-11-21 10:00 UTC, and the result is unknown: no response arrived. ${again}`,
    ],
    [
      'accepted, which needs nobody',
      { outcome: 'done', nextMs: undefined },
      'warning',
      'The policy tried to capture it at 2026-11-21 10:00 UTC, and the service accepted it.',
    ],
  ])('%s', (_, fields, severity, sentence) => {
    expect(withAttempt(fields)).toMatchObject({ severity, sentence: `${before} ${sentence}` });
  });

  test('is named in the facts for programs', () => {
    expect(withAttempt({ number: 3 })?.detail).toMatchObject({
      attempts: 3,
      lastAttempt: '2026-11-21T10:00:00.000Z',
      lastOutcome: 'failed',
    });
  });

  test.each([
    [2, '2nd'],
    [3, '3rd'],
    [4, '4th'],
    [10, '10th'],
    [11, '11th'],
    [12, '12th'],
    [13, '13th'],
    [21, '21st'],
    [22, '22nd'],
    [101, '101st'],
    [111, '111th'],
    [113, '113th'],
  ])('is counted from the second on: %i is the %s', (number, ordinal) => {
    expect(withAttempt({ number })?.sentence).toContain(
      `tried to capture it for the ${ordinal} time at 2026-11-21 10:00 UTC and failed`,
    );
  });
});

describe('an authorization that ended (rule 4)', () => {
  const expired = facts({
    kind: 'payment',
    status: 'expired',
    authorizedMinor: 6540,
    capturedMinor: 1000,
    before: { status: 'partially_captured_and_capturable' },
  });

  test('by its deadline warns against shipping the order', () => {
    expect(holdEndAlerts(expired)).toStrictEqual({
      subject: 'payment:payment_1',
      rules: ['authorization_expiring', 'authorization_expired'],
      active: [],
      oneTime: [
        {
          rule: 'authorization_expired',
          subject: 'payment:payment_1',
          variant: '',
          severity: 'warning',
          sentence:
            'The authorization of 55.40 USD on payment payment_1 (order 1001) expired: it was not captured in time, and the money is released.',
          nextStep:
            'Do not ship the order; request a new payment from the customer. History: npx tallyhook orders explain 1001',
          detail: {
            id: 'payment_1',
            status: 'expired',
            previousStatus: 'partially_captured_and_capturable',
            amountMinor: 6540,
            currency: 'USD',
            expiredMinor: 5540,
          },
          orderId: '1001',
          paymentId: 'pay_1',
        },
      ],
    });
  });

  test('with more captured than authorized, released nothing', () => {
    const [alert] = holdEndAlerts({ ...expired, capturedMinor: 7000 })?.oneTime ?? [];
    expect(alert?.sentence).toContain('The authorization of 0.00 USD on');
    expect(alert?.detail).toMatchObject({ expiredMinor: 0 });
  });

  test.each([
    ['was canceled', { ...expired, status: 'cancelled' }],
    ['expired and was imported', { ...expired, isHistory: true }],
  ])('and %s notifies of nothing', (_, ended) => {
    expect(holdEndAlerts(ended)).toMatchObject({ active: [], oneTime: [] });
  });

  // The rest is held still, and the next reminder about it may be hours away.
  test.each(['partially_captured_and_processing', 'processing', 'frozen'])(
    'is not one that is %s',
    (status) => {
      expect(holdEndAlerts({ ...expired, status })).toBeUndefined();
    },
  );

  // A capture may take a while: `requires_capture`, then `processing`, then `succeeded`.
  test.each(['succeeded', 'cancelled', 'failed'])(
    'while it was processing resolves its alerts: it is %s',
    (status) => {
      const ended = facts({ ...expired, status, before: { status: 'processing' } });
      expect(holdEndAlerts(ended)).toMatchObject({ active: [], oneTime: [] });
      const never = { ...ended, authorizedMinor: 0 };
      expect(holdEndAlerts(never), 'no statement for payments without a hold').toBeUndefined();
    },
  );

  test('and had ended before has no alert', () => {
    const before = { status: 'succeeded' };
    expect(holdEndAlerts(facts({ ...expired, status: 'succeeded', before }))).toBeUndefined();
    expect(holdEndAlerts({ ...expired, before: undefined })).toBeUndefined();
  });

  test('while a part was being captured is one that ended', () => {
    const capturing = { status: 'partially_captured_and_processing' };
    const ended = facts({ ...expired, before: capturing });
    expect(holdEndAlerts(ended)?.oneTime).toHaveLength(1);
  });
});
