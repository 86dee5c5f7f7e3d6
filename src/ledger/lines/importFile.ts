/**
 * Imports a file of settlement or bank lines: stores the lines that are not stored, posts them, and matches
 * what can be matched. All of it is one transaction, so a file is imported whole or not at all, and a process
 * that is killed leaves nothing. One import runs at a time.
 */
import { hash } from 'node:crypto';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { identityOf, type Line, lineKindOf, lineTransfers } from '../domain/lines.ts';
import { insertTransfers } from '../store/journal.ts';
import { matchOpenLines } from './matchOpenLines.ts';
import {
  countFile,
  createStage,
  type FileCounts,
  findConflict,
  findFile,
  insertFile,
  type LineConflict,
  lockSettlement,
  type NewFile,
  readLinesOfFile,
  stageLines,
  storeStage,
} from './store/lines.ts';

/** Lines in pieces, and how many entries of the file are not imported. */
export type LinePieces = AsyncIterable<{
  readonly lines: readonly Line[];
  readonly ignored: number;
}>;

export interface ImportedFile extends FileCounts {
  readonly file: number;
  /** Lines that this import matched, older ones included. */
  readonly matched: number;
  readonly transfers: number;
}

export type Imported =
  | ({ readonly outcome: 'imported' } & ImportedFile)
  /** The same bytes were imported before. Lines are matched with what was applied since. */
  | { readonly outcome: 'known'; readonly file: number; readonly matched: number }
  /** The service or bank numbers its lines, and a number has other content than before. */
  | { readonly outcome: 'conflict'; readonly conflict: LineConflict };

const LINES_AT_ONCE = 1_000;

/** SHA-256 of what identifies a line, in hexadecimal. */
export function lineDigest(content: Parameters<typeof identityOf>[0]): string {
  return hash('sha256', identityOf(content), 'hex');
}

/** @param record called in the transaction of an import that stores something */
export async function importFile(
  db: Database,
  { file, pieces }: { readonly file: NewFile; readonly pieces: LinePieces },
  record: (tx: Queryable, imported: ImportedFile) => Promise<void>,
): Promise<Imported> {
  return await db.transaction(async (tx): Promise<Imported> => {
    await lockSettlement(tx);
    const known = await findFile(tx, file);
    if (known !== undefined) {
      return { outcome: 'known', file: known, matched: await matchOpenLines(tx) };
    }
    const staged = await stage(tx, pieces);
    const conflict = await findConflict(tx, file.source);
    if (conflict) return { outcome: 'conflict', conflict };
    const fileId = await insertFile(tx, file);
    const newLines = await storeStage(tx, { fileId, source: file.source });
    const counts = { ...staged, newLines };
    await countFile(tx, fileId, counts);
    const transfers = await postLines(tx, fileId);
    const matched = await matchOpenLines(tx);
    const imported = { file: fileId, ...counts, matched, transfers };
    await record(tx, imported);
    return { outcome: 'imported', ...imported };
  });
}

async function stage(tx: Queryable, pieces: LinePieces): Promise<Omit<FileCounts, 'newLines'>> {
  await createStage(tx);
  let [lines, ignored] = [0, 0];
  for await (const piece of pieces) {
    ignored += piece.ignored;
    lines += piece.lines.length;
    for (let start = 0; start < piece.lines.length; start += LINES_AT_ONCE) {
      const some = piece.lines.slice(start, start + LINES_AT_ONCE);
      await stageLines(
        tx,
        some.map((line) => ({ ...line, digest: lineDigest(line) })),
      );
    }
  }
  return { lines, ignored };
}

/** @returns how many transfers were posted */
async function postLines(tx: Queryable, fileId: number): Promise<number> {
  let [afterId, posted] = [0, 0];
  for (;;) {
    const lines = await readLinesOfFile(tx, { fileId, afterId, limit: LINES_AT_ONCE });
    const last = lines.at(-1);
    if (!last) return posted;
    afterId = last.id;
    const transfers = lines.flatMap((line) =>
      lineTransfers(line, undefined, {}).map((transfer) => ({
        ...transfer,
        ref: { kind: lineKindOf(line.type), id: String(line.id) },
        webhookEventId: undefined,
      })),
    );
    if (transfers.length > 0) await insertTransfers(tx, transfers);
    posted += transfers.length;
  }
}
