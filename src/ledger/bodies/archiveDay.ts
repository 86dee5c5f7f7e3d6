/**
 * The bodies of a packed day as lines for the archive, and back.
 *
 * 1. Everything that the removal of the day takes is in the lines: its packs, bodies that came when the day was
 *    packed already, and further bodies under the ids of its events.
 * 2. A body comes back only to an event of the inbox with the same SHA-256, and never if it was erased, or is of a
 *    person who was. It stays for a week.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { RowLine } from '../../platform/db/rowLine.ts';
import { keysetRows } from '../../platform/keyset.ts';
import { unpack } from './readBodies.ts';
import {
  findImportable,
  insertImportedBodies,
  nameDay,
  readDayVariants,
  readLateBodies,
  readNextPack,
  type StoredVariant,
} from './store/archiveDay.ts';
import type { StoredBody } from './store/bodies.ts';
import { lockBodies } from './store/lock.ts';

/** Bodies may be large. */
const PAGE = 20;

/** @param dayNumber since 1970 */
export async function* readDayLines(db: Queryable, dayNumber: number): AsyncGenerator<RowLine> {
  const day = await nameDay(db, dayNumber);
  for await (const stored of packedBodies(db, day)) yield lineOf(day, stored);
  for await (const stored of lateBodies(db, day)) yield lineOf(day, stored);
  for await (const stored of variants(db, day)) yield lineOf(day, stored);
}

function lineOf(day: string, { id, body, sha256 }: StoredBody & Partial<StoredVariant>): RowLine {
  const variant = sha256 === undefined ? {} : { variant_sha256: sha256 };
  const row = { key: String(id), day, ...variant, body: body.toString('base64') };
  return { key: id, line: JSON.stringify(row) };
}

async function* packedBodies(db: Queryable, day: string): AsyncGenerator<StoredBody> {
  let after = 0;
  for (;;) {
    const pack = await readNextPack(db, day, after);
    const first = pack?.eventIds[0];
    if (pack === undefined || first === undefined) return;
    yield* unpack(pack);
    after = Number(first);
  }
}

function lateBodies(db: Queryable, day: string): AsyncIterable<StoredBody> {
  return keysetRows<StoredBody>(PAGE, (last, limit) =>
    readLateBodies(db, { day, after: last?.id ?? 0, limit }),
  );
}

function variants(db: Queryable, day: string): AsyncIterable<StoredVariant> {
  return keysetRows<StoredVariant>(PAGE, (last, limit) =>
    readDayVariants(db, { day, after: last ?? { id: 0, sha256: '' }, limit }),
  );
}

/** A body that can come back, and when it was received. */
export interface ImportableBody extends StoredBody {
  readonly receivedAt: Date;
}

/**
 * Brings bodies back (rule 2).
 * @param eraseSome erases bodies of people who were erased, in the transaction; @returns their events
 * @returns how many
 */
export async function importBodies(
  tx: Queryable,
  rows: readonly RowLine[],
  eraseSome: (tx: Queryable, bodies: readonly ImportableBody[]) => Promise<ReadonlySet<number>>,
): Promise<number> {
  const bodies = rows.flatMap(({ key, line }) => {
    const { body, variant_sha256: variant } = JSON.parse(line) as {
      readonly body?: unknown;
      readonly variant_sha256?: unknown;
    };
    const isBody = typeof body === 'string' && variant === undefined;
    return isBody ? [{ id: key, body: Buffer.from(body, 'base64') }] : [];
  });
  await lockBodies(tx);
  const importable = (await findImportable(tx, bodies)).flatMap(({ place, receivedAt }) => {
    const found = bodies[place];
    return found ? [{ ...found, receivedAt }] : [];
  });
  const erased = await eraseSome(tx, importable);
  return await insertImportedBodies(
    tx,
    importable.filter(({ id }) => !erased.has(id)),
  );
}
