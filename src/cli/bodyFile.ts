/** Writes the body of an event to a file, byte for byte, so that it can be sent again. */
import { Readable } from 'node:stream';
import { Option } from 'commander';
import { describeAbsence } from '../ledger/domain/bodyAbsence.ts';
import { readEventBodies } from '../ledger/read/eventBodies.ts';
import type { Database } from '../platform/db/database.ts';
import { NotFoundError } from '../platform/errors.ts';
import { writeOutputFile } from './outputFile.ts';

export function bodyFileOption(): Option {
  return new Option('--output <file>', 'also write the body to this file, byte for byte');
}

/**
 * @param number the inbox number of the event
 * @throws NotFoundError if its body is not stored anymore
 */
export async function writeEventBody(db: Database, number: number, file: string): Promise<void> {
  const { body, absence } = (await readEventBodies(db, [number])).get(number) ?? {};
  if (body === undefined) {
    const why = describeAbsence(absence ?? { outcome: 'unexplained' });
    throw new NotFoundError(`The event ${number} has no body to write: ${why}.`);
  }
  await writeOutputFile(Readable.from([body]), file);
}
