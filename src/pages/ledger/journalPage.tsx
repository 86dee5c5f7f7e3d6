/** The journal, newest transfer first. */
import { z } from 'zod';
import { ACCOUNT_NAMES } from '../../ledger/domain/legs.ts';
import { readTransferPage, readTransferTotals } from '../../ledger/read/transferList.ts';
import { DataTable } from '../components/blocks.tsx';
import { FilterForm, Select } from '../components/forms.tsx';
import { journalHref, ledgerHref } from '../links.ts';
import { ListEnd, PAGE_SIZE } from '../lists/ListFrame.tsx';
import { definePage } from '../page.ts';
import { JOURNAL_COLUMNS } from './columns.tsx';
import { cursorAfter, JournalFields, JournalTotals } from './JournalParts.tsx';
import { cursor, journalFields, readJournalQuery } from './journalQuery.ts';

export const journalPage = definePage({
  path: '/ledger/journal',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({ ...journalFields, cursor }),
  load: async ({ db }, { query }) => {
    const read = readJournalQuery(query);
    if (read.outcome !== 'ok') return read;
    const { after, filter } = read;
    const { rows, next } = await readTransferPage(db, filter, { after, limit: PAGE_SIZE });
    const totals = await readTransferTotals(db, filter);
    return { outcome: 'ok', data: { rows, next: cursorAfter(next), totals, query } };
  },
  topics: () => ['ledger'],
  view: ({ rows, next, totals, query: { cursor: current, ...query } }) => ({
    title: 'Journal',
    crumbs: [{ label: 'Ledger', href: ledgerHref() }],
    body: (
      <>
        <FilterForm action={journalHref()}>
          <Select
            name="account"
            label="Account"
            value={query.account}
            any="Any"
            options={ACCOUNT_NAMES}
          />
          <JournalFields query={query} />
        </FilterForm>
        <JournalTotals totals={totals} query={query} />
        <DataTable
          caption="Transfers, newest first"
          columns={JOURNAL_COLUMNS}
          rows={rows}
          keyOf={({ id }) => String(id)}
          empty="No transfer matches. Remove a filter, or wait for the first payment that is captured."
        />
        <ListEnd
          found={rows.length}
          query={query}
          current={current}
          next={next}
          hrefOf={journalHref}
        />
      </>
    ),
  }),
});
