/** The latest slot of each schedule, for Prometheus. */
import type { Queryable } from '../platform/db/database.ts';
import type { Source } from '../platform/sources.ts';
import { readSlots } from './store/slots.ts';

const SLOT = 'tallyhook_schedule_slot_timestamp_seconds';

export function schedulerSource(db: Queryable): Source {
  return {
    name: 'schedules',
    gauges: {
      [SLOT]: {
        help: 'The latest slot of each schedule that a scheduler claimed',
        labels: ['schedule'],
      },
    },
    read: async () => {
      const slots = await readSlots(db);
      return slots.map(({ schedule, at }) => ({
        gauge: SLOT,
        labels: { schedule },
        value: at.getTime() / 1000,
      }));
    },
  };
}
