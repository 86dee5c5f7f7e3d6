/** Erases the bodies of single events, for the erasure of a person. */
import { groupBy } from '../../platform/collections.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { readBodyKeys } from './store/bodies.ts';
import {
  eraseInlineBodies,
  eraseKeptBodies,
  eraseOpenBodies,
  erasePackedBodies,
  eraseVariants,
  readDetachedOf,
} from './store/erasing.ts';
import { lockBodies } from './store/lock.ts';
import { dropDetachedPartition } from './store/packing.ts';

/**
 * Erases the bodies of events wherever they are: open, packed, kept, in the column of an older version,
 * and further bodies under their ids. Idempotent. Detached partitions of their days are dropped at once:
 * what was detached was compared before, and they would keep the bodies for up to two days.
 *
 * Until vacuum, the file system still has the bytes; no statement can read them.
 * @returns of how many events it erased a body
 */
export async function eraseBodies(tx: Queryable, ids: readonly number[]): Promise<number> {
  await lockBodies(tx);
  const erased = new Set<number>();
  const add = (bodies: readonly { readonly id: number }[]) => {
    for (const { id } of bodies) erased.add(id);
  };
  add(await eraseOpenBodies(tx, ids));
  const dated = (await readBodyKeys(tx, ids)).flatMap(({ id, bodyDay }) =>
    bodyDay === null ? [] : { id, bodyDay },
  );
  for (const [day, own] of groupBy(dated, ({ bodyDay }) => bodyDay)) {
    add(
      await erasePackedBodies(
        tx,
        day,
        own.map(({ id }) => id),
      ),
    );
  }
  for (const erase of [eraseKeptBodies, eraseInlineBodies, eraseVariants]) {
    add(await erase(tx, ids));
  }
  for (const name of await readDetachedOf(tx, ids)) await dropDetachedPartition(tx, name, true);
  return erased.size;
}
