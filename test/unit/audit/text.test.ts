/** Entries of the audit log, as people read them. */
import { expect, test } from 'vitest';
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
