/**
 * Checks what changed: the orders that the change feed names, with all of their resources, and resources
 * without an order. Each order is checked once, at its last change.
 */
import { inChunks } from '../../platform/collections.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { distinctRefs } from '../domain/snapshot.ts';
import {
  type ChangedSubject,
  readChangedSubjects,
  readKnownOrderKeys,
  readRefsOfOrders,
} from '../store/verifyOrders.ts';
import { checkKeys } from './orders.ts';
import { checkRefs } from './resources.ts';
import { type Run, walk } from './walk.ts';

/** @param last the last planned change; later ones are left to the next run */
export async function checkChanges(
  run: Run,
  { after, until, last }: { readonly after: number; readonly until: number; readonly last: number },
): Promise<void> {
  await walk<number>(
    run,
    'changes',
    async (tx, number = 0) => {
      const limit = run.chunkSize;
      const changes = await readChangedSubjects(tx, { after: number, until, last, limit });
      await checkSubjects(
        run,
        tx,
        changes.filter(({ isLast }) => isLast),
      );
      return { last: changes.at(-1)?.number, count: changes.length };
    },
    after,
  );
}

async function checkSubjects(
  run: Run,
  tx: Queryable,
  changes: readonly ChangedSubject[],
): Promise<void> {
  const named = changes.flatMap(({ orderKey }) => (orderKey === null ? [] : [orderKey]));
  const keys = named.length > 0 ? await readKnownOrderKeys(tx, named) : [];
  const ofOrders = keys.length > 0 ? await readRefsOfOrders(tx, keys) : [];
  const alone = changes.flatMap(({ kind, id }) => (kind === 'order' ? [] : [{ kind, id }]));
  const refs = distinctRefs([...ofOrders, ...alone]);
  // An order may have any number of resources; memory is bounded by a chunk of them.
  for (const chunk of inChunks(refs, run.chunkSize)) await checkRefs(run, tx, chunk);
  await checkKeys(run, tx, keys);
}
