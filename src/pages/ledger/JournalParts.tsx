/** What the pages of the journal and of an account share. */
import {
  readTransferPage,
  readTransferTotals,
  type TransferTotals,
} from '../../ledger/read/transferList.ts';
import { unlessUndated } from '../../ledger/read/undated.ts';
import type { Database } from '../../platform/db/database.ts';
import { transferCursor } from '../../representation/transfer.ts';
import { Field, Select } from '../components/forms.tsx';
import { journalFileHref } from '../links.ts';
import { PAGE_SIZE, type TotalRow, Totals } from '../lists/ListFrame.tsx';
import type { JournalQuery, ReadJournal } from './journalQuery.ts';

/** A page of transfers with the totals of its filter. */
export function readTransfers(db: Database, { filter, after }: ReadJournal) {
  return unlessUndated(async () => {
    const [{ rows, next }, totals] = await Promise.all([
      readTransferPage(db, filter, { after, limit: PAGE_SIZE }),
      readTransferTotals(db, filter),
    ]);
    return { rows, next: transferCursor(next), totals };
  });
}

/** The heading of a list of transfers, which states its order. */
export function listCaption(what: string, { recorded }: JournalQuery): string {
  return `${what} by ${recorded === undefined ? 'effective' : 'recorded'} time, newest first`;
}

/** The fields of the filter besides the account. */
export function JournalFields({ query }: { readonly query: JournalQuery }) {
  return (
    <>
      <Field name="order" label="Order" value={query.order} />
      <Field name="part" label="Payment, refund, dispute or payout" value={query.part} />
      <Field name="currency" label="Currency" value={query.currency} />
      <Field name="min" label="Amount from" value={query.min} />
      <Field name="max" label="Amount to" value={query.max} />
      <Select
        name="recorded"
        label="Time"
        value={query.recorded}
        any="Effective: when the service moved the money"
        options={[{ value: '1', label: 'Recorded: when Tallyhook posted it' }]}
      />
      <Field name="from" label="From (UTC)" type="date" value={query.from} />
      <Field name="to" label="Before (UTC)" type="date" value={query.to} />
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
