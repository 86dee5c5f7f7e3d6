/** Lines of a settlement report and a bank statement. */
import { expect } from 'vitest';
import type { Line } from '../../src/ledger/domain/lines.ts';
import { importFile, type LinePieces } from '../../src/ledger/lines/importFile.ts';
import { FILE_FORMATS, type FileFormat } from '../../src/ledger/lines/store/lines.ts';
import type { Database } from '../../src/platform/db/database.ts';

/**
 * Imports a settlement of two lines, and a bank line.
 * @param text of the bank line; with the reference ST-1, it is about the settlement, of which it has 0.05 more
 */
export async function importLines(db: Database, text = 'ST-1'): Promise<void> {
  const money = { fileLine: 2, day: '2026-11-03', currency: 'USD', feeMinor: 0, text: undefined };
  const line = { ...money, settlement: 'ST-1', reference: undefined, lineReference: undefined };
  const files: Readonly<Record<FileFormat, readonly Line[]>> = {
    csv: [
      { ...line, type: 'fee', grossMinor: 0, feeMinor: 30 },
      { ...line, type: 'adjustment', grossMinor: 100 },
    ],
    mt940: [{ ...line, settlement: undefined, type: 'bank', grossMinor: 75, text }],
    'camt.053': [],
  };
  for (const [place, format] of FILE_FORMATS.entries()) {
    await importNew(db, { format, digest: `0${place}`.repeat(32) }, files[format]);
  }
}

/** Imports a file with one more bank line. */
export async function importBankLine(db: Database, grossMinor: number): Promise<void> {
  const line: Line = {
    fileLine: 2,
    day: '2026-11-04',
    currency: 'USD',
    type: 'bank',
    grossMinor,
    feeMinor: 0,
    settlement: undefined,
    reference: undefined,
    lineReference: undefined,
    text: undefined,
  };
  await importNew(db, { format: 'mt940', digest: 'ff'.repeat(32) }, [line]);
}

async function importNew(
  db: Database,
  { format, digest }: { readonly format: FileFormat; readonly digest: string },
  lines: readonly Line[],
): Promise<void> {
  const file = { source: 'acme', format, name: 'file', digest, importedBy: 'ada' };
  const counts = { lines: lines.length, ignored: 0 };
  const request = { file, counts, pieces: inOnePiece(lines) };
  const imported = await importFile(db, request, () => Promise.resolve());
  expect(imported).toMatchObject({ outcome: 'imported', newLines: lines.length });
}

async function* inOnePiece(lines: readonly Line[]): LinePieces {
  yield await Promise.resolve({ lines, ignored: 0 });
}
