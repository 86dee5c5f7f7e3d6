/**
 * Transfers of an earlier version get their effective times after an upgrade; until then sums and lists by
 * effective time would lack them.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { OperatorError } from '../../platform/errors.ts';
import { hasUndatedTransfers } from './store/statement.ts';

class UndatedTransfers extends OperatorError {
  constructor() {
    super(
      'Transfers of an earlier version have no effective time yet, so what is read by it would be incomplete. ' +
        'The schedule effective_times fills them: run npx tallyhook schedule list to see its last run. ' +
        'Lists and exports by the recorded time are complete.',
    );
  }
}

/** @throws UndatedTransfers */
export async function requireDated(db: Queryable): Promise<void> {
  if (await hasUndatedTransfers(db)) throw new UndatedTransfers();
}

/** What a request for sums by effective time ends in. */
export async function unlessUndated<Data>(
  read: () => Promise<Data>,
): Promise<
  | { readonly outcome: 'ok'; readonly data: Data }
  | { readonly outcome: 'unavailable'; readonly message: string }
> {
  try {
    return { outcome: 'ok', data: await read() };
  } catch (error) {
    if (!(error instanceof UndatedTransfers)) throw error;
    return { outcome: 'unavailable', message: error.message };
  }
}
