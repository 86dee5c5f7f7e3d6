import type { Queryable } from '../../../platform/db/database.ts';

/**
 * Locks everything that moves bodies, until the end of the transaction: packing, the copy of older rows,
 * removal and erasure. Each reads a body in one place and writes it to another, so that two at once could
 * bring back a body that one of them erased. Receiving and reading events take no such lock.
 */
export async function lockBodies(tx: Queryable): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('tallyhook bodies'))`);
}
