/** The accounts of the ledger and their balances, now or as of a time of recording. */
import { z } from 'zod';
import type { AccountBalance } from '../../ledger/domain/balances.ts';
import { parseInstantMicros } from '../../ledger/domain/time.ts';
import { groupBy } from '../../platform/collections.ts';
import { type Column, DataTable, Section } from '../components/blocks.tsx';
import { Field, FilterForm } from '../components/forms.tsx';
import { Money } from '../components/values.tsx';
import { journalFileHref, journalHref, ledgerAccountHref, ledgerHref } from '../links.ts';
import { definePage } from '../page.ts';
import { Balance } from './Balance.tsx';
import { AccountLink } from './columns.tsx';

export const ledgerPage = definePage({
  path: '/ledger',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({
    at: z
      .string()
      .regex(/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?$/, 'must be a time such as 2026-11-01T00:00')
      .optional(),
  }),
  load: async ({ balances }, { query: { at } }) => {
    const before = at === undefined ? undefined : instantOf(at);
    if (at !== undefined && before === undefined) {
      return { outcome: 'invalid', message: `"As of" cannot be ${at}. Go back and correct it.` };
    }
    return { outcome: 'ok', data: { at, accounts: await balances.read(before) } };
  },
  topics: () => ['ledger'],
  view: ({ at, accounts }) => ({
    title: 'Ledger',
    body: (
      <>
        <FilterForm action={ledgerHref()} label="Show">
          <Field name="at" label="As of (UTC)" type="datetime-local" value={at} />
        </FilterForm>
        <p>{at === undefined ? NOW : asOf(at)}</p>
        <p>
          <a href={journalHref()}>Journal</a>: every transfer, with filters. All of it as{' '}
          <a href={journalFileHref('csv', {})} download>
            CSV
          </a>
          ,{' '}
          <a href={journalFileHref('jsonl', {})} download>
            JSON lines
          </a>{' '}
          or{' '}
          <a href={journalFileHref('hledger', {})} download>
            hledger
          </a>
          .
        </p>
        {accounts.length === 0 ? (
          <p class="empty">
            No transfer was recorded {at === undefined ? 'yet' : 'before this time'}. The first
            payment that is captured or authorized posts one.
          </p>
        ) : null}
        {[...groupBy(accounts, ({ currency }) => currency)]
          .toSorted(([one], [other]) => (one < other ? -1 : 1))
          .map(([currency, own]) => (
            <Section key={currency} title={currency}>
              <DataTable
                caption={`Accounts in ${currency}; debits and credits are equal`}
                columns={COLUMNS}
                rows={own}
                keyOf={({ account }) => account}
                empty="Nothing."
              />
            </Section>
          ))}
      </>
    ),
  }),
});

const NOW = 'Balances now: every transfer that was recorded.';

function asOf(at: string): string {
  const time = `${at.replace('T', ' ')} UTC`;
  return (
    `Balances as of ${time}: every transfer that was recorded before it. A transfer is recorded when ` +
    'Tallyhook posts it, which is soon after the service moved the money, or later if a webhook was lost.'
  );
}

function instantOf(at: string): number | undefined {
  const time = at.includes('T') ? at : `${at}T00:00`;
  return parseInstantMicros(`${time.length === 16 ? `${time}:00` : time}Z`);
}

const COLUMNS: readonly Column<AccountBalance>[] = [
  {
    title: 'Account',
    cell: ({ account }) => <AccountLink account={account} />,
  },
  {
    title: 'Balance',
    isNumber: true,
    cell: ({ balanceMinor, currency }) => (
      <Balance balanceMinor={balanceMinor} currency={currency} />
    ),
  },
  {
    title: 'Debited',
    isNumber: true,
    cell: ({ debitedMinor, currency }) => <Money amountMinor={debitedMinor} currency={currency} />,
  },
  {
    title: 'Credited',
    isNumber: true,
    cell: ({ creditedMinor, currency }) => (
      <Money amountMinor={creditedMinor} currency={currency} />
    ),
  },
  { title: 'Class', cell: (row) => row.class },
  { title: 'Meaning', cell: ({ meaning }) => meaning },
  {
    title: 'Transfers',
    cell: ({ account, currency }) => (
      <a href={ledgerAccountHref(account, { currency })}>{`in ${currency}`}</a>
    ),
  },
];
