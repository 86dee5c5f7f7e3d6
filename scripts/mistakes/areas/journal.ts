/** The journal, its chain, closings of months and effective times. */
import type { Mistake } from '../mistake.ts';

export const JOURNAL: readonly Mistake[] = [
  {
    guarantee: 'A leg that shrinks moves money between its own accounts only.',
    file: 'migrations/00065_settlement.sql',
    code: 'else (l.credit, l.debit) is distinct from (n.debit, n.credit) end',
    mistaken: 'else false end',
    test: 'test/ledger/journal.test.ts',
    named: 'the journal rejects',
  },
  {
    guarantee: 'A posting with the last number of a closing is not late.',
    file: 'src/ledger/domain/closings.ts',
    code: 'posting.number > lastTransfer',
    mistaken: 'posting.number >= lastTransfer',
    test: 'test/unit/ledger/closings.test.ts',
    named: 'a late posting is booked after',
  },
  {
    guarantee: 'A month is closed only after its last day.',
    file: 'src/ledger/domain/closings.ts',
    code: 'if (nowMicros < toMicros) {',
    mistaken: 'if (nowMicros < toMicros - 86_400_000_000) {',
    test: 'test/unit/ledger/closings.test.ts',
  },
  {
    guarantee: 'A block begins where the one before it ends.',
    file: 'src/ledger/domain/chain.ts',
    code: '    block.afterId !== expected.afterId ||\n',
    mistaken: '',
    test: 'test/unit/ledger/chain.test.ts',
  },
  {
    guarantee:
      'A restore from before a head was published does not excuse another block in its place.',
    file: 'src/ledger/domain/chain.ts',
    code: 'number <= head.number && chainedMicros >= publishedMicros',
    mistaken: 'number <= head.number',
    test: 'test/unit/ledger/chain.test.ts',
  },
  {
    guarantee: 'A seal covers who closed the month.',
    file: 'src/ledger/domain/seals.ts',
    code: '    text(closing.closedBy),\n',
    mistaken: '',
    test: 'test/ledger/seals.test.ts',
    named: 'closing waits|any change of a closing',
  },
  {
    guarantee: 'What is posted after a closing does not change its sums.',
    file: 'src/ledger/store/closings.ts',
    code: 'where id > $6 and id <= $4 and effective_at < $2',
    mistaken: 'where id > $6 and effective_at < $2',
    test: 'test/ledger/closings.test.ts',
    named: 'contain each transfer once',
  },
  {
    guarantee: 'A closing waits for every transaction that writes to the journal.',
    file: 'src/ledger/fenceJournal.ts',
    code: 'while (before.length > 0) {',
    mistaken: 'while (before.length > 1) {',
    test: 'test/ledger/closings.test.ts',
    named: 'a closing (waits|is refused for a month)',
  },
  {
    guarantee: 'What began earlier has the latest time that is known to be before it.',
    file: 'src/ledger/domain/effectiveTimes.ts',
    code: 'const effectiveMicros = Math.max(createdMicros, belowMicros);',
    mistaken: 'const effectiveMicros = createdMicros || belowMicros;',
    test: 'test/unit/ledger/effectiveTimes.test.ts',
  },
  {
    guarantee: 'The statement of a closed month lists what was under way by its closing.',
    file: 'src/ledger/domain/openAtClosing.ts',
    code: 'sum - nowMinor + closedMinor',
    mistaken: 'sum',
    test: 'test/ledger/closings.test.ts',
    named: 'under way by its closing',
  },
];
