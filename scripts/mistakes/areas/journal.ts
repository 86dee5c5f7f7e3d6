/** The journal, its chain, closings of months and effective times. */
import type { Mistake } from '../mistake.ts';

export const JOURNAL: readonly Mistake[] = [
  {
    guarantee: 'What began earlier has the latest time that is known to be before it.',
    file: 'src/ledger/domain/effectiveTimes.ts',
    code: 'const effectiveMicros = Math.max(createdMicros, belowMicros);',
    mistaken: 'const effectiveMicros = createdMicros || belowMicros;',
    test: 'test/unit/ledger/effectiveTimes.test.ts',
  },
];
