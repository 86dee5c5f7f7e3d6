/** Imports settlement reports and bank statements for an operator. */
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import { addSums, type LineSums } from '../ledger/domain/lines.ts';
import { type Imported, importFile } from '../ledger/lines/importFile.ts';
import type { Database } from '../platform/db/database.ts';
import { type FileEnd, readLines } from '../settlement/readLines.ts';
import type { Source } from '../settlement/sourceFile.ts';

/** What a file has, before anything is stored. */
export interface ExaminedFile {
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly digest: string;
  readonly lines: number;
  readonly ignored: number;
  readonly sums: LineSums;
  /** Whether its last statement is continued on a page that another file must have. */
  readonly isContinued: boolean;
}

/**
 * Reads a whole file, so that one with a mistake is refused before anything is stored.
 * @throws FileProblem
 */
export async function examineFile(path: string, source: Source): Promise<ExaminedFile> {
  let end: FileEnd = { digest: '', isContinued: false };
  let [lines, ignored] = [0, 0];
  let sums: LineSums = new Map();
  const pieces = readLines(bytesOf(path), source, (read) => {
    end = read;
  });
  for await (const piece of pieces) {
    lines += piece.lines.length;
    ignored += piece.ignored;
    sums = addSums(sums, piece.lines);
  }
  return { ...end, lines, ignored, sums };
}

/** The bytes of a file. It is opened once they are read, which is never for one that is known. */
async function* bytesOf(path: string): AsyncGenerator<Uint8Array, void> {
  yield* createReadStream(path);
}

/** The file was written to between two readings. */
export class FileChanged extends Error {
  override readonly name = 'FileChanged';
}

export interface ImportRequest {
  readonly path: string;
  readonly source: Source;
  readonly examined: ExaminedFile;
}

/** @throws FileChanged, FileProblem; then nothing is stored */
export function importSettlementAs(
  { db }: { readonly db: Database },
  actor: Actor,
  { path, source, examined }: ImportRequest,
): Promise<Imported> {
  const { digest, lines, ignored } = examined;
  const name = basename(path);
  const pieces = readLines(bytesOf(path), source, (read) => {
    if (read.digest !== digest) throw new FileChanged(`${path} changed while it was read`);
  });
  const file = { source: source.name, format: source.format, name, digest, importedBy: actor.name };
  return importFile(db, { file, counts: { lines, ignored }, pieces }, (tx, imported) =>
    recordAudit(tx, {
      actor,
      action: 'settlement.import',
      subject: { kind: 'settlement_file', id: String(imported.file) },
      detail: {
        source: source.name,
        name,
        digest,
        lines: imported.lines,
        new_lines: imported.newLines,
        matched: imported.matched,
        transfers: imported.transfers,
      },
    }),
  );
}
