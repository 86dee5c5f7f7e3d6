/** Alerts, their outbox and their messages. */
import type { Mistake } from '../mistake.ts';

export const NOTIFY: readonly Mistake[] = [
  {
    guarantee: 'A message is given up after three days, not earlier.',
    file: 'src/notify/domain/retry.ts',
    code: 'GIVE_UP_AFTER_MS = 72 * HOUR_MS',
    mistaken: 'GIVE_UP_AFTER_MS = 71 * HOUR_MS',
    test: 'test/unit/notify/retry.test.ts',
  },
];
