/** The page of one payment, refund, dispute or payout: its state, its reason and how it came to be. */
import { z } from 'zod';
import { id } from '../../console/schemas.ts';
import { formatAmount } from '../../contract/money.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { deriveOrder } from '../../ledger/domain/order.ts';
import { namedOrderId, orderIdOf } from '../../ledger/domain/orderKey.ts';
import type { ReasonDetail } from '../../ledger/domain/reasonDetail.ts';
import { reasonDetailOf } from '../../ledger/domain/reasonDetail.ts';
import { readPartRow } from '../../ledger/read/store/explain.ts';
import { type ResourceDetail, readPaymentChildren } from '../../ledger/read/store/payments.ts';
import { type ListedResource, readListedResource } from '../../ledger/read/store/resourceList.ts';
import { type Timeline as ReadTimeline, readResourceTimeline } from '../../ledger/read/timeline.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { isOpenOrLost, refundableMinor } from '../../refunds/domain/refundable.ts';
import { contradictionText } from '../../representation/contradictionText.ts';
import { disputedText, evidenceDueAt } from '../../representation/disputeText.ts';
import { orderNamedBy } from '../../representation/order.ts';
import { HoldLinks, hasHoldLinks } from '../authorizations/HoldLinks.tsx';
import { DataTable, KeyValues, Section } from '../components/blocks.tsx';
import { ActionForm, Field, Hidden, Reason as ReasonField } from '../components/forms.tsx';
import { Id, Money, Time } from '../components/values.tsx';
import {
  AtStake,
  Deadline,
  DisputeChoice,
  ReasonMeaning,
  timeLeft,
} from '../disputes/DisputeParts.tsx';
import { orderHref, resourceBodiesHref, resourceHref, resourcesHref } from '../links.ts';
import { Waterfall } from '../orders/Waterfall.tsx';
import { definePage, type Viewer } from '../page.ts';
import {
  PayoutAnswer,
  type PayoutChain,
  PayoutChoice,
  readPayoutChain,
} from '../payouts/PayoutParts.tsx';
import { Related, readRelated } from '../related/Related.tsx';
import { unknownSubject } from '../search/unknownSubject.ts';
import { Timeline, type TimelineQuery, timelineQuery } from '../timeline/Timeline.tsx';
import { OrderLink, Status } from './columns.tsx';
import { RESOURCE_NAMES } from './names.ts';
import { refreshResource, refundPayment } from './resourceActions.ts';

const MAX_CHILDREN = 1_000;

/** A resource, its payment if it has one, and the other parts of that payment. */
interface Family {
  readonly row: ListedResource;
  readonly payment: ListedResource | undefined;
  /** Refunds and disputes of the payment. */
  readonly children: readonly ResourceDetail[];
  /** Of a payout. */
  readonly chain?: PayoutChain;
}

async function readFamily(db: Queryable, row: ListedResource): Promise<Family> {
  const paymentId = row.kind === 'payment' ? row.id : row.paymentId;
  if (row.kind === 'payout') {
    return { row, payment: undefined, children: [], chain: await readPayoutChain(db, row) };
  }
  if (paymentId === null) return { row, payment: undefined, children: [] };
  const payment =
    row.kind === 'payment' ? row : await readListedResource(db, { kind: 'payment', id: paymentId });
  const children = await readPaymentChildren(db, { paymentId, limit: MAX_CHILDREN + 1 });
  return { row, payment, children };
}

/** What the service returned against the ledger, in words; undefined if it agrees. */
async function readContradiction(db: Queryable, row: ListedResource): Promise<string | undefined> {
  const { contradiction, nextCheckMicros } = (await readPartRow(db, row)) ?? {};
  if (!contradiction) return undefined;
  const held = { ...row, orderId: namedOrderId(row.orderKey) ?? null };
  const nextCheckAt = nextCheckMicros ? new Date(nextCheckMicros / 1_000) : undefined;
  return contradictionText({ contradiction, held, nextCheckAt });
}

function resourcePage(kind: ResourceKind) {
  const [one, many] = RESOURCE_NAMES[kind];
  return definePage({
    path: `/${kind}s/{id}`,
    permission: 'read',
    params: z.strictObject({ id }),
    query: z.strictObject(timelineQuery),
    load: async ({ db }, { params, query }) => {
      const row = await readListedResource(db, { kind, id: params.id });
      const history = row && (await readResourceTimeline(db, row));
      if (row && history) {
        const related = await readRelated(db, [`${kind}:${row.id}`]);
        const family = await readFamily(db, row);
        const contradicted = await readContradiction(db, row);
        return { outcome: 'ok', data: { family, contradicted, related, history, query } };
      }
      const message = `No ${kind} has the id ${JSON.stringify(params.id)}. If it was just created, its event may not have arrived yet.`;
      return await unknownSubject(db, message);
    },
    topics: ({ family: { row } }) => [`${row.kind}:${row.id}`, `order:${row.orderKey ?? ''}`],
    view: ({ family, contradicted, related, history, query }, viewer) => ({
      title: `${one} ${family.row.id}`,
      crumbs: [{ label: many, href: resourcesHref(kind) }],
      body: (
        <>
          {contradicted === undefined ? null : <p class="notice warn">{contradicted}</p>}
          <ResourceBody family={family} viewer={viewer} />
          <Related related={related} />
          <History row={family.row} history={history} query={query} url={viewer.url} />
          <Refresh row={family.row} viewer={viewer} />
        </>
      ),
    }),
  });
}

export const paymentPage = resourcePage('payment');
export const refundPage = resourcePage('refund');
export const disputePage = resourcePage('dispute');
export const payoutPage = resourcePage('payout');

function ResourceBody({ family, viewer }: { readonly family: Family; readonly viewer: Viewer }) {
  const { row, children, chain } = family;
  return (
    <>
      {chain ? <PayoutAnswer row={row} chain={chain} viewer={viewer} /> : null}
      {row.kind === 'dispute' ? <Deadline row={row} nowMs={viewer.nowMs} /> : null}
      <State row={row} viewer={viewer} />
      <Reason detail={reasonDetailOf(row)} kind={row.kind} />
      {row.kind === 'dispute' ? <DisputeSections family={family} viewer={viewer} /> : null}
      {row.kind === 'payout' ? <PayoutChoice row={row} viewer={viewer} /> : null}
      {row.kind === 'payment' ? <PaymentMoney family={family} viewer={viewer} /> : null}
      {row.kind === 'payment' ? <Children rows={children} /> : null}
    </>
  );
}

function DisputeSections({ family, viewer }: { readonly family: Family; readonly viewer: Viewer }) {
  const { row, payment, children } = family;
  const parts = [...(payment ? [payment] : []), ...children].map(partOf);
  return (
    <>
      <ReasonMeaning row={row} />
      <AtStake row={row} parts={parts} />
      <DisputeChoice row={row} viewer={viewer} />
    </>
  );
}

/** The money of a payment as a figure, and the form that refunds it. */
function PaymentMoney({ family, viewer }: { readonly family: Family; readonly viewer: Viewer }) {
  const { row, children } = family;
  const { totals } = deriveOrder([row, ...children].map(partOf));
  if (children.length > MAX_CHILDREN || totals.length === 0) return null;
  return (
    <Section title="Money">
      {totals.map((total) => (
        <Waterfall key={total.currency} total={total} />
      ))}
      <RefundForm family={family} viewer={viewer} />
    </Section>
  );
}

function partOf(row: ResourceDetail) {
  const { kind, authorizedMinor, capturedMinor, amountMinor } = row;
  return {
    kind,
    authorizedMinor,
    capturedMinor,
    amountMinor: amountMinor ?? undefined,
    status: row.status ?? undefined,
    stage: row.stage ?? undefined,
    currency: row.currency ?? undefined,
  };
}

function RefundForm({ family, viewer }: { readonly family: Family; readonly viewer: Viewer }) {
  const { row, children } = family;
  const { currency, id: paymentId, capturedMinor } = row;
  const left = refundableMinor(row, children);
  if (capturedMinor === 0 || currency === null) return null;
  if (left === undefined || left === 0) {
    return (
      <>
        <p>
          Nothing can be refunded: all of it is refunded, disputed, voided, or of unknown amount.
        </p>
        <DisputeWarning rows={children} />
      </>
    );
  }
  return (
    <ActionForm
      viewer={viewer}
      action={refundPayment}
      params={{ payment_id: paymentId }}
      label="Refund"
      isDangerous
    >
      <p>
        <Money amountMinor={left} currency={currency} /> can be refunded.
      </p>
      <DisputeWarning rows={children} />
      <Hidden name="expected_amount" value={String(left)} />
      <Hidden name="currency" value={currency} />
      <Field
        name="amount"
        label={`Amount to refund in ${currency}`}
        required
        hint={`Type it, up to ${formatAmount(left, currency)}.`}
      />
      <ReasonField />
    </ActionForm>
  );
}

function DisputeWarning({ rows }: { readonly rows: readonly ResourceDetail[] }) {
  const text = disputedText(rows.filter(isOpenOrLost));
  return text === '' ? null : <p class="warn">{text}</p>;
}

/** How it came to be, and what its events and responses carried. */
function History({
  row: { kind, id: resourceId, orderKey },
  history,
  query,
  url,
}: Pick<Family, 'row'> &
  Pick<Viewer, 'url'> & { readonly history: ReadTimeline; readonly query: TimelineQuery }) {
  return (
    <Section title="Timeline">
      <Timeline {...history} of={resourceHref(kind, resourceId)} url={url} query={query} />
      {history.timeline.some(({ type }) => type === 'snapshot') ? (
        <p>
          <a href={resourceBodiesHref(kind, resourceId)}>Compare its bodies and snapshots</a>
        </p>
      ) : null}
      {orderKey === null ? null : (
        <p>
          <a href={orderHref(orderIdOf(orderKey), orderNamedBy(orderKey))}>
            Timeline and journal of its order
          </a>
        </p>
      )}
    </Section>
  );
}

function Refresh({
  row: { kind, id: resourceId },
  viewer,
}: Pick<Family, 'row'> & { readonly viewer: Viewer }) {
  return (
    <Section title="Refresh">
      <ActionForm
        viewer={viewer}
        action={refreshResource}
        params={{ kind, id: resourceId }}
        label="Refresh from the service"
      >
        <p>{`Retrieves this ${kind} and applies what the service returns.`}</p>
      </ActionForm>
    </Section>
  );
}

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
        ['Evidence due', <Time key="due" at={evidenceDueAt(row)} isRelative />],
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
    ['Capture before', <Time key="before" at={row.deadlineAt} isRelative />],
    ...holdRows(row, viewer),
  ];
}

function holdRows(row: ListedResource, viewer: Viewer): Rows {
  return hasHoldLinks(row, viewer)
    ? [['Hold', <HoldLinks key="hold" payment={row} viewer={viewer} />]]
    : [];
}

function paymentOf({ paymentId }: ListedResource): Rows[number] {
  if (paymentId === null) return ['Payment', 'not stated'];
  return ['Payment', <Id key="payment" id={paymentId} href={resourceHref('payment', paymentId)} />];
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
