/** What a person can do about one resource: refresh it from the service, refund a payment. */
import { z } from 'zod';
import { refreshResourceAs } from '../../actions/refreshNow.ts';
import { NO_SERVICE_KEY } from '../../console/notDone.ts';
import { refundPayment as refundEndpoint } from '../../console/routes/refundPayment.ts';
import { currency, id, reasonGiven } from '../../console/schemas.ts';
import { formatMoney } from '../../contract/money.ts';
import { RESOURCE_KINDS } from '../../contract/resources/index.ts';
import type { Refreshed } from '../../reconcile/refreshOnRead.ts';
import { readTypedAmount, seenMinor } from '../components/typedAmount.ts';
import { resourceHref } from '../links.ts';
import { defineAction } from '../page.ts';
import { throughEndpoint } from '../throughEndpoint.ts';

export const refreshResource = defineAction({
  path: '/resources/{kind}/{id}/refresh',
  permission: 'refresh',
  params: z.strictObject({ kind: z.enum(RESOURCE_KINDS), id }),
  form: z.strictObject({}),
  act: async ({ db, refresher }, { params: ref, actor }) => {
    if (!refresher) return NO_SERVICE_KEY;
    const refreshed = await refreshResourceAs({ db, refresher }, actor, ref);
    return { outcome: 'done', to: resourceHref(ref.kind, ref.id), notice: noticeOf(refreshed) };
  },
});

function noticeOf(refreshed: Refreshed): string {
  switch (refreshed.outcome) {
    case 'fresh':
      return 'Retrieved. The page shows the state at the service.';
    case 'unknown':
      return `The service does not have it: ${refreshed.reason}.`;
    case 'partly':
    case 'failed':
      return `It could not be retrieved: ${refreshed.reason}. Try again soon.`;
  }
}

export const refundPayment = defineAction({
  path: '/payments/{payment_id}/refund',
  permission: 'move_money',
  params: z.strictObject({ payment_id: id }),
  form: z.strictObject({
    amount: z.string(),
    expected_amount: seenMinor,
    currency,
    reason: reasonGiven,
  }),
  act: async (parts, { params, form, actor }) => {
    const read = readTypedAmount(form.amount, form.currency, form.expected_amount);
    if (read.outcome !== 'read') return read;
    const body = { ...form, amount: read.amountMinor };
    const what = formatMoney(read.amountMinor, form.currency);
    const notice = `The service took the refund of ${what}. The list of refunds below has its status.`;
    const to = resourceHref('payment', params.payment_id);
    return await throughEndpoint(refundEndpoint, parts, { params, body, actor }, { to, notice });
  },
});
