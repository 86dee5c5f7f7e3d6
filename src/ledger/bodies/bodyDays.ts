/** Partitions of bodies are made ahead, because an event without one cannot be persisted. */
import type { Queryable } from '../../platform/db/database.ts';
import { isContended } from '../../platform/db/failures.ts';
import type { Log } from '../../platform/log.ts';
import { ensureBodyDays } from './store/days.ts';

/** A scheduler may be down for a week before intake has to make a partition itself. */
const BODY_DAYS_AHEAD = 7;

/** Makes the partitions of today and of the next days. A lock that something else holds is left to the next call. */
export async function makeBodyDays(db: Queryable, log: Log): Promise<void> {
  try {
    const made = await ensureBodyDays(db, BODY_DAYS_AHEAD);
    if (made > 0) log.info({ days: made }, 'bodies.days_made');
  } catch (error) {
    if (!isContended(error)) throw error;
    log.warn({ error }, 'bodies.days_locked');
  }
}
