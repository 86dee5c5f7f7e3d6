/** Requests for erasure as JSON. */
import type { ErasureRow } from '../erasure/store/erasures.ts';

export function erasureJson(row: ErasureRow) {
  return {
    number: row.id,
    subjects: row.subjects,
    reason: row.reason,
    requested_by: row.requestedBy,
    requested_at: row.requestedAt.toISOString(),
    state: row.state,
    finished_at: row.finishedAt?.toISOString() ?? null,
    bodies: row.bodies,
    texts: row.texts,
    remaining: row.remaining,
  };
}
