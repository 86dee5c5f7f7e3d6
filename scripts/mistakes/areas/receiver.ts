/** From the bytes of a webhook to a job in the queue. */
import type { Mistake } from '../mistake.ts';

export const RECEIVER: readonly Mistake[] = [
  {
    guarantee: 'Digests are compared in constant time.',
    file: 'src/receiver/signature.ts',
    code: 'timingSafeEqual(expected, claimed)',
    mistaken: 'expected.equals(claimed)',
    test: 'test/unit/receiver/signature.isolated.test.ts',
  },
  {
    guarantee: 'Nothing of a body beyond the limit stays in memory.',
    file: 'src/receiver/readBody.ts',
    code: 'if (!isTooLarge) {',
    mistaken: 'if (length <= READ_FACTOR * maxBytes) {',
    test: 'test/unit/receiver/readBody.test.ts',
  },
  {
    guarantee: 'A full job is added before the interval is over.',
    file: 'src/receiver/enqueuer.ts',
    code: 'waiting.length < MAX_IDS && !stopping.signal.aborted',
    mistaken: '!stopping.signal.aborted',
    test: 'test/unit/receiver/enqueuer.test.ts',
  },
  {
    guarantee:
      'Jobs do not pile up at a steady load: while one waits, no other is added for a second.',
    file: 'src/receiver/enqueuer.ts',
    code: 'jobs === 0 && (active === 0 || waitedMs >= BUSY_FOR_MS)',
    mistaken: '(jobs === 0 && active === 0) || waitedMs >= BUSY_FOR_MS',
    test: 'test/unit/receiver/enqueuer.test.ts',
    named: 'adds no job while one waits',
  },
  {
    guarantee: 'What a receiver forgets no longer counts against its memory.',
    file: 'src/receiver/recall.ts',
    code: '      bytes -= kept[removed]?.bytes ?? 0;\n',
    mistaken: '',
    test: 'test/unit/receiver/recall.test.ts',
  },
  {
    guarantee:
      'One event that a server refuses after a failover keeps no other from being persisted again.',
    file: 'src/receiver/persistAgain.ts',
    code: 'return await persistSingly(batches, expected);',
    mistaken: 'throw error;',
    test: 'test/unit/receiver/recall.test.ts',
  },
  {
    guarantee:
      'An event that a server refuses after a failover is tried once a minute, not each time.',
    file: 'src/receiver/refusedAgain.ts',
    code: 'if (one.dueMs > monotonicMs()) continue;',
    mistaken: '',
    test: 'test/unit/receiver/recall.test.ts',
  },
];
