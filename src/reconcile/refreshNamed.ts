/** Retrieves now whatever an id names, and tells what that changed. */
import type { ResourceKind } from '../contract/resources/index.ts';
import { orderKeysNamed } from '../ledger/domain/order.ts';
import type { ResourceRef } from '../ledger/domain/snapshot.ts';
import { findResources } from '../ledger/store/lookup.ts';
import { readOrderParts } from '../ledger/store/reading.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { Retrieved } from './retrieve.ts';
import type { CheckedRow } from './store/checks.ts';

/**
 * The resources of this id; where there are none, the parts of the order of this id.
 * @param kind of a resource that the ledger need not know
 */
export async function resourcesNamed(
  db: Queryable,
  id: string,
  kind: ResourceKind | undefined,
): Promise<readonly ResourceRef[]> {
  if (kind !== undefined) return [{ kind, id }];
  const resources = await findResources(db, id);
  if (resources.length > 0) return resources.map((found) => ({ kind: found.kind, id: found.id }));
  const parts = await Promise.all(orderKeysNamed(id).map((key) => readOrderParts(db, key)));
  return parts.flat().map((part) => ({ kind: part.kind, id: part.id }));
}

/** One field that a retrieve changed; null for what was or is not known. */
export interface Change {
  readonly field: string;
  readonly before: string | number | boolean | null;
  readonly after: string | number | boolean | null;
}

const FIELDS = [
  'status',
  'stage',
  'currency',
  'amountMinor',
  'capturedMinor',
  'isContradicted',
  'isDoubtful',
] as const satisfies readonly (keyof CheckedRow)[];

/** What is otherwise than before; a resource that the ledger did not have changed in all it has. */
export function changesOf({ before, after }: Extract<Retrieved, { readonly outcome: 'applied' }>) {
  return FIELDS.flatMap((field): readonly Change[] => {
    const [was, is] = [before?.[field] ?? null, after[field]];
    return was === is || (was === null && is === false) ? [] : [{ field, before: was, after: is }];
  });
}
