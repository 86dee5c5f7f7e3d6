/** Up to which number retention removed rows of the inbox. */
import type { Queryable } from '../../platform/db/database.ts';

/** 0 if it removed none. Rows of smaller numbers may still be there. */
export async function readRemovedThrough(db: Queryable): Promise<number> {
  const [row] = await db.query<{ through: number | null }>(
    `select removed_through as through from retention_state where class = 'events'`,
  );
  return row?.through ?? 0;
}
