/**
 * The page that simulates a bank, a wallet or 3-D Secure. The customer chooses the outcome and is
 * redirected to the shop. Tests post to it as a browser would.
 */
import express, { type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import { formatMoney } from '../../contract/index.ts';
import { accept, type Decision, rejectValue } from '../domain/decision.ts';
import { CUSTOMER_ACTIONS, endAction, type PaymentState } from '../domain/payment.ts';
import { isStorable } from '../http/json.ts';
import { sendRejection } from '../http/respond.ts';
import type { Services } from '../services.ts';
import { sendPage } from './page.ts';
import { HOSTED_PATH } from './pageUrls.ts';
import { changePayment, fullView, unknownPayment } from './payments.ts';

const actionForm = z.object({ action: z.enum(CUSTOMER_ACTIONS) });

export function createHostedPage(services: Services): Router {
  const router = express.Router();
  router.get(`${HOSTED_PATH}/:payment_id`, async (request, response) => {
    const payment = await paymentOf(services, request);
    if (payment.rejection) {
      sendRejection(response, payment.rejection);
      return;
    }
    const { amount, currency, status } = payment.value;
    const content = status === 'requires_action' ? ACTIONS_FORM : NOTHING_LEFT;
    sendPage(response, `<h1>${formatMoney(amount, currency)}</h1>${content}`);
  });
  router.post(
    `${HOSTED_PATH}/:payment_id`,
    express.urlencoded({ extended: false }),
    async (request, response) => {
      const ended = await endPayment(services, request);
      if (ended.rejection) sendRejection(response, ended.rejection);
      else redirectToShop(response, ended.value);
    },
  );
  return router;
}

async function paymentOf({ store }: Services, request: Request): Promise<Decision<PaymentState>> {
  const id = String(request.params.payment_id);
  const found = isStorable(id) ? await store.readResource('payment', id) : undefined;
  return found?.kind === 'payment' ? accept(found.state) : unknownPayment(id);
}

/** Ends the payment's action as the form requests. @returns the payment, even if the action ended earlier */
async function endPayment(services: Services, request: Request): Promise<Decision<PaymentState>> {
  const form = actionForm.safeParse(request.body);
  if (!form.success) return rejectValue(`action: expected one of ${CUSTOMER_ACTIONS.join(', ')}`);
  const payment = await paymentOf(services, request);
  if (payment.rejection) return payment;
  // A rejection means that the action ended earlier, by another click or by a timeout. The customer is
  // redirected in any case.
  await changePayment(services, payment.value.payment_id, fullView, (state, nowMs) =>
    endAction(state, form.data.action, nowMs),
  );
  return await paymentOf(services, request);
}

function redirectToShop(response: Response, payment: PaymentState): void {
  const { return_url: returnUrl, payment_id: paymentId, status } = payment;
  if (returnUrl === undefined) {
    sendPage(response, `<h1>The payment is ${status}.</h1>${NOTHING_LEFT}`);
    return;
  }
  const back = new URL(returnUrl);
  back.searchParams.set('payment_id', paymentId);
  back.searchParams.set('status', status);
  response.redirect(303, back.href);
}

/** The labels of the actions. */
const LABELS: Readonly<Record<(typeof CUSTOMER_ACTIONS)[number], string>> = {
  complete: 'Pay',
  fail: 'Fail the check',
  abandon: 'Leave without paying',
};

const ACTIONS_FORM = `<p>This page simulates the bank, the wallet or 3-D Secure. Choose the outcome.</p>
<form method="post">${CUSTOMER_ACTIONS.map(
  (action) => `<button name="action" value="${action}">${LABELS[action]}</button>`,
).join('')}</form>`;

const NOTHING_LEFT = '<p>No further action is required.</p>';
