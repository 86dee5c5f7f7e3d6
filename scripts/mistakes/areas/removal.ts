/** Retention, the archive and erasure. */
import type { Mistake } from '../mistake.ts';

export const REMOVAL: readonly Mistake[] = [
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
];
