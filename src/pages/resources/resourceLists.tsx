/** The lists of payments, refunds, disputes and payouts, newest first, and their CSV. */
import { z } from 'zod';
import { id } from '../../console/schemas.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { STATUSES } from '../../contract/statuses.ts';
import {
  type CurrencyTotal,
  readAllResources,
  readResourcePage,
  readResourceTotals,
} from '../../ledger/read/resourceList.ts';
import type { ListedResource } from '../../ledger/read/store/resourceList.ts';
import { cursorOf } from '../../representation/cursor.ts';
import { resourceCsv } from '../../representation/listCsv.ts';
import { type Column, DataTable } from '../components/blocks.tsx';
import { Field, Select } from '../components/forms.tsx';
import { defineDownload } from '../download.ts';
import { csvHref, resourcesHref } from '../links.ts';
import { ListEnd, ListFilterForm, PAGE_SIZE, type TotalRow, Totals } from '../lists/ListFrame.tsx';
import { filterFields, pageFields, readListQuery } from '../lists/listQuery.ts';
import { definePage } from '../page.ts';
import {
  amountColumn,
  capturedColumn,
  createdColumn,
  dueColumn,
  idColumn,
  noteColumn,
  orderColumn,
  referenceColumn,
  stageColumn,
  statusColumn,
} from './columns.tsx';

interface Listed {
  readonly title: string;
  readonly orderLabel: string;
  readonly columns: readonly Column<ListedResource>[];
}

const LISTED: Readonly<Record<ResourceKind, Listed>> = {
  payment: {
    title: 'Payments',
    orderLabel: 'Order',
    columns: [
      idColumn,
      orderColumn,
      statusColumn,
      amountColumn,
      capturedColumn,
      createdColumn,
      noteColumn,
    ],
  },
  refund: {
    title: 'Refunds',
    orderLabel: 'Order',
    columns: [idColumn, orderColumn, statusColumn, amountColumn, createdColumn, noteColumn],
  },
  dispute: {
    title: 'Disputes',
    orderLabel: 'Order',
    columns: [
      idColumn,
      orderColumn,
      stageColumn,
      statusColumn,
      amountColumn,
      dueColumn,
      createdColumn,
      noteColumn,
    ],
  },
  payout: {
    title: 'Payouts',
    orderLabel: 'Reference',
    columns: [idColumn, referenceColumn, statusColumn, amountColumn, createdColumn, noteColumn],
  },
};

const own = { status: z.string().max(100).optional(), order: id.optional() };

function listPage(kind: ResourceKind) {
  const { title, orderLabel, columns } = LISTED[kind];
  const hrefOf = (query: Parameters<typeof resourcesHref>[1]) => resourcesHref(kind, query);
  return definePage({
    path: `/${kind}s`,
    permission: 'read',
    params: z.strictObject({}),
    query: z.strictObject({ ...own, ...pageFields }),
    load: async ({ db }, { query }) => {
      const read = readListQuery(query);
      if (read.outcome !== 'ok') return read;
      const filter = { ...read.filter, kind, status: query.status, orderId: query.order };
      const [{ rows, next }, totals] = await Promise.all([
        readResourcePage(db, filter, { after: read.after, limit: PAGE_SIZE }),
        readResourceTotals(db, filter),
      ]);
      return { outcome: 'ok', data: { rows, next: cursorOf(next), totals, query } };
    },
    topics: () => ['ledger'],
    view: ({ rows, next, totals, query: { cursor: current, ...query } }) => ({
      title,
      body: (
        <>
          <ListFilterForm action={hrefOf({})} query={query}>
            <Select
              name="status"
              label="Status"
              value={query.status}
              any="Any"
              options={STATUSES[kind]}
            />
            <Field name="order" label={orderLabel} value={query.order} />
          </ListFilterForm>
          <Totals
            {...totals}
            rows={totals.currencies.map((total) => totalRow(kind, total))}
            csv={csvHref(kind, query)}
          />
          <DataTable
            caption={`${title}, newest first`}
            columns={columns}
            rows={rows}
            keyOf={(row) => row.id}
            empty={`No ${kind} matches. Remove a filter, or wait for the first event of a ${kind}.`}
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
    }),
  });
}

function listDownload(kind: ResourceKind) {
  return defineDownload({
    path: `/${kind}s.csv`,
    permission: 'read',
    query: z.strictObject({ ...own, ...filterFields }),
    fileName: `${kind}s.csv`,
    open: ({ db }, query) => {
      const read = readListQuery(query);
      if (read.outcome !== 'ok') return read;
      const filter = { ...read.filter, kind, status: query.status, orderId: query.order };
      const pages = readAllResources(db, filter, { limit: 1_000 });
      return { outcome: 'ok', csv: resourceCsv(kind), pages };
    },
  });
}

function totalRow(kind: ResourceKind, total: CurrencyTotal): TotalRow {
  const { currency, count, amountMinor, capturedMinor } = total;
  if (currency === null) return { currency, count, amounts: [] };
  const captured = [['captured', capturedMinor]] as const;
  const amounts = [['amount', amountMinor], ...(kind === 'payment' ? captured : [])] as const;
  return { currency, count, amounts };
}

export const paymentsPage = listPage('payment');
export const refundsPage = listPage('refund');
export const disputesPage = listPage('dispute');
export const payoutsPage = listPage('payout');

export const paymentsCsv = listDownload('payment');
export const refundsCsv = listDownload('refund');
export const disputesCsv = listDownload('dispute');
export const payoutsCsv = listDownload('payout');
