/**
 * Reads the lines of a file as a stream, so that memory does not grow with the file.
 *
 * A byte that the declared encoding does not have is refused: a name would be stored damaged, and an amount
 * could be another one.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Line } from '../ledger/domain/lines.ts';
import { createCamtReader } from './camt.ts';
import { type BankReader, lineOfEntry } from './domain/bankEntries.ts';
import { createCsvReader } from './domain/csvRows.ts';
import { FileProblem } from './domain/fileProblem.ts';
import { createMt940Reader } from './domain/mt940.ts';
import { createReportReader } from './domain/report.ts';
import type { ReportSource, Source } from './sourceFile.ts';

/** The lines of a piece of the file, and how many rows or entries of it are not imported. */
export interface ReadLines {
  readonly lines: readonly Line[];
  readonly ignored: number;
}

/** What is known once a file was read. */
export interface FileEnd {
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly digest: string;
  /** Whether its last statement is continued on a page that another file must have. */
  readonly isContinued: boolean;
}

interface LineReader {
  readonly push: (text: string) => ReadLines;
  readonly end: () => ReadLines;
  readonly isContinued: () => boolean;
}

/**
 * The lines of a file, in pieces.
 * @param onEnd called at the end of the file
 * @throws FileProblem for a file that is not as its source file declares
 */
export async function* readLines(
  bytes: AsyncIterable<Uint8Array>,
  source: Source,
  onEnd: (end: FileEnd) => void,
): AsyncGenerator<ReadLines, void> {
  const reader = readerOf(source);
  const digest = createHash('sha256');
  let place = 1;
  for await (const text of decode(bytes, source, digest)) {
    yield reader.push(text);
    place += text.split('\n').length - 1;
    if (text.includes('\0')) {
      throw new FileProblem(
        { line: place, column: 1 },
        'a zero byte: the file is not text, or has another encoding',
      );
    }
  }
  yield reader.end();
  onEnd({ digest: digest.digest('hex'), isContinued: reader.isContinued() });
}

async function* decode(
  bytes: AsyncIterable<Uint8Array>,
  source: Source,
  digest: Hash,
): AsyncGenerator<string, void> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let line = 1;
  const decoded = (work: () => string): string => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      const message = `near this line is a byte that is not ${decoder?.encoding}. Set "encoding" in the source file`;
      throw new FileProblem({ line, column: 1 }, message);
    }
  };
  for await (const piece of bytes) {
    digest.update(piece);
    decoder ??= new TextDecoder(encodingOf(piece, source), { fatal: true });
    const own = decoder;
    const text = decoded(() => own.decode(piece, { stream: true }));
    line += text.split('\n').length - 1;
    yield text;
  }
  const own = decoder;
  if (own) yield decoded(() => own.decode());
}

/** An XML file declares its encoding itself. */
function encodingOf(first: Uint8Array, { format, encoding }: Source): string {
  if (format !== 'camt.053') return encoding;
  const head = Buffer.from(first.subarray(0, 200)).toString('latin1');
  const declared = /^(?:\u00EF\u00BB\u00BF)?\s*<\?xml[^>]*encoding=["']([\w.-]+)["']/.exec(
    head,
  )?.[1];
  if (declared === undefined) return encoding;
  try {
    return new TextDecoder(declared).encoding;
  } catch {
    throw new FileProblem({ line: 1, column: 1 }, `the encoding ${declared} is unknown`);
  }
}

function readerOf(source: Source): LineReader {
  if (source.format === 'csv') return reportLines(source);
  const { account, payers } = source;
  return bankLines(
    source.format === 'mt940' ? createMt940Reader(account) : createCamtReader(account),
    payers,
  );
}

function reportLines(source: ReportSource): LineReader {
  const rows = createCsvReader({
    delimiter: source.delimiter,
    lastLineEnds: source.last_line_ends,
  });
  const report = createReportReader(source);
  const linesOf = (found: ReturnType<typeof rows.push>): ReadLines => {
    const read = found.map((row) => report.read(row));
    return {
      lines: read.filter((one) => one !== 'ignored' && one !== 'header'),
      ignored: read.filter((one) => one === 'ignored').length,
    };
  };
  return {
    push: (text) => linesOf(rows.push(text)),
    end: () => {
      const last = linesOf(rows.end());
      report.end();
      return last;
    },
    isContinued: () => false,
  };
}

function bankLines(reader: BankReader, payers: readonly string[]): LineReader {
  const linesOf = (entries: ReturnType<typeof reader.push>): ReadLines => {
    const lines = entries.flatMap((entry) => lineOfEntry(entry, payers) ?? []);
    return { lines, ignored: entries.length - lines.length };
  };
  return {
    push: (text) => linesOf(reader.push(text)),
    end: () => linesOf(reader.end()),
    isContinued: reader.isContinued,
  };
}
