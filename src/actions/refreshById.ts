/** Retrieves what an id names, for an operator. */
import type { Actor } from '../audit/domain/actor.ts';
import type { AuditSubject } from '../audit/domain/entry.ts';
import { recordAttempt } from '../audit/recordAudit.ts';
import type { AuthorizationCheck } from '../authorizations/checkAuthorizations.ts';
import type { ResourceKind } from '../contract/resources/index.ts';
import { type ResourceRef, refKey } from '../ledger/domain/snapshot.ts';
import { orderKeyOfSubject } from '../ledger/read/orderOfSubject.ts';
import type { DiscoveryParts, RetrievedResource } from '../reconcile/discoverPayments.ts';
import { findNamedResources, retrieveUnknown } from '../reconcile/refreshById.ts';

export interface RefreshParts {
  readonly discovery: DiscoveryParts;
  readonly check: AuthorizationCheck;
}

export interface RefreshInput {
  readonly id: string;
  /** Names a resource that need not be in the ledger. */
  readonly kind: ResourceKind | undefined;
}

/**
 * Retrieves and applies what the ledger knows by the id; where that is nothing, what the service knows.
 * @returns nothing where neither knows the id
 */
export async function refreshByIdAs(
  { discovery, check }: RefreshParts,
  actor: Actor,
  { id, kind }: RefreshInput,
): Promise<readonly RetrievedResource[]> {
  const { db } = discovery;
  const refs = await findNamedResources(db, id, kind);
  const [first] = refs;
  const intent = {
    actor,
    action: 'resource.refresh',
    subject: subjectOf(id, refs),
    orderKey: first ? await orderKeyOfSubject(db, refKey(first)) : null,
  } as const;
  return await recordAttempt(db, intent, async () => {
    const retrieved = await retrieveAll(discovery, id, refs);
    for (const {
      ref,
      retrieved: { outcome },
    } of retrieved) {
      if (ref.kind === 'payment') await check.checkOne(ref.id, outcome === 'applied');
    }
    const resources = retrieved.map(({ ref, retrieved: { outcome } }) => ({ ...ref, outcome }));
    const isApplied = resources.every(({ outcome }) => outcome === 'applied');
    return {
      value: retrieved,
      result: isApplied && resources.length > 0 ? 'done' : 'failed',
      detail: { resources },
    };
  });
}

/** One resource, or the order that the id names; `id` where the ledger knows neither. */
function subjectOf(id: string, refs: readonly ResourceRef[]): AuditSubject {
  const [first, second] = refs;
  if (first && !second) return { kind: first.kind, id: first.id };
  return { kind: first ? 'order' : 'id', id };
}

async function retrieveAll(
  discovery: DiscoveryParts,
  id: string,
  refs: readonly ResourceRef[],
): Promise<readonly RetrievedResource[]> {
  if (refs.length === 0) return await retrieveUnknown(discovery, id);
  const all: RetrievedResource[] = [];
  for (const ref of refs) {
    all.push({ ref, retrieved: await discovery.retrieve(ref, { lane: 'operator' }) });
  }
  return all;
}
