/** The page of an id that the ledger does not have. */
import type { Queryable } from '../../platform/db/database.ts';
import { waitingEventsText } from '../../search/waitingEvents.ts';
import { inboxHref } from '../links.ts';
import type { Problem } from '../page.ts';

/** @param message that it is unknown, and why that may be */
export async function unknownSubject(db: Queryable, message: string): Promise<Problem> {
  const waiting = await waitingEventsText(db);
  if (waiting === undefined) return { outcome: 'not_found', message };
  const about = { label: 'Pending events', href: inboxHref({ state: 'pending' }) };
  return { outcome: 'not_found', message: `${message} ${waiting}`, about };
}
