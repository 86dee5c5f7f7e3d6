/** The page of one payment, refund, dispute or payout: its state, its reason and how it came to be. */
import { z } from 'zod';
import { id } from '../../console/schemas.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { isCapturable } from '../../contract/statuses.ts';
import type { ReasonDetail } from '../../ledger/domain/reasonDetail.ts';
import { reasonDetailOf } from '../../ledger/domain/reasonDetail.ts';
import { type ResourceDetail, readPaymentChildren } from '../../ledger/read/store/payments.ts';
import { type ListedResource, readListedResource } from '../../ledger/read/store/resourceList.ts';
import { confirmHoldsPage } from '../authorizations/authorizationsPage.tsx';
import { holdValue } from '../authorizations/holds.ts';
import { DataTable, KeyValues, Section } from '../components/blocks.tsx';
import { Id, Money, Time } from '../components/values.tsx';
import { confirmHoldsHref, resourceHref, resourcesHref } from '../links.ts';
import { definePage, type Viewer } from '../page.ts';
import { OrderLink, Status } from './columns.tsx';

const NAMES: Readonly<Record<ResourceKind, readonly [one: string, many: string]>> = {
  payment: ['Payment', 'Payments'],
  refund: ['Refund', 'Refunds'],
  dispute: ['Dispute', 'Disputes'],
  payout: ['Payout', 'Payouts'],
};

const MAX_CHILDREN = 1_000;

function resourcePage(kind: ResourceKind) {
  const [one, many] = NAMES[kind];
  return definePage({
    path: `/${kind}s/{id}`,
    permission: 'read',
    params: z.strictObject({ id }),
    query: z.strictObject({}),
    load: async ({ db }, { params }) => {
      const row = await readListedResource(db, { kind, id: params.id });
      if (!row) {
        const message = `No ${kind} has the id ${JSON.stringify(params.id)}. If it was just created, its event may not have arrived yet.`;
        return { outcome: 'not_found', message };
      }
      const limit = MAX_CHILDREN + 1;
      const children =
        kind === 'payment' ? await readPaymentChildren(db, { paymentId: row.id, limit }) : [];
      return { outcome: 'ok', data: { row, children } };
    },
    view: ({ row, children }, viewer) => ({
      title: `${one} ${row.id}`,
      crumbs: [{ label: many, href: resourcesHref(kind) }],
      body: (
        <>
          <State row={row} viewer={viewer} />
          <Reason detail={reasonDetailOf(row)} kind={kind} />
          {kind === 'payment' ? <Children rows={children} /> : null}
        </>
      ),
    }),
  });
}

export const paymentPage = resourcePage('payment');
export const refundPage = resourcePage('refund');
export const disputePage = resourcePage('dispute');
export const payoutPage = resourcePage('payout');

function State({ row, viewer }: { readonly row: ListedResource; readonly viewer: Viewer }) {
  return (
    <KeyValues
      rows={[
        ['Id', <Id key="id" id={row.id} />],
        ['Status', <Status key="status" row={row} />],
        ['Amount', <Money key="amount" amountMinor={row.amountMinor} currency={row.currency} />],
        ...ownRows(row, viewer),
        ['Created', <Time key="created" at={row.createdAt} />],
        ['First seen', <Time key="seen" at={row.firstSeenAt} />],
        ['Updated', <Time key="updated" at={row.updatedAt} />],
        ['Uncertain', row.uncertainties.join(', ') || 'no'],
        ['Open findings', row.openFindings.join(', ') || 'none'],
      ]}
    />
  );
}

type Rows = Parameters<typeof KeyValues>[0]['rows'];

/** What only some kinds have. */
function ownRows(row: ListedResource, viewer: Viewer): Rows {
  const order = ['Order', <OrderLink key="order" orderKey={row.orderKey} />] as const;
  switch (row.kind) {
    case 'payment':
      return [order, ...paymentRows(row, viewer)];
    case 'refund':
      return [order, paymentOf(row), ['Requested for', row.reason ?? 'not stated']];
    case 'dispute':
      return [
        order,
        paymentOf(row),
        ['Stage', row.stage ?? 'not stated'],
        ['Evidence due', <Time key="due" at={row.deadlineAt} />],
        ['Time left', timeLeft(row, viewer.nowMs)],
      ];
    case 'payout':
      return [['Reference', row.reference === null ? 'none' : <Id key="ref" id={row.reference} />]];
  }
}

function paymentRows(row: ListedResource, viewer: Viewer): Rows {
  const { currency } = row;
  return [
    ['Captured', <Money key="captured" amountMinor={row.capturedMinor} currency={currency} />],
    [
      'Authorized',
      <Money key="authorized" amountMinor={row.authorizedMinor} currency={currency} />,
    ],
    ['Capture method', row.captureMethod ?? 'not stated'],
    ['Capture before', <Time key="before" at={row.deadlineAt} />],
    ...holdRows(row, viewer),
  ];
}

/** The way to capture or release a hold, for a role that may. */
function holdRows(row: ListedResource, viewer: Viewer): Rows {
  const { id: paymentId, currency, status } = row;
  const amountMinor = row.authorizedMinor - row.capturedMinor;
  const isOpen = isCapturable(status) && amountMinor > 0 && currency !== null;
  if (!isOpen || !viewer.may(confirmHoldsPage.permission)) return [];
  const hold = holdValue({ paymentId, amountMinor, currency });
  return [
    [
      'Hold',
      <span key="hold">
        <a href={confirmHoldsHref('capture', hold)}>Capture it</a> or{' '}
        <a href={confirmHoldsHref('cancel', hold)}>release it</a>
      </span>,
    ],
  ];
}

function paymentOf({ paymentId }: ListedResource): Rows[number] {
  if (paymentId === null) return ['Payment', 'not stated'];
  return ['Payment', <Id key="payment" id={paymentId} href={resourceHref('payment', paymentId)} />];
}

const HOUR_MS = 3_600_000;

/** The time until evidence is due, for a dispute that waits for it. */
function timeLeft({ status, deadlineAt }: ListedResource, nowMs: number): string {
  if (status !== 'opened') return 'nothing is due';
  if (deadlineAt === null) return 'the service sent no deadline';
  const hours = Math.floor((deadlineAt.getTime() - nowMs) / HOUR_MS);
  if (hours < 0) return 'the deadline passed';
  return hours >= 48 ? `${Math.floor(hours / 24)} days` : `${hours} hours`;
}

function Reason({
  detail,
  kind,
}: {
  readonly detail: ReasonDetail | undefined;
  readonly kind: ResourceKind;
}) {
  if (!detail) return null;
  return (
    <Section title={kind === 'dispute' ? 'Reason and next step' : 'Why it failed'}>
      <KeyValues
        rows={[
          ['Code', detail.code ?? 'not sent'],
          ['Message', detail.message ?? 'not sent'],
          ...(kind === 'dispute'
            ? []
            : ([
                ["Acquirer's code", detail.errorCode ?? 'not sent'],
                ["Acquirer's text", detail.errorMessage ?? 'not sent'],
              ] as const)),
          ['Next step', detail.advice],
        ]}
      />
    </Section>
  );
}

function Children({ rows }: { readonly rows: readonly ResourceDetail[] }) {
  return (
    <Section title="Refunds and disputes">
      <DataTable
        caption="Refunds and disputes of this payment, oldest first"
        rows={rows.slice(0, MAX_CHILDREN)}
        keyOf={({ kind, id: childId }) => `${kind}:${childId}`}
        empty="None."
        columns={[
          {
            title: 'Id',
            cell: ({ kind, id: childId }) => <Id id={childId} href={resourceHref(kind, childId)} />,
          },
          { title: 'Kind', cell: ({ kind }) => kind },
          { title: 'Status', cell: (row) => <Status row={row} /> },
          {
            title: 'Amount',
            isNumber: true,
            cell: ({ amountMinor, currency }) => (
              <Money amountMinor={amountMinor} currency={currency} />
            ),
          },
          { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
      />
      {rows.length > MAX_CHILDREN ? (
        <p>{`Only the first ${MAX_CHILDREN} are shown. The lists of refunds and disputes have all of them.`}</p>
      ) : null}
    </Section>
  );
}
