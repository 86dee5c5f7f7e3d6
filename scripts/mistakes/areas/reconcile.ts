/** Comparing the ledger with the service, and repairing it. */
import type { Mistake } from '../mistake.ts';

export const RECONCILE: readonly Mistake[] = [
  {
    guarantee: 'A row a second outside of its window belongs to it.',
    file: 'src/reconcile/domain/windows.ts',
    code: 'BOUND_TOLERANCE_MS = 1_000',
    mistaken: 'BOUND_TOLERANCE_MS = 999',
    test: 'test/unit/reconcile/windows.test.ts',
  },
  {
    guarantee: 'The halves of a span share no instant.',
    file: 'src/reconcile/domain/totals.ts',
    code: 'right: { fromMs: middleMs + 1,',
    mistaken: 'right: { fromMs: middleMs,',
    test: 'test/unit/reconcile/totals.test.ts',
  },
  {
    guarantee: 'A span with more rows in the ledger than on a page is halved.',
    file: 'src/reconcile/domain/totals.ts',
    code: 'if (Math.max(remote, rows) <= fits ||',
    mistaken: 'if (remote <= fits ||',
    test: 'test/unit/reconcile/totals.test.ts',
  },
  {
    guarantee: 'A clock that was set back does not block background work.',
    file: 'src/reconcile/domain/backgroundRate.ts',
    code: 'nowMs >= fromMs + MINUTE_MS || nowMs < fromMs',
    mistaken: 'nowMs >= fromMs + MINUTE_MS',
    test: 'test/unit/reconcile/backgroundRate.test.ts',
  },
  {
    guarantee: 'Some of the rate is left to discovery at every setting.',
    file: 'src/reconcile/domain/backgroundRate.ts',
    code: 'Math.min(refresh + DISCOVERY_EXTRA, LARGEST_RESERVE)',
    mistaken: 'refresh + DISCOVERY_EXTRA',
    test: 'test/unit/reconcile/backgroundRate.test.ts',
  },
];
