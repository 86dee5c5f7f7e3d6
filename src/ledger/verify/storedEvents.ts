/** Stored events with their bodies, as far as these still exist. */
import { hash } from 'node:crypto';
import type { Queryable } from '../../platform/db/database.ts';
import { explainAbsences, readBodies } from '../bodies/readBodies.ts';
import type { BodyAbsence } from '../domain/bodyAbsence.ts';
import { readHeaders, type StoredHeader } from '../store/verifyInbox.ts';

/** The body of an event as it is found. */
export type FoundBody =
  | { readonly outcome: 'intact'; readonly body: Buffer }
  /** It differs from the one that was received. */
  | { readonly outcome: 'damaged' }
  | { readonly outcome: 'absent'; readonly absence: BodyAbsence };

export type StoredEvent<Header extends StoredHeader = StoredHeader> = Header & {
  readonly found: FoundBody;
};

/** Adds to each event its body, or why it has none. */
export async function findBodies<Header extends StoredHeader>(
  tx: Queryable,
  headers: readonly Header[],
): Promise<readonly StoredEvent<Header>[]> {
  const bodies = await readBodies(tx, headers);
  const absent = headers.filter(({ id }) => !bodies.has(id));
  const absences = absent.length > 0 ? await explainAbsences(tx, absent) : new Map();
  return headers.map((header) => {
    const body = bodies.get(header.id);
    const absence = absences.get(header.id) ?? { outcome: 'unexplained' };
    return { ...header, found: body ? compare(body, header) : { outcome: 'absent', absence } };
  });
}

function compare(body: Buffer, { bodyHash }: StoredHeader): FoundBody {
  return hash('sha256', body, 'buffer').equals(bodyHash)
    ? { outcome: 'intact', body }
    : { outcome: 'damaged' };
}

/** Named events, in no particular order; those that do not exist are missing. */
export async function readEvents(
  tx: Queryable,
  ids: readonly number[],
): Promise<readonly StoredEvent[]> {
  return await findBodies(tx, await readHeaders(tx, ids));
}
