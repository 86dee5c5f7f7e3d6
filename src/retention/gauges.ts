/** Gauges of retention for Prometheus. */
import type { Queryable } from '../platform/db/database.ts';
import type { Source } from '../platform/sources.ts';
import { SECOND_MS } from '../platform/time.ts';
import { readStates } from './store/state.ts';

const REMOVED = 'tallyhook_retention_removed_rows';
const BEHIND = 'tallyhook_retention_behind_seconds';

export function retentionSource(db: Queryable): Source {
  const labels = ['class'];
  return {
    name: 'retention',
    gauges: {
      [REMOVED]: { help: 'Rows that retention has removed since it began', labels },
      [BEHIND]: { help: 'Time since retention last had nothing left to remove', labels },
    },
    read: async () => {
      const states = await readStates(db);
      return states.flatMap(({ name, removedRows, behindMs }) => [
        { gauge: REMOVED, labels: { class: name }, value: removedRows },
        { gauge: BEHIND, labels: { class: name }, value: Math.max(0, behindMs / SECOND_MS) },
      ]);
    },
  };
}
