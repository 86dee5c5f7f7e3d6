/** Writes the text of transfers to the file that an operator named, or to standard output. */
import { Readable } from 'node:stream';
import type { ExportProgress } from '../ledger/read/exportJournal.ts';
import { readConsistently } from '../ledger/store/readConsistently.ts';
import { counted } from '../platform/counted.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { printNote } from './invocation.ts';
import { writeOutput } from './outputFile.ts';
import { type Show, withProgress } from './progress.ts';

/** @returns the number of transfers */
export async function writeTransfers(
  db: Database,
  output: string | undefined,
  textOf: (tx: Queryable, onProgress: (progress: ExportProgress) => void) => AsyncIterable<string>,
): Promise<number> {
  let rows = 0;
  const write = (show: Show) =>
    readConsistently(db, (tx) => {
      const onProgress = (progress: ExportProgress) => {
        ({ rows } = progress);
        show({ phase: 'transfers', ...(progress.read ?? { done: rows, total: 0 }) });
      };
      return writeOutput(Readable.from(textOf(tx, onProgress)), output);
    });
  if (output === undefined) {
    // It may be a pipe to a program that prints its own progress.
    await write(() => undefined);
  } else {
    await withProgress(write);
    printNote(`${counted(rows, 'transfer')} written to ${output}`);
  }
  return rows;
}
