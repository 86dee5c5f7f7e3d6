/** One order: its money, its parts and its timeline. */
import { z } from 'zod';
import { id, orderBy } from '../../console/schemas.ts';
import { describeReason } from '../../contract/reasons.ts';
import type { OrderExplanation } from '../../ledger/domain/explainOrder.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import { explainNamed } from '../../ledger/read/explain.ts';
import { type ReadOrderDetail, readOrder } from '../../ledger/read/orders.ts';
import type { OrderTotalsRow, PartSummary } from '../../ledger/read/store/parts.ts';
import type { MessageRow } from '../../notify/store/messageRows.ts';
import type { Database } from '../../platform/db/database.ts';
import { OperatorError } from '../../platform/errors.ts';
import { refundableMinor } from '../../refunds/domain/refundable.ts';
import { orderLines } from '../../representation/explanationText.ts';
import { orderNamedBy } from '../../representation/order.ts';
import { HoldLinks, hasHoldLinks } from '../authorizations/HoldLinks.tsx';
import { type Column, DataTable, KeyValues, Preformatted, Section } from '../components/blocks.tsx';
import { ActionForm, Field } from '../components/forms.tsx';
import { Badge, Id, Money, Time } from '../components/values.tsx';
import { bodiesHref, orderHref, ordersHref, resourceHref } from '../links.ts';
import { definePage, type Viewer } from '../page.ts';
import { Related, type RelatedRows, readRelated } from '../related/Related.tsx';
import { refundPayment } from '../resources/resourceActions.ts';
import { unknownSubject } from '../search/unknownSubject.ts';
import { Timeline, type TimelineQuery, timelineQuery } from '../timeline/Timeline.tsx';
import { Accounts } from './Accounts.tsx';
import { OrderWebhooks, readWebhooksOfOrder } from './OrderWebhooks.tsx';
import { refreshOrder, registerExpectation, replayOrder } from './orderActions.ts';
import { Waterfall } from './Waterfall.tsx';

interface OrderData {
  readonly query: TimelineQuery;
  readonly order: ReadOrderDetail;
  readonly related: RelatedRows;
  readonly webhooks: readonly MessageRow[];
  /** Undefined for an order without events, and for one with too many to explain. */
  readonly explanation: OrderExplanation | undefined;
  readonly notExplained: string | undefined;
}

export const orderPage = definePage({
  path: '/orders/{order_id}',
  permission: 'read',
  params: z.strictObject({ order_id: id }),
  query: z.strictObject({ by: orderBy, ...timelineQuery }),
  load: async ({ db }, { params, query }) => {
    const order = await readOrder(db, { id: params.order_id, by: query.by });
    if (order) {
      const parts = order.parts.map(({ kind, id: part }) => `${kind}:${part}`);
      const related = await readRelated(db, [`order:${order.orderKey}`, ...parts]);
      const webhooks = await readWebhooksOfOrder(db, order.orderKey);
      const data = { query, order, related, webhooks, ...(await explain(db, order)) };
      return { outcome: 'ok', data };
    }
    const message = `No order, payment, refund or dispute has the id ${JSON.stringify(params.order_id)}. If it was just created, its event may not have arrived yet.`;
    return await unknownSubject(db, message);
  },
  topics: ({ order }) => [`order:${order.orderKey}`, 'findings'],
  view: (data, viewer) => ({
    title: `Order ${data.order.orderId}`,
    crumbs: [{ label: 'Orders', href: ordersHref() }],
    body: <OrderBody data={data} viewer={viewer} />,
  }),
});

async function explain(
  db: Database,
  { orderKey }: ReadOrderDetail,
): Promise<Pick<OrderData, 'explanation' | 'notExplained'>> {
  try {
    const { orders } = await explainNamed(db, orderKey);
    const explanation = orders.find((one) => one.orderKey === orderKey);
    return { explanation, notExplained: undefined };
  } catch (error) {
    // The order has more parts or bodies than are explained; the rest of its page can be shown.
    if (!(error instanceof OperatorError)) throw error;
    return { explanation: undefined, notExplained: error.message };
  }
}

function OrderBody({ data, viewer }: { readonly data: OrderData; readonly viewer: Viewer }) {
  const { order, explanation, notExplained } = data;
  return (
    <>
      <Summary order={order} />
      <MoneySection order={order} />
      <PartsSection order={order} />
      <Related related={data.related} />
      <OrderWebhooks webhooks={data.webhooks} />
      <Section title="Timeline">
        <Timeline {...order} of={orderHref(order.orderId)} url={viewer.url} query={data.query} />
        {order.timeline.some(({ type }) => type === 'event') ? (
          <p>
            <a href={bodiesHref(order.orderId, orderNamedBy(order.orderKey))}>
              Compare the bodies of its events
            </a>
          </p>
        ) : null}
      </Section>
      <Section title="Why it has this state">
        {explanation ? (
          <Preformatted label="Why it has this state">
            {orderLines(explanation).join('\n')}
          </Preformatted>
        ) : null}
        {explanation ? null : <p>{notExplained ?? 'No event of this order has arrived.'}</p>}
      </Section>
      <Section title="Journal">
        <Accounts transfers={explanation?.parts.flatMap(({ transfers }) => transfers) ?? []} />
      </Section>
      <OrderActions order={order} viewer={viewer} />
    </>
  );
}

function MoneySection({ order }: { readonly order: ReadOrderDetail }) {
  return (
    <Section title="Money">
      {order.totals.map((total) => (
        <Waterfall key={total.currency} total={total} />
      ))}
      <DataTable
        caption="Money by currency"
        columns={MONEY}
        rows={order.totals}
        keyOf={({ currency }) => currency}
        empty="No payment of this order has arrived."
      />
      {order.expected ? <Expected expected={order.expected} /> : null}
    </Section>
  );
}

function Expected({ expected }: { readonly expected: NonNullable<ReadOrderDetail['expected']> }) {
  const { currency, amountMinor, comparison, differenceMinor, registeredAt } = expected;
  return (
    <KeyValues
      rows={[
        ['Expected', <Money key="expected" amountMinor={amountMinor} currency={currency} />],
        ['Compared with captured', comparison.replaceAll('_', ' ')],
        [
          'Difference',
          <Money key="difference" amountMinor={differenceMinor} currency={currency} />,
        ],
        ['Registered', <Time key="registered" at={registeredAt} />],
        ['Registered by', expected.registeredBy],
      ]}
    />
  );
}

function PartsSection({ order }: { readonly order: ReadOrderDetail }) {
  return (
    <Section title="Parts">
      <DataTable
        caption="Payments, refunds and disputes"
        columns={PARTS}
        rows={order.parts}
        keyOf={({ kind, id: partId }) => `${kind}:${partId}`}
        empty="No payment of this order has arrived."
      />
      {order.arePartsComplete ? null : (
        <p>
          Only the first 1,000 parts are shown. The lists, filtered by this order, have all of them.
        </p>
      )}
    </Section>
  );
}

/** More than these are found in the lists. */
const MAX_PAYMENTS = 20;

/** What can be done with the money of its payments: each leads to a page that confirms it. */
function PaymentActions({
  parts,
  viewer,
}: {
  readonly parts: readonly PartSummary[];
  readonly viewer: Viewer;
}) {
  const payments = parts.filter(({ kind }) => kind === 'payment');
  const held = payments.filter((payment) => hasHoldLinks(payment, viewer));
  const captured = viewer.may(refundPayment.permission)
    ? payments.filter((payment) => refundableMinor(payment, []) !== 0)
    : [];
  return (
    <>
      {held.slice(0, MAX_PAYMENTS).map((payment) => (
        <p key={payment.id}>
          <Id id={payment.id} /> is authorized. <HoldLinks payment={payment} viewer={viewer} />
        </p>
      ))}
      {captured.slice(0, MAX_PAYMENTS).map(({ id: paymentId }) => (
        <p key={paymentId}>
          <Id id={paymentId} /> is captured.{' '}
          <a href={resourceHref('payment', paymentId)}>Refund it</a>
        </p>
      ))}
    </>
  );
}

function OrderActions({
  order: { orderKey, parts },
  viewer,
}: {
  readonly order: ReadOrderDetail;
  readonly viewer: Viewer;
}) {
  const params = { order_key: orderKey };
  return (
    <Section title="Actions">
      <PaymentActions parts={parts} viewer={viewer} />
      <ActionForm
        viewer={viewer}
        action={refreshOrder}
        params={params}
        label="Refresh from the service"
      >
        <p>Retrieves the payments of this order and applies what the service returns.</p>
      </ActionForm>
      <ActionForm viewer={viewer} action={replayOrder} params={params} label="Replay its events">
        <p>
          Applies the stored events of the timeline again. What is applied already does not change.
        </p>
      </ActionForm>
      <ActionForm
        viewer={viewer}
        action={registerExpectation}
        params={params}
        label="Register the expected amount"
      >
        <Field name="amount" label="Expected amount" required hint="For example 54.00." />
        <Field name="currency" label="Currency of it" required hint="For example EUR." />
      </ActionForm>
    </Section>
  );
}

function Summary({ order }: { readonly order: ReadOrderDetail }) {
  return (
    <KeyValues
      rows={[
        ['Order', <Id key="id" id={order.orderId} />],
        ['Status', <Badge key="status">{order.status}</Badge>],
        ['First seen', <Time key="seen" at={formatInstant(order.firstSeenMicros)} />],
        ['Updated', <Time key="updated" at={formatInstant(order.updatedMicros)} />],
      ]}
    />
  );
}

const amountColumn = (
  title: string,
  amountOf: (totals: OrderTotalsRow) => number,
): Column<OrderTotalsRow> => ({
  title,
  isNumber: true,
  cell: (totals) => <Money amountMinor={amountOf(totals)} currency={totals.currency} />,
});

const MONEY: readonly Column<OrderTotalsRow>[] = [
  { title: 'Currency', cell: ({ currency }) => currency },
  { title: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
  amountColumn('Authorized', ({ authorizedMinor }) => authorizedMinor),
  amountColumn('Captured', ({ capturedMinor }) => capturedMinor),
  amountColumn('Refunded', ({ refundedMinor }) => refundedMinor),
  amountColumn('Refund pending', ({ refundPendingMinor }) => refundPendingMinor),
  amountColumn('Disputed', ({ disputedMinor }) => disputedMinor),
  amountColumn('Charged back', ({ chargedBackMinor }) => chargedBackMinor),
];

const NOTE: Column<PartSummary> = {
  title: 'Note',
  cell: (part) => {
    const reason = describeReason(part.kind, part.status, part) ?? [];
    return [reason, ...part.uncertainties, ...part.openFindings].flat().join('; ') || 'none';
  },
};

const PARTS: readonly Column<PartSummary>[] = [
  {
    title: 'Id',
    cell: ({ kind, id: partId }) => <Id id={partId} href={resourceHref(kind, partId)} />,
  },
  { title: 'Kind', cell: ({ kind }) => kind },
  { title: 'Status', cell: ({ status }) => <Badge>{status ?? 'not seen yet'}</Badge> },
  {
    title: 'Amount',
    isNumber: true,
    cell: ({ amountMinor, currency }) => <Money amountMinor={amountMinor} currency={currency} />,
  },
  { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  NOTE,
];
