/**
 * The page that stands in for a bank, a wallet or 3-D Secure: the customer says how it ended, and is
 * sent back to the shop. Tests post to it as the browser would.
 */
import express, { type Router } from 'express';
import { z } from 'zod';
import { CUSTOMER_DEEDS, endAction } from '../domain/payment.ts';
import { sendRefusal } from '../http/answer.ts';
import type { Services } from '../services.ts';
import { readResource } from '../store/resources.ts';
import { HOSTED_PATH } from './hostedPageUrl.ts';
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
    response
      .set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
      .type('html')
      .send(page(`${amount} minor units of ${currency}`, status === 'requires_action'));
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
        response.type('html').send(page(`The payment is ${status}.`, false));
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

/** `what` is made here and by the contract's schemas: digits, letters and underscores. */
function page(what: string, asks: boolean): string {
  const buttons = CUSTOMER_DEEDS.map(
    (deed) => `<button name="deed" value="${deed}">${deed}</button>`,
  ).join(' ');
  return `<!doctype html><meta charset="utf-8"><title>Sandbox</title>
<style>body{font:16px sans-serif;margin:4em auto;max-width:30em}</style>
<h1>Payment sandbox</h1><p>${what}</p>
${asks ? `<form method="post">${buttons}</form>` : '<p>Nothing is to be done here.</p>'}
`;
}
