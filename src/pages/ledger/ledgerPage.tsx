/** The accounts of the ledger and their balances, now, as of a time, and as known at a time. */
import { z } from 'zod';
import type { AccountBalance } from '../../ledger/domain/balances.ts';
import { monthAfter } from '../../ledger/domain/period.ts';
import { parseInstantMicros } from '../../ledger/domain/time.ts';
import { unlessUndated } from '../../ledger/read/undated.ts';
import { groupBy } from '../../platform/collections.ts';
import { type Column, DataTable, Section } from '../components/blocks.tsx';
import { Field, FilterForm } from '../components/forms.tsx';
import { Money } from '../components/values.tsx';
import {
  clearingHref,
  journalFileHref,
  journalHref,
  ledgerAccountHref,
  ledgerHref,
  statementHref,
} from '../links.ts';
import { definePage } from '../page.ts';
import { Balance } from './Balance.tsx';
import { AccountLink } from './columns.tsx';

const moment = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?$/, 'must be a time such as 2026-11-01T00:00');

export const ledgerPage = definePage({
  path: '/ledger',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({ at: moment.optional(), known: moment.optional() }),
  load: async ({ balances }, { query: { at, known } }) => {
    const [effectiveMicros, knownMicros] = [instantOf(at), instantOf(known)];
    const wrong = [at, known].find((text) => text !== undefined && instantOf(text) === undefined);
    if (wrong !== undefined) {
      return { outcome: 'invalid', message: `A time cannot be ${wrong}. Go back and correct it.` };
    }
    const read = await unlessUndated(() => balances.read({ effectiveMicros, knownMicros }));
    if (read.outcome !== 'ok') return read;
    return { outcome: 'ok', data: { at, known, accounts: read.data } };
  },
  topics: () => ['ledger'],
  view: ({ at, known, accounts }, { nowMs }) => ({
    title: 'Ledger',
    body: (
      <>
        <FilterForm action={ledgerHref()} label="Show">
          <Field name="at" label="As of (UTC)" type="datetime-local" value={at} />
          <Field name="known" label="Known at (UTC)" type="datetime-local" value={known} />
        </FilterForm>
        <p>{balancesText(at, known)}</p>
        <p>
          <a href={statementHref(lastMonth(nowMs))}>Statement of last month</a>: balances, movements
          by day, and what is open, for each currency.
        </p>
        <p>
          <a href={journalHref()}>Journal</a>: every transfer, with filters. All of it as{' '}
          <a href={journalFileHref('csv', {})}>CSV</a> or{' '}
          <a href={journalFileHref('jsonl', {})}>JSON lines</a>.
        </p>
        <p>
          <a href={clearingHref()}>Clearing</a>: what the service holds and why, and what is
          unmatched with settlement reports and bank statements.
        </p>
        {accounts.length === 0 ? (
          <p class="empty">
            No transfer was recorded {(at ?? known) === undefined ? 'yet' : 'before this time'}. The
            first payment that is captured or authorized posts one.
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

/** What the balances contain. */
function balancesText(at: string | undefined, known: string | undefined): string {
  const utc = (time: string) => `${time.replace('T', ' ')} UTC`;
  const moved =
    at === undefined
      ? 'Balances now: everything that the service moved'
      : `Balances as of ${utc(at)}: everything that the service moved before it`;
  return known === undefined
    ? `${moved}, as it is known now.`
    : `${moved}, as it was known at ${utc(known)}. Late webhooks were recorded after that.`;
}

function instantOf(at: string | undefined): number | undefined {
  if (at === undefined) return undefined;
  const time = at.includes('T') ? at : `${at}T00:00`;
  return parseInstantMicros(`${time.length === 16 ? `${time}:00` : time}Z`);
}

function lastMonth(nowMs: number): string {
  return monthAfter(new Date(nowMs).toISOString().slice(0, 7), -1);
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
