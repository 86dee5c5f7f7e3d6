/** What the pages of the journal and of an account share. */
import type { TransferTotals } from '../../ledger/read/transferList.ts';
import { encodePlace } from '../../representation/cursor.ts';
import { Field } from '../components/forms.tsx';
import { journalFileHref } from '../links.ts';
import { type TotalRow, Totals } from '../lists/ListFrame.tsx';
import type { JournalQuery } from './journalQuery.ts';

/** The fields of the filter besides the account. */
export function JournalFields({ query }: { readonly query: JournalQuery }) {
  return (
    <>
      <Field name="order" label="Order" value={query.order} />
      <Field name="part" label="Payment, refund, dispute or payout" value={query.part} />
      <Field name="currency" label="Currency" value={query.currency} />
      <Field name="min" label="Amount from" value={query.min} />
      <Field name="max" label="Amount to" value={query.max} />
      <Field name="from" label="Recorded from (UTC)" type="date" value={query.from} />
      <Field name="to" label="Recorded before (UTC)" type="date" value={query.to} />
    </>
  );
}

/** @param query of the files, with the account */
export function JournalTotals({
  totals,
  query,
}: {
  readonly totals: TransferTotals;
  readonly query: JournalQuery;
}) {
  const isOfAccount = query.account !== undefined;
  return (
    <Totals
      count={totals.count}
      isComplete={totals.isComplete}
      rows={totals.currencies.map((sum): TotalRow => {
        const sides = [
          ['debited', sum.debitedMinor],
          ['credited', sum.creditedMinor],
        ] as const;
        const { currency, matches: count, amountMinor } = sum;
        return { currency, count, amounts: isOfAccount ? sides : [['moved', amountMinor]] };
      })}
      csv={journalFileHref('csv', query)}
      others={[{ label: 'JSON lines', href: journalFileHref('jsonl', query) }]}
    />
  );
}

/** The cursor of the next page. */
export function cursorAfter(next: number | undefined): string | null {
  return next === undefined ? null : encodePlace([next]);
}
