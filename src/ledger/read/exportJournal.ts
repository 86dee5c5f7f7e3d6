/**
 * The journal as a stream of text. It is read in chunks and written in the order of the chosen time, so memory
 * does not grow with it; the consumer's pace decides when the next is read.
 */
import type { Queryable } from '../../platform/db/database.ts';
import {
  csvFormat,
  type JournalFormat,
  type JournalRow,
  jsonlFormat,
} from '../domain/journalFormats.ts';
import { type JournalRange, readJournalBounds, readJournalChunk } from './store/journal.ts';
import { readAllTransfers, type TransferQuery } from './transferList.ts';

const FORMATS = { csv: csvFormat, jsonl: jsonlFormat } as const satisfies Record<
  string,
  () => JournalFormat
>;

export type JournalFormatName = keyof typeof FORMATS;
export const JOURNAL_FORMATS = Object.keys(FORMATS) as readonly JournalFormatName[];

export interface JournalExport {
  readonly format: JournalFormatName;
  readonly query: TransferQuery;
  readonly chunkRows?: number;
  /** Called after each chunk. */
  readonly onProgress?: (progress: ExportProgress) => void;
}

export interface ExportProgress {
  /** Rows written so far. */
  readonly rows: number;
  /** How many numbers of transfers were read, of how many; undefined if that is not known. */
  readonly read?: { readonly done: number; readonly total: number } | undefined;
}

const CHUNK_ROWS = 1_000;

/**
 * Writes the journal. Run it in a transaction that sees one moment (store/readConsistently.ts): otherwise
 * transfers that are committed meanwhile in what was read already are passed over.
 * @throws UndatedTransfers by effective time, while some have none
 */
export async function* exportJournal(
  tx: Queryable,
  { format: name, query, chunkRows = CHUNK_ROWS, onProgress }: JournalExport,
): AsyncGenerator<string, void, undefined> {
  const format = FORMATS[name]();
  yield format.begin();
  const chunks = chunksOf(tx, query, chunkRows);
  let written = 0;
  for await (const { rows, read } of chunks) {
    if (rows.length > 0) yield rows.map((row) => format.row(row)).join('');
    written += rows.length;
    onProgress?.({ rows: written, read });
  }
  yield format.end();
}

interface Chunk {
  readonly rows: readonly JournalRow[];
  readonly read: ExportProgress['read'];
}

function chunksOf(tx: Queryable, query: TransferQuery, chunkRows: number): AsyncIterable<Chunk> {
  const { basis, fromMicros, toMicros, ...filter } = query;
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  if (basis === 'recorded' && !isFiltered)
    return readRange(tx, { fromMicros, toMicros }, chunkRows);
  const isWhole = !isFiltered && fromMicros === undefined && toMicros === undefined;
  return readQuery(tx, query, { chunkRows, isWhole });
}

async function* readQuery(
  tx: Queryable,
  query: TransferQuery,
  { chunkRows, isWhole }: { readonly chunkRows: number; readonly isWhole: boolean },
): AsyncGenerator<Chunk, void> {
  const bounds = isWhole ? await readJournalBounds(tx, {}) : undefined;
  const total = bounds && bounds.lastId - bounds.firstId + 1;
  let done = 0;
  for await (const rows of readAllTransfers(tx, query, chunkRows)) {
    done += rows.length;
    yield { rows, read: total === undefined ? undefined : { done, total } };
  }
}

/** Every transfer of a range of recorded time. Its bounds are exact even if numbers do not rise with the time. */
async function* readRange(
  tx: Queryable,
  range: JournalRange,
  chunkRows: number,
): AsyncGenerator<Chunk, void> {
  const bounds = await readJournalBounds(tx, range);
  let afterId = bounds ? bounds.firstId - 1 : 0;
  while (bounds && afterId < bounds.lastId) {
    const { firstId, lastId } = bounds;
    const rows = await readJournalChunk(tx, { ...range, afterId, lastId, limit: chunkRows });
    afterId = rows.length < chunkRows ? lastId : (rows.at(-1)?.id ?? lastId);
    yield { rows, read: { done: afterId - firstId + 1, total: lastId - firstId + 1 } };
  }
}
