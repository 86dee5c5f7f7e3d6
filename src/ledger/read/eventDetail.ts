/** Everything that is kept of one event. */
import type { Queryable } from '../../platform/db/database.ts';
import { explainAbsences, readBodies } from '../bodies/readBodies.ts';
import type { BodyAbsence } from '../domain/bodyAbsence.ts';
import { type EventRow, readEventRow } from './store/parts.ts';

export interface EventDetail extends Pick<EventRow, 'variants' | 'findings'> {
  /** The body, or why there is none anymore. */
  readonly body: Buffer | BodyAbsence;
}

export async function readEventDetail(db: Queryable, id: number): Promise<EventDetail | undefined> {
  const row = await readEventRow(db, id);
  if (!row) return undefined;
  const { variants, findings } = row;
  const body = (await readBodies(db, [row])).get(id) ?? (await explainAbsences(db, [row])).get(id);
  return { body: body ?? { outcome: 'unexplained' }, variants, findings };
}
