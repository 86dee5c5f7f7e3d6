/**
 * The journal as a stream of text. It is read in chunks by the number of its rows and written in
 * their order, so memory does not grow with it; the consumer's pace decides when the next is read.
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

export type { JournalRange } from './store/journal.ts';

const FORMATS = { csv: csvFormat, jsonl: jsonlFormat } as const satisfies Record<
  string,
  () => JournalFormat
>;

export type JournalFormatName = keyof typeof FORMATS;
export const JOURNAL_FORMATS = Object.keys(FORMATS) as readonly JournalFormatName[];

export interface JournalExport {
  readonly format: JournalFormatName;
  readonly range: JournalRange;
  /** Undefined: every transfer of the range. */
  readonly filter?: ExportFilter | undefined;
  readonly chunkRows?: number;
  /** Called after each chunk. */
  readonly onProgress?: (progress: ExportProgress) => void;
}

export interface ExportProgress {
  /** Rows written so far. */
  readonly rows: number;
  /** How many numbers of transfers were read, of how many; undefined with a filter. */
  readonly read: { readonly done: number; readonly total: number } | undefined;
}

/** A filter of the list of transfers, without its times. */
export type ExportFilter = Omit<TransferQuery, 'fromMicros' | 'toMicros'>;

const CHUNK_ROWS = 1_000;

/**
 * Writes the journal. Run it in a transaction that sees one moment (store/readConsistently.ts): otherwise
 * transfers that are committed meanwhile with a lower number are passed over.
 */
export async function* exportJournal(
  tx: Queryable,
  { format: name, range, filter, chunkRows = CHUNK_ROWS, onProgress }: JournalExport,
): AsyncGenerator<string, void, undefined> {
  const format = FORMATS[name]();
  yield format.begin();
  const chunks =
    filter === undefined
      ? readRange(tx, range, chunkRows)
      : unmeasured(readAllTransfers(tx, { ...filter, ...range }, chunkRows));
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

async function* unmeasured(
  chunks: AsyncIterable<readonly JournalRow[]>,
): AsyncGenerator<Chunk, void> {
  for await (const rows of chunks) yield { rows, read: undefined };
}

/** Every transfer of a range. Its bounds are exact even if numbers do not rise with the time. */
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

/** The range and, if anything else is selected, the filter of an export. */
export function splitQuery(query: TransferQuery): Pick<JournalExport, 'range' | 'filter'> {
  const { fromMicros, toMicros, ...filter } = query;
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return { range: { fromMicros, toMicros }, filter: isFiltered ? filter : undefined };
}
