/** Retention, the archive and erasure. */
import type { Mistake } from '../mistake.ts';

export const REMOVAL: readonly Mistake[] = [
  {
    guarantee: 'Events of a challenged dispute are not removed.',
    file: 'src/ledger/inbox/store/oldEvents.ts',
    code: "status in ('opened', 'challenged')",
    mistaken: "status in ('opened')",
    test: 'test/retention/removeOld.test.ts',
    named: 'beyond the last known event of a dispute',
  },
  {
    guarantee: 'Retention picks no change that it has to keep, such as the newest.',
    file: 'src/ledger/store/changes.ts',
    code: 'key < (select max(number) from changes)',
    mistaken: 'key <= (select max(number) from changes)',
    test: 'test/retention/removeOld.test.ts',
    named: 'keeps the newest change',
  },
  {
    guarantee: 'A manifest that was replaced is damage.',
    file: 'src/archive/verifyArchive.ts',
    code: 'if (recorded && recorded.manifestSha256 !== sha256) {',
    mistaken: "if (recorded && recorded.manifestSha256 === '') {",
    test: 'test/archive/targets.test.ts',
    named: 'folder damage is found',
  },
  {
    guarantee: 'A value with decomposed accents is found.',
    file: 'src/erasure/domain/matcher.ts',
    code: "[trimmed.normalize('NFC'), trimmed.normalize('NFD')]",
    mistaken: "[trimmed.normalize('NFC')]",
    test: 'test/unit/erasure/matcher.test.ts',
  },
  {
    guarantee: 'An IBAN is a value of its person.',
    file: 'src/erasure/domain/personalValues.ts',
    code: "  'iban',\n",
    mistaken: '',
    test: 'test/unit/erasure/personalValues.test.ts',
  },
  {
    guarantee: 'A reconcile run that was the last to compare some of its span is not removed.',
    file: 'src/reconcile/store/endedRuns.ts',
    code: ' and n.position_at >= r.position_at',
    mistaken: '',
    test: 'test/retention/removeOld.test.ts',
    named: 'the last to compare some of their span',
  },
];
