/**
 * Pausing reconciliation: no background request is sent to the service. Webhooks are received and
 * applied all the same, and commands of people still send requests.
 */
import type { Queryable } from '../platform/db/database.ts';
import { readPause } from './store/pauses.ts';

/** Checked before each unit of work, so that a pause takes effect within one. */
export async function isPaused(db: Queryable): Promise<boolean> {
  return (await readPause(db)) !== undefined;
}
