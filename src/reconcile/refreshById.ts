/** Retrieves what an id names, in the ledger or not, and reports what that changed. */
import type { ResourceKind } from '../contract/resources/index.ts';
import type { ResourceRef } from '../ledger/domain/snapshot.ts';
import { resolveOrders } from '../ledger/read/orders.ts';
import { findResources } from '../ledger/read/store/lookup.ts';
import { readOrderParts } from '../ledger/read/store/parts.ts';
import type { CheckedRow } from '../ledger/store/checks.ts';
import type { Queryable } from '../platform/db/database.ts';
import {
  type DiscoveryParts,
  discoverPayments,
  type RetrievedResource,
} from './discoverPayments.ts';
import type { Retrieved } from './retrieve.ts';

/**
 * The resources with this id; where there are none, the parts of the orders that it names.
 * @param kind names a resource that need not be in the ledger
 */
export async function findNamedResources(
  db: Queryable,
  id: string,
  kind: ResourceKind | undefined,
): Promise<readonly ResourceRef[]> {
  if (kind !== undefined) return [{ kind, id }];
  const resources = await findResources(db, id);
  if (resources.length > 0) return resources.map((found) => ({ kind: found.kind, id: found.id }));
  const orders = await resolveOrders(db, { id });
  const parts = await Promise.all(orders.map(({ orderKey }) => readOrderParts(db, orderKey)));
  return parts.flat().map((part) => ({ kind: part.kind, id: part.id }));
}

/** Kinds that are retrieved by an id alone, after payments. */
const OTHER_KINDS = ['refund', 'dispute', 'payout'] as const;

/**
 * Retrieves an id that is not in the ledger: payments of an order with this id, a payment, then a
 * refund, a dispute and a payout.
 * @returns what the service has, and what could not be requested; nothing where it has none
 */
export async function retrieveUnknown(
  parts: DiscoveryParts,
  id: string,
): Promise<readonly RetrievedResource[]> {
  const { payments, listFailure } = await discoverPayments(parts, { id }, undefined);
  if (payments.length > 0) return payments;
  const failed: RetrievedResource[] = listFailure === undefined ? [] : [unlisted(id, listFailure)];
  for (const kind of OTHER_KINDS) {
    const ref = { kind, id };
    const retrieved = await parts.retrieve(ref, { lane: 'operator' });
    if (retrieved.outcome === 'applied') return [{ ref, retrieved }];
    const isFailed = retrieved.outcome === 'failed' && retrieved.failure !== 'refused';
    if (isFailed) failed.push({ ref, retrieved });
  }
  return failed;
}

function unlisted(id: string, reason: string): RetrievedResource {
  return {
    ref: { kind: 'payment', id },
    retrieved: { outcome: 'failed', failure: 'unavailable', reason },
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
  'isUncertain',
] as const satisfies readonly (keyof CheckedRow)[];

/** The fields that a retrieve changed; of a resource new to the ledger, every field it has. */
export function changesOf({ before, after }: Extract<Retrieved, { readonly outcome: 'applied' }>) {
  return FIELDS.flatMap((field): readonly Change[] => {
    const [was, is] = [before?.[field] ?? null, after[field]];
    return was === is || (was === null && is === false) ? [] : [{ field, before: was, after: is }];
  });
}
