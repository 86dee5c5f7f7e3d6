/** A snapshot of a resource as JSON. */
import { formatInstant } from '../ledger/domain/time.ts';
import type { ListedSnapshot } from '../ledger/read/resourceSnapshots.ts';
import { fieldName } from './fieldName.ts';

export function snapshotJson(snapshot: ListedSnapshot) {
  const { snapshotId, source, inboxId, eventId, eventType, isCurrent } = snapshot;
  return {
    snapshot_id: snapshotId,
    source,
    event_number: inboxId ?? null,
    event_id: eventId ?? null,
    event_type: eventType ?? null,
    is_current: isCurrent,
    recorded_at: formatInstant(snapshot.recordedMicros),
    content: Object.fromEntries(
      Object.entries(snapshot.content).map(([name, value]) => [fieldName(name), value]),
    ),
  };
}
