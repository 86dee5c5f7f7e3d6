/** Entries of the audit log, as people read them. */
import { expect, test } from 'vitest';
import { AUDIT_ACTIONS } from '../../../src/audit/domain/entry.ts';
import { auditSentence } from '../../../src/audit/domain/text.ts';

const entry = {
  actorName: 'ada',
  actorRole: 'admin',
  subjectKind: 'sandbox',
  subjectId: 'event:payment_succeeded',
  result: 'done',
  reason: null,
} as const;

test('a sentence names its subject once', () => {
  expect(auditSentence({ ...entry, action: 'sandbox.use' })).toBe(
    'Use of sandbox event:payment_succeeded by ada (admin): done.',
  );
});

test.each(['sent at 10.30', 'sent at 10.30.'])('the reason %j ends with one period', (reason) => {
  const payment = {
    subjectKind: 'payment',
    subjectId: 'pay_1',
    result: 'unknown',
    reason,
  } as const;
  expect(auditSentence({ ...entry, ...payment, action: 'authorization.capture' })).toBe(
    'Capture of payment pay_1 by ada (admin): unknown. Reason: sent at 10.30.',
  );
});

test.each(AUDIT_ACTIONS)('the action %s has a name, which begins a sentence', (action) => {
  expect(action).toMatch(/^[a-z]+\.[a-z]+$/);
  expect(auditSentence({ ...entry, action })).toMatch(
    /^[A-Z][a-z]+([ -][a-z]+)* of sandbox event:payment_succeeded by ada/,
  );
});

test('actions are listed once each, in their order', () => {
  expect(AUDIT_ACTIONS).toContain('payment.refund');
  expect(AUDIT_ACTIONS).toEqual([...new Set(AUDIT_ACTIONS)].toSorted());
});
