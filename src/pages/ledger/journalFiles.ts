/** The journal, or the transfers of a filter, as files. Each download is recorded in the audit log. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { exportJournalAs, transfersSelected } from '../../actions/exportJournal.ts';
import {
  type ExportProgress,
  exportJournal,
  type JournalFormatName,
} from '../../ledger/read/exportJournal.ts';
import { requireTimes } from '../../ledger/read/transferList.ts';
import { unlessUndated } from '../../ledger/read/undated.ts';
import { type Download, defineTextDownload } from '../download.ts';
import { journalFields, readJournalQuery } from './journalQuery.ts';

function journalFile(format: JournalFormatName, type: Download['type']): Download {
  const fileName = `journal.${format}`;
  return defineTextDownload({
    path: `/ledger/${fileName}`,
    permission: 'read',
    query: z.strictObject(journalFields),
    fileName,
    type,
    open: async ({ db }, { query: given, actor }) => {
      const read = readJournalQuery(given);
      if (read.outcome !== 'ok') return read;
      const query = read.filter;
      const dated = await unlessUndated(() => requireTimes(db, query));
      if (dated.outcome !== 'ok') return dated;
      return {
        outcome: 'ok',
        send: (to) => {
          let rows = 0;
          const onProgress = (progress: ExportProgress) => {
            ({ rows } = progress);
          };
          // Not one transaction: a browser that reads slowly would hold a connection and old rows. What
          // is committed meanwhile may be in the file or not.
          const text = exportJournal(db, { format, query, onProgress });
          const write = async () => {
            await pipeline(Readable.from(text), to);
            return rows;
          };
          const selected = transfersSelected(query);
          return exportJournalAs({ db, write }, actor, { format, selected, output: fileName });
        },
      };
    },
  });
}

export const journalCsv = journalFile('csv', 'text/csv');
export const journalJsonl = journalFile('jsonl', 'application/x-ndjson');
