/** What a person can do about a payout: pay it again, cancel it, send its money. */
import { z } from 'zod';
import {
  cancelPayout as cancelEndpoint,
  fulfillPayout as fulfillEndpoint,
  retryPayout as retryEndpoint,
} from '../../console/routes/payouts.ts';
import { currency, id, reasonGiven } from '../../console/schemas.ts';
import { formatMoney } from '../../contract/money.ts';
import { isUndonePayout } from '../../contract/reasons.ts';
import { detailsOf, TYPED_METHOD_NAMES, TYPED_METHODS } from '../../payouts/domain/methods.ts';
import { paidAgainText } from '../../representation/payoutText.ts';
import { confirmsAmount, seenMinor } from '../components/typedAmount.ts';
import { resourceHref } from '../links.ts';
import { defineAction } from '../page.ts';
import { throughEndpoint } from '../throughEndpoint.ts';

const params = z.strictObject({ payout_id: id });
const seen = { expected_amount: seenMinor, currency, amount: z.string(), reason: reasonGiven };

/** The fields of every method; those of other methods are absent. */
const methodFields = Object.fromEntries(
  Object.values(TYPED_METHODS)
    .flatMap(({ fields }) => fields.map(({ name }) => name))
    .map((name) => [name, z.string().max(500).optional()]),
);
const retryResponse = z.object({ new_payout_id: z.string(), status: z.string().nullable() });

export const retryPayout = defineAction({
  path: '/payouts/{payout_id}/retry',
  permission: 'move_money',
  params,
  form: z.strictObject({
    ...seen,
    /** Absent: the stored account. */
    method: z.enum(TYPED_METHOD_NAMES).optional(),
    ...methodFields,
  }),
  act: async (parts, { params: named, form, actor }) => {
    const { amount, expected_amount, currency: of, reason, method, ...values } = form;
    const refused = confirmsAmount(amount, of, expected_amount);
    if (refused) return refused;
    const details = method && detailsOf(method, values as Record<string, string | undefined>);
    const body = {
      expected_amount,
      currency: of,
      reason,
      ...(details && { payout_method_data: details }),
    };
    return await throughEndpoint(retryEndpoint, parts, { params: named, body, actor }, (given) => {
      const { new_payout_id: newId, status } = retryResponse.parse(given);
      const what = isUndonePayout(status)
        ? paidAgainText(newId, status)
        : `Paid again: ${formatMoney(expected_amount, of)}. This is the new payout.`;
      return { outcome: 'done', to: resourceHref('payout', newId), notice: what };
    });
  },
});

const actionForm = z.strictObject({ ...seen, status: z.string() });

export const cancelPayout = defineAction({
  path: '/payouts/{payout_id}/cancel',
  permission: 'move_money',
  params,
  form: actionForm.omit({ amount: true }),
  act: async (parts, { params: named, form: body, actor }) => {
    const to = resourceHref('payout', named.payout_id);
    const notice = 'Cancelled. The money stays with you.';
    return await throughEndpoint(
      cancelEndpoint,
      parts,
      { params: named, body, actor },
      { to, notice },
    );
  },
});

export const fulfillPayout = defineAction({
  path: '/payouts/{payout_id}/fulfill',
  permission: 'move_money',
  params,
  form: actionForm,
  act: async (parts, { params: named, form: { amount, ...body }, actor }) => {
    const refused = confirmsAmount(amount, body.currency, body.expected_amount);
    if (refused) return refused;
    const to = resourceHref('payout', named.payout_id);
    const notice = 'The service sends the money. The status below shows how far it is.';
    return await throughEndpoint(
      fulfillEndpoint,
      parts,
      { params: named, body, actor },
      { to, notice },
    );
  },
});
