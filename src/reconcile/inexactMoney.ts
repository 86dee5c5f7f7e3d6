/** Money that cannot be added up is a fault of single resources: it never ends the work on others. */
import { InexactSum } from '../contract/money.ts';
import { UnsafeInteger } from '../platform/db/failures.ts';

/** Whether an observation was not applied because a sum with it is beyond exact integers. */
export function isInexact(error: unknown): error is InexactSum | UnsafeInteger {
  return error instanceof InexactSum || error instanceof UnsafeInteger;
}
