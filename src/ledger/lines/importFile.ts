/**
 * Imports a file of settlement or bank lines: stores the lines that are not stored, posts them, and matches
 * what can be matched. All of it is one transaction, so a file is imported whole or not at all, and a process
 * that is killed leaves nothing. One import runs at a time.
 *
 * The same bytes are one file, however often they are imported. A corrected source file can find more lines in
 * them, which are added to the file.
 *
 * 1. A statement is known if all its lines are stored: its source file selects lines, and changes none.
 * 2. A report is known if it has as many lines and ignored rows as before. Its source file also declares what a
 *    row contains, so a changed one would store each row a second time, with its fee.
 * 3. A report with more or fewer lines adds what is not stored, unless a row that it has stored has other content
 *    now. Then nothing is imported, for the same reason.
 */
import { hash } from 'node:crypto';
import { inChunks } from '../../platform/collections.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { keysetPages } from '../../platform/keyset.ts';
import { identityOf, type Line, lineKindOf, lineTransfers } from '../domain/lines.ts';
import { insertTransfers } from '../store/journal.ts';
import { matchOpenLines } from './matchOpenLines.ts';
import {
  countFile,
  createStage,
  type FileCounts,
  findChangedRow,
  findConflict,
  findFile,
  insertFile,
  type KnownFile,
  type LineConflict,
  lockSettlement,
  type NewFile,
  readLinesOfFile,
  type StoredLine,
  stageLines,
  storeStage,
} from './store/lines.ts';

/** Lines in pieces, and how many entries of the file are not imported. */
export type LinePieces = AsyncIterable<{
  readonly lines: readonly Line[];
  readonly ignored: number;
}>;

/** What a file has, before it is imported. */
export type ReadCounts = Omit<FileCounts, 'newLines'>;

export interface ImportedFile extends FileCounts {
  readonly file: number;
  /** Lines that this import matched, older ones included. */
  readonly matched: number;
  readonly transfers: number;
}

export type Imported =
  | ({ readonly outcome: 'imported' } & ImportedFile)
  /** The same bytes were imported before, and nothing is to add. Lines are matched with what was applied since. */
  | { readonly outcome: 'known'; readonly file: number; readonly matched: number }
  /** The service or bank numbers its lines, and a number has other content than before. */
  | { readonly outcome: 'conflict'; readonly conflict: LineConflict }
  /** The same bytes were imported before, and a row has other content than then (rule 3). */
  | { readonly outcome: 'changed'; readonly file: number; readonly fileLine: number };

const LINES_AT_ONCE = 1_000;

/** SHA-256 of what identifies a line, in hexadecimal. */
export function lineDigest(content: Parameters<typeof identityOf>[0]): string {
  return hash('sha256', identityOf(content), 'hex');
}

export interface ImportRequest {
  readonly file: NewFile;
  readonly counts: ReadCounts;
  readonly pieces: LinePieces;
}

/** @param record called in the transaction of an import that stores something */
export async function importFile(
  db: Database,
  { file, counts, pieces }: ImportRequest,
  record: (tx: Queryable, imported: ImportedFile) => Promise<void>,
): Promise<Imported> {
  return await db.transaction(async (tx): Promise<Imported> => {
    await lockSettlement(tx);
    const known = await findFile(tx, file);
    if (known && isKnownReport(file, known, counts)) return await matchOnly(tx, known);
    await stage(tx, pieces);
    const refused = await findRefusal(tx, file, known);
    if (refused) return refused;
    const fileId = known?.id ?? (await insertFile(tx, file));
    const { newLines, afterId } = await storeStage(tx, { fileId, source: file.source });
    if (known && newLines === 0) return await matchOnly(tx, known);
    await countFile(tx, fileId, countsWith(newLines, counts, known));
    const transfers = await postLines(tx, { fileId, afterId });
    const matched = await matchOpenLines(tx);
    const imported = { file: fileId, ...counts, newLines, matched, transfers };
    await record(tx, imported);
    return { outcome: 'imported', ...imported };
  });
}

/** Rule 2. */
function isKnownReport({ format }: NewFile, known: KnownFile, counts: ReadCounts): boolean {
  const hasSameCounts = known.lines === counts.lines && known.ignored === counts.ignored;
  return format === 'csv' && hasSameCounts;
}

async function matchOnly(tx: Queryable, { id }: KnownFile): Promise<Imported> {
  return { outcome: 'known', file: id, matched: await matchOpenLines(tx) };
}

async function findRefusal(
  tx: Queryable,
  { source }: NewFile,
  known: KnownFile | undefined,
): Promise<Imported | undefined> {
  const fileLine = known && (await findChangedRow(tx, known.id));
  if (known && fileLine !== undefined) return { outcome: 'changed', file: known.id, fileLine };
  const conflict = await findConflict(tx, source);
  return conflict && { outcome: 'conflict', conflict };
}

/** The counts of a file to which lines are added. A source file may select others than it did before. */
function countsWith(
  newLines: number,
  { lines, ignored }: ReadCounts,
  known: KnownFile | undefined,
): FileCounts {
  const storedLines = (known?.newLines ?? 0) + newLines;
  const allLines = Math.max(lines, storedLines);
  return { lines: allLines, newLines: storedLines, ignored: lines + ignored - allLines };
}

async function stage(tx: Queryable, pieces: LinePieces): Promise<void> {
  await createStage(tx);
  for await (const { lines } of pieces) {
    for (const batch of inChunks(lines, LINES_AT_ONCE)) {
      await stageLines(
        tx,
        batch.map((line) => ({ ...line, digest: lineDigest(line) })),
      );
    }
  }
}

/** @param afterId the lines behind it are new @returns how many transfers were posted */
async function postLines(
  tx: Queryable,
  stored: { readonly fileId: number; readonly afterId: number },
): Promise<number> {
  const { fileId, afterId } = stored;
  const pages = keysetPages<StoredLine>(LINES_AT_ONCE, (last, limit) =>
    readLinesOfFile(tx, { fileId, afterId: last?.id ?? afterId, limit }),
  );
  let posted = 0;
  for await (const lines of pages) {
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
  return posted;
}
