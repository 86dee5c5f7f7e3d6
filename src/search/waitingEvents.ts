/** That an id is unknown may only mean that its event waits to be applied. */
import { measureInbox } from '../ledger/gauges.ts';
import { counted } from '../platform/counted.ts';
import type { Queryable } from '../platform/db/database.ts';

/** How many events wait, of which an unknown id may be; undefined if none waits. */
export async function waitingEventsText(db: Queryable): Promise<string | undefined> {
  const { pending } = await measureInbox(db);
  if (pending === 0) return undefined;
  return pending === 1
    ? '1 event waits to be applied, and it may be of this one.'
    : `${counted(pending, 'event')} wait to be applied, and it may be of one of them.`;
}
