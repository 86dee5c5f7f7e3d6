/** Models of the statements of reconciliation. */
import { readStampedAt } from '../../../../src/ledger/store/installation.ts';
import { isPaused } from '../../../../src/reconcile/store/pauses.ts';
import { modeled } from '../statements.ts';

export const RECONCILE = [
  // Nobody pauses reconciliation.
  modeled(isPaused, [], 'f50fe1e9', () => []),
  // The installation is not recorded.
  modeled(readStampedAt, [], 'a6d56275', () => []),
];
