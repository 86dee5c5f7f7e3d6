/** What was archived, as JSON. */
import type { ArchivedClass, RecordedBatch } from '../archive/store/batches.ts';

export function archivedBatchJson(batch: RecordedBatch) {
  return {
    name: batch.name,
    class: batch.className,
    rows: batch.rows,
    removed: batch.removed,
    files: batch.files,
    bytes: batch.bytes,
    manifest_sha256: batch.manifestSha256,
    removed_at: batch.removedAt.toISOString(),
  };
}

export function archivedClassJson(one: ArchivedClass) {
  return {
    class: one.className,
    batches: one.batches,
    rows: one.rows,
    removed: one.removed,
    bytes: one.bytes,
    first_removed_at: one.firstRemovedAt.toISOString(),
    last_removed_at: one.lastRemovedAt.toISOString(),
  };
}
