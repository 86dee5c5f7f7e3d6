/** The journal of an order as T-accounts: for each account and currency its debits and credits. */
import { sumExactly } from '../../contract/money.ts';
import type { TransferExplanation } from '../../ledger/domain/explanation.ts';
import { groupBy } from '../../platform/collections.ts';
import { type Column, DataTable } from '../components/blocks.tsx';
import { Money, Time } from '../components/values.tsx';

interface Posting {
  readonly key: string;
  readonly account: string;
  readonly accountMeaning: string;
  readonly transfer: TransferExplanation;
  readonly debitMinor: number | null;
  readonly creditMinor: number | null;
}

export function Accounts({ transfers }: { readonly transfers: readonly TransferExplanation[] }) {
  if (transfers.length === 0) return <p class="empty">Nothing was posted.</p>;
  const accounts = groupBy(
    transfers.flatMap(postingsOf),
    ({ account, transfer }) => `${account} ${transfer.currency}`,
  );
  return (
    <div class="accounts">
      {[...accounts].map(([name, postings]) => (
        <Account key={name} postings={postings} />
      ))}
    </div>
  );
}

function postingsOf(transfer: TransferExplanation): readonly Posting[] {
  const { id, debit, credit, amountMinor } = transfer;
  return [
    {
      key: `${id} debit`,
      account: debit.name,
      accountMeaning: debit.meaning,
      transfer,
      debitMinor: amountMinor,
      creditMinor: null,
    },
    {
      key: `${id} credit`,
      account: credit.name,
      accountMeaning: credit.meaning,
      transfer,
      debitMinor: null,
      creditMinor: amountMinor,
    },
  ];
}

function Account({ postings }: { readonly postings: readonly Posting[] }) {
  const [first] = postings;
  if (!first) return null;
  const { currency } = first.transfer;
  const debits = sumExactly(postings.map(({ debitMinor }) => debitMinor ?? 0));
  const credits = sumExactly(postings.map(({ creditMinor }) => creditMinor ?? 0));
  const side = debits >= credits ? 'debit' : 'credit';
  return (
    <section class="account-book" aria-label={`${first.account} in ${currency}`}>
      <DataTable
        caption={`${first.account} in ${currency}: ${first.accountMeaning}`}
        columns={COLUMNS}
        rows={postings}
        keyOf={({ key }) => key}
        empty="Nothing was posted."
      />
      <p>
        Balance:{' '}
        <Money
          amountMinor={debits > credits ? debits - credits : credits - debits}
          currency={currency}
        />{' '}
        {debits === credits ? '' : side}
      </p>
    </section>
  );
}

const COLUMNS: readonly Column<Posting>[] = [
  {
    title: 'Effective',
    cell: ({ transfer: { effectiveAt } }) =>
      effectiveAt === null ? 'not known yet' : <Time at={effectiveAt} />,
  },
  { title: 'Recorded', cell: ({ transfer }) => <Time at={transfer.at} /> },
  {
    title: 'Transfer',
    cell: ({ transfer: { id, meaning, isTakenBack } }) =>
      `${id}: ${isTakenBack ? 'reversed: ' : ''}${meaning}`,
  },
  {
    title: 'Debit',
    isNumber: true,
    cell: ({ debitMinor, transfer }) => (
      <Money amountMinor={debitMinor} currency={transfer.currency} />
    ),
  },
  {
    title: 'Credit',
    isNumber: true,
    cell: ({ creditMinor, transfer }) => (
      <Money amountMinor={creditMinor} currency={transfer.currency} />
    ),
  },
];
