/** One account: its balances, and its transfers, newest first. */
import { z } from 'zod';
import { ACCOUNT_NAMES, ACCOUNTS } from '../../ledger/domain/legs.ts';
import { DataTable, KeyValues } from '../components/blocks.tsx';
import { FilterForm } from '../components/forms.tsx';
import { type LinkQuery, ledgerAccountHref, ledgerHref } from '../links.ts';
import { ListEnd } from '../lists/ListFrame.tsx';
import { definePage } from '../page.ts';
import { Balance } from './Balance.tsx';
import { accountColumns } from './columns.tsx';
import { JournalFields, JournalTotals, listCaption, readTransfers } from './JournalParts.tsx';
import { accountFields, cursor, readJournalQuery } from './journalQuery.ts';

export const ledgerAccountPage = definePage({
  path: '/ledger/accounts/{account}',
  permission: 'read',
  params: z.strictObject({ account: z.string() }),
  query: z.strictObject({ ...accountFields, cursor }),
  load: async ({ db, balances }, { params, query }) => {
    const account = ACCOUNT_NAMES.find((name) => name === params.account);
    if (account === undefined) {
      const message = `The ledger has no such account. Its accounts: ${ACCOUNT_NAMES.join(', ')}.`;
      return { outcome: 'not_found', message };
    }
    const read = readJournalQuery({ ...query, account });
    if (read.outcome !== 'ok') return read;
    const listed = await readTransfers(db, read);
    if (listed.outcome !== 'ok') return listed;
    const own = (await balances.read()).filter((balance) => balance.account === account);
    return { outcome: 'ok', data: { ...listed.data, account, balances: own, query } };
  },
  topics: () => ['ledger'],
  view: ({ account, balances, rows, next, totals, query: { cursor: current, ...query } }) => {
    const hrefOf = (linked: LinkQuery) => ledgerAccountHref(account, linked);
    return {
      title: account,
      crumbs: [{ label: 'Ledger', href: ledgerHref() }],
      body: (
        <>
          <p>{`${ACCOUNTS[account]}.`}</p>
          {balances.length === 0 ? (
            <p class="empty">This account never moved.</p>
          ) : (
            <KeyValues
              rows={balances.map((balance) => [
                `Balance in ${balance.currency}`,
                <Balance key={balance.currency} {...balance} />,
              ])}
            />
          )}
          <FilterForm action={ledgerAccountHref(account)}>
            <JournalFields query={query} />
          </FilterForm>
          <JournalTotals totals={totals} query={{ ...query, account }} />
          <DataTable
            caption={listCaption('Transfers of this account', query)}
            columns={accountColumns(account)}
            rows={rows}
            keyOf={({ id }) => String(id)}
            empty="No transfer matches. Remove a filter."
          />
          <ListEnd
            found={rows.length}
            query={query}
            current={current}
            next={next}
            hrefOf={hrefOf}
          />
        </>
      ),
    };
  },
});
