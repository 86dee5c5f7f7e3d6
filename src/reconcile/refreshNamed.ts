/** Retrieves now whatever an id names, known or not, and tells what that changed. */
import type { ResourceKind } from '../contract/resources/index.ts';
import { orderKeysNamed } from '../ledger/domain/order.ts';
import type { ResourceRef } from '../ledger/domain/snapshot.ts';
import { findResources } from '../ledger/read/store/lookup.ts';
import { readOrderParts } from '../ledger/read/store/parts.ts';
import type { Queryable } from '../platform/db/database.ts';
import { type FindParts, findPayments, type Looked } from './findPayments.ts';
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

/** Kinds that the service can be asked for by an id alone, after payments. */
const OTHER_KINDS = ['refund', 'dispute', 'payout'] as const;

/**
 * Asks the service about an id of which the ledger holds nothing: payments of an order of this id, a
 * payment, then a refund, a dispute and a payout.
 * @returns what the service knows, and what could not be asked; nothing where it knows none
 */
export async function retrieveUnknown(parts: FindParts, id: string): Promise<readonly Looked[]> {
  const { looked, trouble } = await findPayments(parts, { id }, undefined);
  if (looked.length > 0) return looked;
  const unasked: Looked[] = trouble === undefined ? [] : [unlisted(id, trouble)];
  for (const kind of OTHER_KINDS) {
    const ref = { kind, id };
    const retrieved = await parts.retrieve(ref, { lane: 'operator' });
    if (retrieved.outcome === 'applied') return [{ ref, retrieved }];
    const isUnasked = retrieved.outcome === 'failed' && retrieved.trouble !== 'refused';
    if (isUnasked) unasked.push({ ref, retrieved });
  }
  return unasked;
}

function unlisted(id: string, reason: string): Looked {
  return {
    ref: { kind: 'payment', id },
    retrieved: { outcome: 'failed', trouble: 'away', reason },
  };
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
