/** Statements that seal closings. domain/seals.ts defines the terms. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Seal } from '../domain/closings.ts';

/**
 * Closings without a seal, of which the chain has every transfer. No transfer of a closing appears after it
 * (fenceJournal.ts). Its last number may be one that was rolled back, which no block ends with.
 * @param throughId the last transfer of the chain
 */
export async function readSealable(tx: Queryable, throughId: number): Promise<readonly number[]> {
  const rows = await tx.query<{ id: number }>(
    `select c.id
       from period_closings c
      where not exists (select from closing_seals s where s.closing_id = c.id)
        and not exists (select from transfers t where t.id > $1 and t.id <= c.last_transfer)
      order by c.id
      limit 100`,
    [throughId],
  );
  return rows.map(({ id }) => id);
}

export async function insertSeal(
  tx: Queryable,
  closingId: number,
  { blockNumber, blockDigest, digest, signature }: Omit<Seal, 'sealedMicros'>,
): Promise<void> {
  await tx.query(
    `insert into closing_seals (closing_id, block_number, block_digest, digest, signature)
     values ($1, $2, decode($3, 'hex'), decode($4, 'hex'), decode($5, 'hex'))`,
    [closingId, blockNumber, blockDigest, digest, signature],
  );
}
