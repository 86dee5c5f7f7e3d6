/** Models of the statements of reconciliation. */
import { isPaused } from '../../../../src/reconcile/store/pauses.ts';
import { modeled } from '../statements.ts';

export const RECONCILE = [
  // Nobody pauses reconciliation.
  modeled(isPaused, [], 'f50fe1e9', () => []),
];
