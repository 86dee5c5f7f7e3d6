/** The columns of lists of transfers. */
import { isResourceKind } from '../../alerts/domain/subjectPath.ts';
import { legMeaning } from '../../ledger/domain/explain.ts';
import type { JournalRow } from '../../ledger/domain/journalFormats.ts';
import { isTakenBack } from '../../ledger/domain/legs.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import type { Column } from '../components/blocks.tsx';
import { Id, Money, Time } from '../components/values.tsx';
import { eventHref, ledgerAccountHref, resourceHref } from '../links.ts';
import { OrderLink } from '../resources/columns.tsx';

type TransferColumn = Column<JournalRow>;

const numberColumn: TransferColumn = { title: 'Transfer', cell: ({ id }) => id };

const recordedColumn: TransferColumn = {
  title: 'Recorded',
  cell: ({ recordedMicros }) => <Time at={formatInstant(recordedMicros)} />,
};

const effectiveColumn: TransferColumn = {
  title: 'Effective',
  cell: ({ effectiveMicros }) =>
    effectiveMicros === undefined ? 'not known yet' : <Time at={formatInstant(effectiveMicros)} />,
};

const meaningColumn: TransferColumn = {
  title: 'What',
  cell: (row) => `${isTakenBack(row) ? 'reversed: ' : ''}${legMeaning(row.kind, row.leg)}`,
};

const amountColumn: TransferColumn = {
  title: 'Amount',
  isNumber: true,
  cell: ({ amountMinor, currency }) => <Money amountMinor={amountMinor} currency={currency} />,
};

const orderColumn: TransferColumn = {
  title: 'Order',
  cell: ({ orderKey }) => <OrderLink orderKey={orderKey ?? null} />,
};

const partColumn: TransferColumn = {
  title: 'Of',
  cell: ({ kind, resourceId }) => (
    <>
      {isResourceKind(kind) ? (
        <>
          {kind} <Id id={resourceId} href={resourceHref(kind, resourceId)} />
        </>
      ) : (
        `${kind === 'bank_line' ? 'bank' : 'report'} line ${resourceId}`
      )}
    </>
  ),
};

const causeColumn: TransferColumn = {
  title: 'Cause',
  cell: ({ inboxId, kind }) =>
    inboxId === undefined ? (
      isResourceKind(kind) ? (
        'read from the service'
      ) : (
        'imported file'
      )
    ) : (
      <a href={eventHref(inboxId)}>{`event ${inboxId}`}</a>
    ),
};

const debitColumn: TransferColumn = {
  title: 'Debit',
  cell: ({ debit }) => <AccountLink account={debit} />,
};

const creditColumn: TransferColumn = {
  title: 'Credit',
  cell: ({ credit }) => <AccountLink account={credit} />,
};

export const JOURNAL_COLUMNS: readonly TransferColumn[] = [
  numberColumn,
  effectiveColumn,
  recordedColumn,
  meaningColumn,
  amountColumn,
  debitColumn,
  creditColumn,
  orderColumn,
  partColumn,
  causeColumn,
];

/** The columns of transfers that one event caused: its resource is shown beside them. */
export const EVENT_COLUMNS: readonly TransferColumn[] = [
  numberColumn,
  meaningColumn,
  amountColumn,
  debitColumn,
  creditColumn,
  effectiveColumn,
];

/** The columns of one account: its side of each transfer, and the other account. */
export function accountColumns(account: string): readonly TransferColumn[] {
  const side = (title: 'Debit' | 'Credit', isOn: (row: JournalRow) => boolean): TransferColumn => ({
    title,
    isNumber: true,
    cell: (row) => (
      <Money amountMinor={isOn(row) ? row.amountMinor : null} currency={row.currency} />
    ),
  });
  return [
    numberColumn,
    effectiveColumn,
    recordedColumn,
    meaningColumn,
    side('Debit', ({ debit }) => debit === account),
    side('Credit', ({ credit }) => credit === account),
    {
      title: 'Other account',
      cell: ({ debit, credit }) => <AccountLink account={debit === account ? credit : debit} />,
    },
    orderColumn,
    partColumn,
    causeColumn,
  ];
}

export function AccountLink({ account }: { readonly account: string }) {
  return (
    <a class="account-name" href={ledgerAccountHref(account)}>
      {account}
    </a>
  );
}
