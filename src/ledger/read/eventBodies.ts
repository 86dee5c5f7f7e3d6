/** The bodies of events, or why they have none. */
import type { Queryable } from '../../platform/db/database.ts';
import { explainAbsences, readBodies } from '../bodies/readBodies.ts';
import { readBodyKeys } from '../bodies/store/bodies.ts';
import type { BodyAbsence } from '../domain/bodyAbsence.ts';

export interface EventBody {
  readonly body: Buffer | undefined;
  /** Why there is no body. */
  readonly absence: BodyAbsence | undefined;
}

/** @param numbers inbox numbers of a few events */
export async function readEventBodies(
  db: Queryable,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, EventBody>> {
  const wanted = [...new Set(numbers)];
  const keys = await readBodyKeys(db, wanted);
  const bodies = await readBodies(db, keys);
  const absent = keys.filter(({ id }) => !bodies.has(id));
  const absences = absent.length > 0 ? await explainAbsences(db, absent) : undefined;
  return new Map(
    wanted.map((number): [number, EventBody] => [
      number,
      { body: bodies.get(number), absence: absences?.get(number) },
    ]),
  );
}
