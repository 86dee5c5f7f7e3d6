import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command, Option } from 'commander';
import {
  exportJournal,
  JOURNAL_FORMATS,
  type JournalFormatName,
} from '../../ledger/read/exportJournal.ts';
import { readConsistently } from '../../ledger/store/readConsistently.ts';
import type { Database } from '../../platform/db/database.ts';
import { OperatorError } from '../../platform/errors.ts';
import { readConfig, withDatabase } from '../context.ts';
import { momentOption } from '../options.ts';

export function exportCommand(): Command {
  return new Command('export').addCommand(journalCommand());
}

interface ExportOptions {
  readonly format: JournalFormatName;
  readonly from?: number;
  readonly to?: number;
  readonly output?: string;
}

function journalCommand(): Command {
  return new Command('journal')
    .description('every transfer, in the order of its number')
    .addOption(
      new Option('--format <format>', 'csv for spreadsheets, jsonl for scripts, hledger to check')
        .choices(JOURNAL_FORMATS)
        .makeOptionMandatory(),
    )
    .addOption(momentOption('--from', 'only what was recorded then or later'))
    .addOption(momentOption('--to', 'only what was recorded before'))
    .option('--output <file>', 'write to this file instead of standard output')
    .addHelpText('after', NOTES)
    .action((options: ExportOptions) => {
      const { from, to } = options;
      if (from !== undefined && to !== undefined && from >= to) {
        throw new OperatorError(
          '--from is not before --to, so nothing can lie between. The first belongs to the range, the second does not.',
        );
      }
      return withDatabase(readConfig(), (db) => writeJournal(db, options));
    });
}

const NOTES = `
Times are ISO 8601, in UTC unless they name a zone; a date is its midnight. They are compared with
the time of recording. The export shows one moment, and holds it open until it is read to its end.

  tallyhook export journal --format hledger --output books.journal && hledger -f books.journal check`;

async function writeJournal(
  db: Database,
  { format, from, to, output }: ExportOptions,
): Promise<void> {
  const range = { fromMicros: from, toMicros: to };
  let rows = 0;
  const onProgress = (written: number) => {
    rows = written;
    if (output !== undefined && process.stderr.isTTY) process.stderr.write(`\r${rows} transfers`);
  };
  await readConsistently(db, async (tx) => {
    const text = Readable.from(exportJournal(tx, { format, range, onProgress }));
    await (output === undefined ? toStandardOutput(text) : toFile(text, output));
  });
  if (output !== undefined) {
    console.error(`${process.stderr.isTTY ? '\r' : ''}${rows} transfers written to ${output}`);
  }
}

/** A reader that has seen enough (`| head`) closes the pipe; that is no failure. */
async function toStandardOutput(text: Readable): Promise<void> {
  try {
    await pipeline(text, process.stdout, { end: false });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
  }
}

/** What a file system says when a file cannot be written. */
const FILE_CODES = new Set(
  'EACCES EDQUOT EFBIG EIO EISDIR ENAMETOOLONG ENOENT ENOSPC ENOTDIR EPERM EROFS'.split(' '),
);

/** Under another name until it is whole, so that half an export is never taken for one. */
async function toFile(text: Readable, output: string): Promise<void> {
  const partial = `${output}.partial`;
  try {
    await pipeline(text, createWriteStream(partial));
    await rename(partial, output);
  } catch (error) {
    await rm(partial, { force: true });
    const isOfFile =
      error instanceof Error && 'code' in error && FILE_CODES.has(String(error.code));
    if (!isOfFile) throw error;
    throw new OperatorError(`${output} cannot be written: ${error.message}`);
  }
}
