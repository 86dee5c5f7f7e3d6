/** What a person can do about an order: register its amount, refresh it, replay its events. */
import { z } from 'zod';
import { refreshOrderAs } from '../../actions/refreshNow.ts';
import { registerOrderAs } from '../../actions/registerOrder.ts';
import { type Replayed, replayEventsAs } from '../../actions/replayEvents.ts';
import { currency, id } from '../../console/schemas.ts';
import { formatMoney, parseDecimal } from '../../contract/money.ts';
import { orderIdOf } from '../../ledger/domain/orderKey.ts';
import { readOrder } from '../../ledger/read/orders.ts';
import type { Refreshed } from '../../reconcile/refreshOnRead.ts';
import { orderNamedBy } from '../../representation/order.ts';
import { orderHref } from '../links.ts';
import { defineAction, type Problem } from '../page.ts';

/** The key of an order is unique, unlike its id. */
const params = z.strictObject({
  order_key: id.refine((key) => /^(order|payment):./.test(key), 'must be the key of an order'),
});

const hrefOf = (orderKey: string) => orderHref(orderIdOf(orderKey), orderNamedBy(orderKey));

export const registerExpectation = defineAction({
  path: '/orders/{order_key}/expectation',
  permission: 'register_orders',
  params,
  form: z.strictObject({
    amount: z.string(),
    currency: z.string().toUpperCase().pipe(currency),
  }),
  act: async ({ db }, { params: { order_key: orderKey }, form, actor }) => {
    const amountMinor = parseDecimal(form.amount, form.currency);
    if (amountMinor === undefined) {
      const message = `The amount must be a decimal of ${form.currency}, such as ${formatMoney(5400, form.currency)} without the currency. Go back and correct it.`;
      return { outcome: 'invalid', message };
    }
    const wanted = { orderKey, orderId: orderIdOf(orderKey), currency: form.currency, amountMinor };
    const registration = await registerOrderAs({ db }, actor, wanted);
    const what = formatMoney(amountMinor, form.currency);
    const notice = {
      registered: `${what} is registered as the expected amount.`,
      replaced: `${what} replaces the expected amount.`,
      unchanged: `${what} was registered already. Nothing changed.`,
    }[registration];
    return { outcome: 'done', to: hrefOf(orderKey), notice };
  },
});

export const refreshOrder = defineAction({
  path: '/orders/{order_key}/refresh',
  permission: 'refresh',
  params,
  form: z.strictObject({}),
  act: async ({ db, refresher }, { params: { order_key: orderKey }, actor }) => {
    if (!refresher) {
      const message =
        'The console has no API key of the payment service. Set PAYMENTS_BASE_URL and PAYMENTS_API_KEY.';
      return { outcome: 'unavailable', message };
    }
    const name = { id: orderIdOf(orderKey), by: orderNamedBy(orderKey), orderKey };
    const refreshed = await refreshOrderAs({ db, refresher }, actor, name);
    return { outcome: 'done', to: hrefOf(orderKey), notice: refreshNotice(refreshed) };
  },
});

function refreshNotice(refreshed: Refreshed): string {
  switch (refreshed.outcome) {
    case 'fresh':
      return 'Every payment was retrieved. The page shows the state at the service.';
    case 'partly':
      return `Some payments could not be retrieved: ${refreshed.reason}. Try again soon.`;
    case 'failed':
      return `Nothing could be retrieved: ${refreshed.reason}. Try again soon.`;
    case 'unknown':
      return `The service knows no payment of this order: ${refreshed.reason}.`;
  }
}

export const replayOrder = defineAction({
  path: '/orders/{order_key}/replay',
  permission: 'operate',
  params,
  form: z.strictObject({}),
  act: async ({ db, enqueueEvents }, { params: { order_key: orderKey }, actor }) => {
    const order = await readOrder(db, { id: orderIdOf(orderKey), by: orderNamedBy(orderKey) });
    const numbers = (order?.timeline ?? []).flatMap((entry) =>
      entry.type === 'event' ? [entry.number] : [],
    );
    if (numbers.length === 0) return NO_EVENTS;
    const replayed = await replayEventsAs({ db, enqueue: enqueueEvents }, actor, [
      ...new Set(numbers),
    ]);
    return { outcome: 'done', to: hrefOf(orderKey), notice: replayNotice(replayed) };
  },
});

const NO_EVENTS: Problem = {
  outcome: 'conflict',
  message: 'No event of this order is in the inbox, so nothing was replayed. Refresh it instead.',
};

function replayNotice({ outcome, replayed, refused }: Replayed): string {
  const count = replayed.length === 1 ? '1 event is' : `${replayed.length} events are`;
  const when = outcome === 'enqueued' ? 'applied again now' : 'applied again within two minutes';
  const [first] = refused;
  const without = first
    ? ` ${refused.length} could not be replayed; the first is ${first.number}: ${first.reason}.`
    : '';
  return `${count} ${when}. What is in the ledger already does not change.${without}`;
}
