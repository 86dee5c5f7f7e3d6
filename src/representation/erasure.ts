/** Requests for erasure as JSON. */
import type { ErasureProof, ErasureRow } from '../erasure/store/erasures.ts';

export function erasureJson(row: ErasureRow) {
  return {
    number: row.id,
    subjects: [...row.subjects],
    reason: row.reason,
    requested_by: row.requestedBy,
    requested_at: row.requestedAt.toISOString(),
    state: row.state,
    finished_at: row.finishedAt?.toISOString() ?? null,
    bodies: row.bodies,
    texts: row.texts,
    remaining: row.remaining,
    proof: row.proof && proofJson(row.proof),
  };
}

function proofJson({ places, events, unreadable_tables, to_vacuum }: ErasureProof) {
  return {
    places: places.map(({ table, rows }) => ({ table, rows })),
    events: [...events],
    unreadable_tables: [...unreadable_tables],
    to_vacuum: [...to_vacuum],
  };
}
