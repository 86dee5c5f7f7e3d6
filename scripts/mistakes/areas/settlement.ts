/** Settlement reports and bank statements. */
import type { Mistake } from '../mistake.ts';

export const SETTLEMENT: readonly Mistake[] = [
  {
    guarantee: 'An amount with its minus behind it is negative.',
    file: 'src/settlement/domain/amounts.ts',
    code: "before === '-' || behind === '-'",
    mistaken: "before === '-'",
    test: 'test/unit/settlement/formats.test.ts',
  },
  {
    guarantee:
      'An entry that is booked in another year than its value date has the day nearest to it.',
    file: 'src/settlement/domain/mt940.ts',
    code: 'return [year - 1, year, year + 1]',
    mistaken: 'return [year]',
    test: 'test/unit/settlement/formats.test.ts',
  },
  {
    guarantee: 'A reference within a longer word names no settlement.',
    file: 'src/ledger/domain/matchLines.ts',
    code: '!/[\\p{L}\\p{N}]/u.test(character)',
    mistaken: '!/\\p{N}/u.test(character)',
    test: 'test/unit/ledger/matchLines.test.ts',
  },
  {
    guarantee: 'Two lines are not about the same refund.',
    file: 'src/ledger/domain/matchLines.ts',
    code: '    taken.add(keyOf(found.candidate));\n',
    mistaken: '',
    test: 'test/unit/ledger/matchLines.test.ts',
  },
  {
    guarantee: 'Rows of a report with one number are one line.',
    file: 'src/ledger/lines/store/lines.ts',
    code: "case when s.type <> 'bank' and s.line_reference is not null then 1",
    mistaken: 'case when false then 1',
    test: 'test/ledger/settlement.test.ts',
    named: 'one number of the service',
  },
  {
    guarantee: 'A statement that is in a file twice posts its arrivals once.',
    file: 'src/ledger/lines/store/lines.ts',
    code: 'partition by s.digest, s.sequence order by',
    mistaken: 'partition by s.digest order by',
    test: 'test/ledger/settlement.test.ts',
    named: 'a file with several statements',
  },
];
