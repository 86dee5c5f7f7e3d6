/** Erases personal data from resources and their snapshots. Status and money stay as they are. */
import type { Queryable } from '../platform/db/database.ts';
import { contentHash } from './contentHash.ts';
import { eraseContent, eraseTexts } from './domain/erasedContent.ts';
import type { ResourceRef } from './domain/snapshot.ts';
import { lockWithOrders } from './lockWithOrders.ts';
import { readResourceTexts, redactSnapshots, updateResourceTexts } from './store/erasure.ts';
import { readSnapshots } from './store/snapshots.ts';

/**
 * Erases in the caller's transaction, which locks the resources after their orders.
 * @param eraseValues removes the values of the person from a text
 * @returns in how many snapshots text was replaced
 * @throws LockSetChanged if the caller must retry the transaction
 */
export async function eraseResources(
  tx: Queryable,
  refs: readonly ResourceRef[],
  eraseValues: (text: string) => string,
): Promise<number> {
  // Otherwise a worker could fold the snapshots of before, and write their texts back.
  await lockWithOrders(tx, refs);
  const redacted = (await readSnapshots(tx, refs)).flatMap(
    ({ ref, epoch, contentHash: hash, content }) => {
      const left = eraseContent(content, eraseValues);
      if (left === undefined) return [];
      return [{ ...ref, epoch, contentHash: hash, content: left, redactedHash: contentHash(left) }];
    },
  );
  if (redacted.length > 0) await redactSnapshots(tx, redacted);
  const resources = await readResourceTexts(tx, refs);
  await updateResourceTexts(
    tx,
    resources.map((resource) => ({ ...resource, texts: eraseTexts(resource.texts, eraseValues) })),
  );
  return redacted.length;
}
