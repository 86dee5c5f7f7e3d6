/** Gauges of stored bodies, for Prometheus. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Source } from '../../platform/sources.ts';
import { readCopyState } from './store/copy.ts';
import { measurePlaces } from './store/removal.ts';

const PARTITIONS = 'tallyhook_body_partitions';
const BYTES = 'tallyhook_body_bytes';
const NOT_COPIED = 'tallyhook_body_copy_remaining_events';

export function bodiesSource(db: Queryable): Source {
  return {
    name: 'stored bodies',
    gauges: {
      [PARTITIONS]: {
        help: 'Partitions of bodies, one for each day, by state: open, packed, removed',
        labels: ['state'],
      },
      [BYTES]: {
        help: 'Bytes of stored bodies by place, with indexes: open, packed, kept, detached',
        labels: ['place'],
      },
      [NOT_COPIED]: {
        help: 'Events that the copy of bodies of an older version has not passed; new events wait half an hour',
      },
    },
    read: async () => {
      const places = await measurePlaces(db);
      const { copiedThrough, lastEventId } = await readCopyState(db);
      const days = {
        open: places.openDays,
        packed: places.packedDays,
        removed: places.removedDays,
      };
      const bytes = {
        open: places.openBytes,
        packed: places.packedBytes,
        kept: places.keptBytes,
        detached: places.detachedBytes,
      };
      return [
        ...Object.entries(days).map(([state, value]) => ({
          gauge: PARTITIONS,
          labels: { state },
          value,
        })),
        ...Object.entries(bytes).map(([place, value]) => ({
          gauge: BYTES,
          labels: { place },
          value,
        })),
        { gauge: NOT_COPIED, value: Math.max(0, lastEventId - copiedThrough) },
      ];
    },
  };
}
