/**
 * The switch that pauses reconciliation: while it is on, nothing asks the service or tells it
 * anything on its own. Webhooks are received and applied all the same, and people may still ask.
 */
import type { Queryable } from '../platform/db/database.ts';
import { readPause } from './store/pauses.ts';

/** Asked before each piece of work, so that a pause takes hold within one. */
export async function isPaused(db: Queryable): Promise<boolean> {
  return (await readPause(db)) !== undefined;
}
