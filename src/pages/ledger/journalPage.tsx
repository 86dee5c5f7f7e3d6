/** The journal, newest transfer first. */
import { z } from 'zod';
import { ACCOUNT_NAMES } from '../../ledger/domain/legs.ts';
import { DataTable } from '../components/blocks.tsx';
import { FilterForm, Select } from '../components/forms.tsx';
import { journalHref, ledgerHref } from '../links.ts';
import { ListEnd } from '../lists/ListFrame.tsx';
import { definePage } from '../page.ts';
import { JOURNAL_COLUMNS } from './columns.tsx';
import { JournalFields, JournalTotals, listCaption, readTransfers } from './JournalParts.tsx';
import { cursor, journalFields, readJournalQuery } from './journalQuery.ts';

export const journalPage = definePage({
  path: '/ledger/journal',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({ ...journalFields, cursor }),
  load: async ({ db }, { query }) => {
    const read = readJournalQuery(query);
    if (read.outcome !== 'ok') return read;
    const listed = await readTransfers(db, read);
    if (listed.outcome !== 'ok') return listed;
    return { outcome: 'ok', data: { ...listed.data, query } };
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
          caption={listCaption('Transfers', query)}
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
