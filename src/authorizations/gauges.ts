/** Gauges of authorizations, read from the database for Prometheus. */
import { CAPTURABLE_STATUSES } from '../contract/statuses.ts';
import type { Queryable } from '../platform/db/database.ts';
import { type Measurement, measurementOf, type Source } from '../platform/sources.ts';
import { measureHeld } from './store/gauges.ts';

const OPEN = 'tallyhook_authorizations_open';
const CAPTURABLE = 'tallyhook_authorizations_capturable_minor';
const NEXT_DEADLINE = 'tallyhook_authorization_next_deadline_timestamp_seconds';

export function authorizationSource(db: Queryable): Source {
  return {
    name: 'authorizations',
    gauges: {
      [OPEN]: {
        help: 'Watched authorizations that can still be captured',
        labels: ['currency'],
      },
      [CAPTURABLE]: {
        help: 'Amount of these authorizations that can still be captured, in minor units of the currency',
        labels: ['currency'],
      },
      [NEXT_DEADLINE]: {
        help: 'The next deadline of an open authorization; absent when there is none ahead',
        labels: ['currency'],
      },
    },
    read: async () => {
      const held = await measureHeld(db, [...CAPTURABLE_STATUSES]);
      return held.flatMap(
        ({ currency, authorizations, capturableMinor, nextDeadlineSeconds }): Measurement[] => [
          { gauge: OPEN, labels: { currency }, value: authorizations },
          { gauge: CAPTURABLE, labels: { currency }, value: capturableMinor },
          ...measurementOf(NEXT_DEADLINE, nextDeadlineSeconds, { currency }),
        ],
      );
    },
  };
}
