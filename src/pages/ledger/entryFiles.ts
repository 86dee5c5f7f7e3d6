/**
 * The entries of a month for accounting programs, one for each day and currency. The text is small, so it is
 * read at once, as of one moment: a browser that reads slowly holds no transaction.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { entriesSelected, exportJournalAs } from '../../actions/exportJournal.ts';
import { currency, month, timeZone } from '../../console/schemas.ts';
import { DEFAULT_CHART } from '../../ledger/domain/chart.ts';
import { daysOfMonth } from '../../ledger/domain/entries.ts';
import type { EntryFormatName } from '../../ledger/domain/entryFormats.ts';
import {
  type EntryExport,
  readEntriesText,
  readEntryZone,
} from '../../ledger/read/exportEntries.ts';
import { unlessUndated } from '../../ledger/read/undated.ts';
import { type Download, defineTextDownload } from '../download.ts';

const query = z.strictObject({
  month,
  currency: currency.optional(),
  time_zone: timeZone.optional(),
});

function entriesFile(format: EntryFormatName, type: Download['type']): Download {
  const fileName = `entries.${format}`;
  return defineTextDownload({
    path: `/ledger/${fileName}`,
    permission: 'read',
    query,
    fileName,
    type,
    open: async ({ db }, { query: given, actor }) => {
      const zone = given.time_zone ?? (await readEntryZone(db));
      const days = { ...daysOfMonth(given.month), timeZone: zone };
      const what: EntryExport = {
        format,
        range: { basis: 'booked', ...days, currency: given.currency },
        chart: DEFAULT_CHART,
        isDaily: true,
        isEntriesOnly: false,
      };
      const read = await unlessUndated(() => readEntriesText(db, what));
      if (read.outcome !== 'ok') return read;
      const { text, transfers } = read.data;
      return {
        outcome: 'ok',
        send: (to) => {
          const write = async () => {
            await pipeline(Readable.from([text]), to);
            return transfers;
          };
          const selected = entriesSelected(what);
          return exportJournalAs({ db, write }, actor, { format, selected, output: fileName });
        },
      };
    },
  });
}

export const entriesCsv = entriesFile('csv', 'text/csv');
export const entriesHledger = entriesFile('hledger', 'text/plain');
export const entriesBeancount = entriesFile('beancount', 'text/plain');
