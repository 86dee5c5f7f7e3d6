/**
 * The page that stands in for a bank, a wallet or 3-D Secure: the customer says how it ended, and is
 * sent back to the shop. Tests post to it as the browser would.
 */
import express, { type Router } from 'express';
import { z } from 'zod';
import { formatMoney } from '../../contract/index.ts';
import { CUSTOMER_DEEDS, endAction } from '../domain/payment.ts';
import { sendRefusal } from '../http/answer.ts';
import type { Services } from '../services.ts';
import { readResource } from '../store/resources.ts';
import { HOSTED_PATH } from './hostedPageUrl.ts';
import { sendPage } from './page.ts';
import { change, unknownPayment, whole } from './payments.ts';

const deedForm = z.object({ deed: z.enum(CUSTOMER_DEEDS) });

export function createHostedPage(services: Services): Router {
  const router = express.Router();
  router.get(`${HOSTED_PATH}/:payment_id`, async (request, response) => {
    const paymentId = request.params.payment_id;
    const found = await readResource(services.db, 'payment', paymentId);
    if (found?.kind !== 'payment') {
      const { refusal } = unknownPayment(paymentId);
      if (refusal) sendRefusal(response, refusal);
      return;
    }
    const { amount, currency, status } = found.state;
    const asked = status === 'requires_action' ? DEEDS_FORM : NOTHING_LEFT;
    sendPage(response, `<h1>${formatMoney(amount, currency)}</h1>${asked}`);
  });
  router.post(
    `${HOSTED_PATH}/:payment_id`,
    express.urlencoded({ extended: false }),
    async (request, response) => {
      const form = deedForm.safeParse(request.body);
      const deed = form.success ? form.data.deed : 'abandon';
      const paymentId = String(request.params.payment_id);
      const ended = await change(services, paymentId, whole, (state, nowMs) =>
        endAction(state, deed, nowMs),
      );
      if (ended.refusal) {
        sendRefusal(response, ended.refusal);
        return;
      }
      const { return_url: returnUrl, status } = ended.state as {
        return_url?: string;
        status: string;
      };
      if (returnUrl === undefined) {
        sendPage(response, `<h1>The payment is ${status}.</h1>${NOTHING_LEFT}`);
        return;
      }
      const back = new URL(returnUrl);
      back.searchParams.set('payment_id', paymentId);
      back.searchParams.set('status', status);
      response.redirect(303, back.href);
    },
  );
  return router;
}

/** What each deed is called on the page. */
const LABELS: Readonly<Record<(typeof CUSTOMER_DEEDS)[number], string>> = {
  complete: 'Pay',
  fail: 'Fail the check',
  abandon: 'Leave without paying',
};

const DEEDS_FORM = `<p>This page stands in for the bank, the wallet or 3-D Secure. How does it end?</p>
<form method="post">${CUSTOMER_DEEDS.map(
  (deed) => `<button name="deed" value="${deed}">${LABELS[deed]}</button>`,
).join('')}</form>`;

const NOTHING_LEFT = '<p>There is nothing left to do here.</p>';
