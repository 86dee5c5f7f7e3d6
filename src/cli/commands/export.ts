import { Command, Option } from 'commander';
import { exportJournalAs, transfersSelected } from '../../actions/exportJournal.ts';
import {
  exportJournal,
  JOURNAL_FORMATS,
  type JournalFormatName,
} from '../../ledger/read/exportJournal.ts';
import { readConfig, withDatabase } from '../context.ts';
import { actorOf, byOption } from '../person.ts';
import {
  addTransferOptions,
  type TransferFilterOptions,
  transferQueryOf,
} from '../transferOptions.ts';
import { writeTransfers } from '../writeTransfers.ts';
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
        const write = () =>
          writeTransfers(db, output, (tx, onProgress) =>
            exportJournal(tx, { format, query, onProgress }),
          );
        const selected = transfersSelected(query);
        return exportJournalAs({ db, write }, actorOf(by), { format, selected, output });
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
