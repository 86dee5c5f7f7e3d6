/** Reminders and the policy of authorizations. */
import type { Mistake } from '../mistake.ts';

export const AUTHORIZATIONS: readonly Mistake[] = [
  {
    guarantee: 'A threshold is reached at its instant.',
    file: 'src/authorizations/domain/reminders.ts',
    code: 'instantOf(hours) <= nowMs',
    mistaken: 'instantOf(hours) < nowMs',
    test: 'test/unit/authorizations/reminders.test.ts',
  },
  {
    guarantee: 'A policy does not act at the deadline.',
    file: 'src/authorizations/domain/reminders.ts',
    code: 'nowMs < deadlineMs;',
    mistaken: 'nowMs <= deadlineMs;',
    test: 'test/unit/authorizations/attempts.test.ts',
  },
];
