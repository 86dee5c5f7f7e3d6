/** Amounts and refunds. */
import type { Mistake } from '../mistake.ts';

export const MONEY: readonly Mistake[] = [
  {
    guarantee: 'A decimal with more digits than its currency has is refused.',
    file: 'src/contract/money.ts',
    code: 'if (!match || fraction.length > exponent) return undefined;',
    mistaken: 'if (!match) return undefined;',
    test: 'test/unit/contract/money.test.ts',
  },
  {
    guarantee: 'A pending refund cannot be refunded once more.',
    file: 'src/refunds/domain/refundable.ts',
    code: "return status !== 'failed';",
    mistaken: "return status === 'succeeded';",
    test: 'test/unit/refunds/refundable.test.ts',
  },
];
