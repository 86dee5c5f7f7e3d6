/** Finds the id that a person may have meant by one that does not exist, in a few statements by index. */
import { RESOURCE_KINDS, type ResourceKind } from '../contract/resources/index.ts';
import { readNearEvents, readNearOrders, readNearResources } from '../ledger/read/store/nearIds.ts';
import type { Queryable } from '../platform/db/database.ts';
import { nearest, spellings } from './spellings.ts';

export type IdKind = 'order' | 'event' | ResourceKind;

export const ID_KINDS: readonly IdKind[] = ['order', ...RESOURCE_KINDS, 'event'];

/** Undefined if no id is near, or several are equally near. */
export async function findNearId(
  db: Queryable,
  id: string,
  kinds: readonly IdKind[],
): Promise<string | undefined> {
  const near = { id, spellings: spellings(id) };
  const found: string[] = [];
  for (const kind of kinds) {
    for (const row of await readNear(db, kind, near)) found.push(row.id);
  }
  return nearest(id, found);
}

function readNear(db: Queryable, kind: IdKind, near: Parameters<typeof readNearOrders>[1]) {
  switch (kind) {
    case 'order':
      return readNearOrders(db, near);
    case 'event':
      return readNearEvents(db, near);
    default:
      return readNearResources(db, kind, near);
  }
}
