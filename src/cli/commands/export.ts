import { Readable } from 'node:stream';
import { Command, Option } from 'commander';
import { exportJournalAs, transfersSelected } from '../../actions/exportJournal.ts';
import {
  type ExportProgress,
  exportJournal,
  JOURNAL_FORMATS,
  type JournalFormatName,
} from '../../ledger/read/exportJournal.ts';
import type { TransferQuery } from '../../ledger/read/transferList.ts';
import { readConsistently } from '../../ledger/store/readConsistently.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { readConfig, withDatabase } from '../context.ts';
import { printNote, terminal } from '../invocation.ts';
import { writeOutputFile, writeStandardOutput } from '../outputFile.ts';
import { actorOf, byOption } from '../person.ts';
import { createProgressLine } from '../progress.ts';
import {
  addTransferOptions,
  type TransferFilterOptions,
  transferQueryOf,
} from '../transferOptions.ts';
import { entriesCommand } from './exportEntries.ts';

export function exportCommand(): Command {
  return new Command('export').addCommand(journalCommand()).addCommand(entriesCommand());
}

interface ExportOptions extends TransferFilterOptions {
  readonly format: JournalFormatName;
  readonly output?: string;
  readonly by?: string;
}

function journalCommand(): Command {
  const journal = new Command('journal')
    .description(
      'export every transfer, or those of a filter, in the order in which the service moved the money',
    )
    .addOption(
      new Option('--format <format>', 'csv for spreadsheets, jsonl for scripts')
        .choices(JOURNAL_FORMATS)
        .makeOptionMandatory(),
    );
  return addTransferOptions(journal)
    .option('--output <file>', 'write to this file instead of standard output')
    .addOption(byOption())
    .addHelpText('after', NOTES)
    .action((options: ExportOptions) => {
      const { format, output, by } = options;
      const query = transferQueryOf(options);
      return withDatabase(readConfig(), (db) => {
        const parts = { db, write: () => writeJournal(db, { format, output, query }) };
        const selected = transfersSelected(query);
        return exportJournalAs(parts, actorOf(by), { format, selected, output });
      });
    });
}

const NOTES = `
Times are ISO 8601, in UTC unless they name a zone. A date means its midnight. They are compared with
effective_at, when the service moved the money. A transfer that is posted late is among those of its time, so
a later export of the same range can have more. With --recorded they are compared with recorded_at, and the
transfers are in the order in which Tallyhook posted them. The export is a consistent snapshot, held open
until the output is read. \`tallyhook export entries\` writes the journal for accounting programs.

Exit code: 0, 4 while transfers of an earlier version have no effective time.`;

interface WrittenJournal {
  readonly format: JournalFormatName;
  readonly output: string | undefined;
  readonly query: TransferQuery;
}

/** @returns the number of transfers */
async function writeJournal(
  db: Database,
  { format, output, query }: WrittenJournal,
): Promise<number> {
  // Standard output may be a pipe to a program that prints its own.
  const line =
    output === undefined ? undefined : createProgressLine(terminal().stderr, systemClock);
  let rows = 0;
  const onProgress = (progress: ExportProgress) => {
    ({ rows } = progress);
    line?.show({ phase: 'transfers', ...(progress.read ?? { done: rows, total: 0 }) });
  };
  await readConsistently(db, async (tx) => {
    const text = Readable.from(exportJournal(tx, { format, query, onProgress }));
    await (output === undefined ? writeStandardOutput(text) : writeOutputFile(text, output));
  });
  line?.clear();
  if (output !== undefined) printNote(`${rows} transfers written to ${output}`);
  return rows;
}
