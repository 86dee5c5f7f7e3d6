/**
 * The pages behind payment links and payout links: the customer pays by card, or says where to be
 * paid. What a form sends is judged by the schemas of the endpoints that do the same.
 */
import express, { type Request, type Response, type Router } from 'express';
import { ENDPOINTS, formatMoney, problemsOf } from '../../contract/index.ts';
import { type Decision, refuseValue } from '../domain/decision.ts';
import type { PaymentState } from '../domain/payment.ts';
import { type PaymentLinkState, paymentLinkStatus } from '../domain/paymentLink.ts';
import { confirmPayout, type PayoutState } from '../domain/payout.ts';
import { sendRefusal } from '../http/answer.ts';
import { isStorable } from '../http/json.ts';
import { randomId } from '../ids.ts';
import type { Services } from '../services.ts';
import { lockPaymentLink, readPaymentLink, updatePaymentLink } from '../store/paymentLinks.ts';
import { readResource } from '../store/resources.ts';
import { LINK_PATH, PAYOUT_LINK_PATH } from './hostedPageUrl.ts';
import { unknownLink } from './paymentLinks.ts';
import { beginPayment } from './payments.ts';
import { changePayout, unknownPayout } from './payouts.ts';

type Form = Readonly<Record<string, string>>;

export function createLinkPages(services: Services): Router {
  const router = express.Router();
  const readForm = express.urlencoded({ extended: false });
  router.get(`${LINK_PATH}/:id`, (request, response) => showLink(services, request, response));
  router.post(`${LINK_PATH}/:id`, readForm, (request, response) =>
    payLink(services, request, response),
  );
  router.get(`${PAYOUT_LINK_PATH}/:id`, (request, response) =>
    showPayout(services, request, response),
  );
  router.post(`${PAYOUT_LINK_PATH}/:id`, readForm, (request, response) =>
    fillPayout(services, request, response),
  );
  return router;
}

async function showLink(services: Services, request: Request, response: Response): Promise<void> {
  const id = String(request.params.id);
  const link = isStorable(id) ? await readPaymentLink(services.db, id) : undefined;
  if (link === undefined) {
    refuse(response, unknownLink(id));
    return;
  }
  const payment = link.payment_id && (await readResource(services.db, 'payment', link.payment_id));
  const paymentStatus = payment ? payment.state.status : undefined;
  const status = paymentLinkStatus(link, paymentStatus, services.clock.nowMs());
  const last = paymentStatus === undefined ? '' : `<p>The last payment is ${paymentStatus}.</p>`;
  const what = formatMoney(link.amount, link.currency);
  const about = link.description === undefined ? '' : `<p>${escapeHtml(link.description)}</p>`;
  const form =
    status === 'active' ? formOf(payFields(link), 'Pay') : `<p>This link is ${status}.</p>`;
  sendPage(response, `<h1>${what}</h1>${about}${last}${form}`);
}

async function payLink(services: Services, request: Request, response: Response): Promise<void> {
  const id = String(request.params.id);
  const form = textsOf(request.body);
  const paid = isStorable(id) ? await pay(services, id, form) : unknownLink(id);
  if (paid.refusal) {
    refuse(response, paid);
    return;
  }
  const next = paid.state.next_action?.redirect_to_url;
  response.redirect(303, next ?? request.path);
}

/** Under the link's lock, so that a one-time link is not paid twice. */
function pay(services: Services, id: string, form: Form): Promise<Decision<PaymentState>> {
  return services.books.write(async (entry, tx) => {
    const link = await lockPaymentLink(tx, id);
    if (link === undefined) return unknownLink(id);
    const last = link.payment_id ? await entry.lock('payment', link.payment_id) : undefined;
    const status = paymentLinkStatus(link, last?.status, entry.nowMs);
    if (status !== 'active') return refuseValue(`This link is ${status}.`);
    const missing = payFields(link).find((name) => !form[name]);
    if (missing !== undefined) return refuseValue(`${missing}: required`);
    const body = paymentOf(link, form, services.account.profileId);
    const [problem] = problemsOf(ENDPOINTS.createPayment.body, body);
    if (problem) return refuseValue(problem.message);
    const input = ENDPOINTS.createPayment.body.parse(body);
    const paymentId = randomId('pay_');
    const begun = await beginPayment(services, entry, { ...input, payment_id: paymentId });
    if (begun.refusal) return begun;
    await entry.insert({ kind: 'payment', state: begun.state });
    await updatePaymentLink(tx, { ...link, payment_id: paymentId });
    return begun;
  });
}

const CARD_FIELDS = ['card_number', 'card_exp_month', 'card_exp_year', 'card_cvc'] as const;
const ADDRESS_FIELDS = [
  'first_name',
  'last_name',
  'line1',
  'city',
  'state',
  'zip',
  'country',
] as const;
const PHONE_FIELDS = ['phone_country_code', 'phone'] as const;

function payFields(link: PaymentLinkState): readonly string[] {
  const customer = link.require_customer_info === true ? ['name', 'email'] : [];
  return [...CARD_FIELDS, ...customer, ...ADDRESS_FIELDS, ...PHONE_FIELDS];
}

function paymentOf(link: PaymentLinkState, form: Form, profileId: string): object {
  const pick = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, form[name]]));
  return {
    amount: link.amount,
    currency: link.currency,
    profile_id: profileId,
    customer_id: link.customer_id,
    confirm: true,
    capture_method: link.capture_method,
    authentication_type: link.authentication_type,
    description: link.description,
    name: form.name || undefined,
    email: form.email || link.email,
    payment_method: 'card',
    payment_method_data: { card: pick(CARD_FIELDS) },
    billing: {
      address: pick(ADDRESS_FIELDS),
      phone: { number: form.phone, country_code: form.phone_country_code },
    },
    // Back to this page, which then tells how it ended.
    return_url: link.link_to_pay,
    metadata: { payment_link_id: link.payment_link_id },
  };
}

const PAYOUT_FIELDS = ['account_holder_name', 'iban', 'bic'] as const;

async function showPayout(services: Services, request: Request, response: Response): Promise<void> {
  const id = String(request.params.id);
  const found = isStorable(id) ? await readResource(services.db, 'payout', id) : undefined;
  if (found?.kind !== 'payout' || found.state.payout_link === undefined) {
    refuse(response, unknownPayout(id));
    return;
  }
  const { amount, currency, status } = found.state;
  const form = asksForMethod(found.state)
    ? formOf(PAYOUT_FIELDS, 'Receive')
    : `<p>The payout is ${status}.</p>`;
  sendPage(response, `<h1>${formatMoney(amount, currency)} for you</h1>${form}`);
}

async function fillPayout(services: Services, request: Request, response: Response): Promise<void> {
  const id = String(request.params.id);
  const transfer = { payout_method_type: 'sepa', ...textsOf(request.body) };
  const body = { payout_type: 'bank', payout_method_data: { bank_transfer: transfer } };
  const [problem] = problemsOf(ENDPOINTS.confirmPayout.body, body);
  const filled = !isStorable(id)
    ? unknownPayout(id)
    : problem
      ? refuseValue(problem.message)
      : await changePayout(services, id, (state, nowMs) => {
          if (state.payout_link === undefined) return unknownPayout(id);
          if (!asksForMethod(state)) return refuseValue(`The payout is ${state.status}.`);
          return confirmPayout(state, ENDPOINTS.confirmPayout.body.parse(body), nowMs);
        });
  if (filled.refusal) refuse(response, filled);
  else response.redirect(303, request.path);
}

function asksForMethod({ status }: PayoutState): boolean {
  return status === 'requires_payout_method_data';
}

function refuse(response: Response, { refusal }: Decision<unknown>): void {
  if (refusal) sendRefusal(response, refusal);
}

/** Of a form: the texts that can be stored, without spaces around them. */
function textsOf(body: unknown): Form {
  const texts = Object.entries((body ?? {}) as Record<string, unknown>).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string' && isStorable(pair[1]),
  );
  return Object.fromEntries(texts.map(([name, text]) => [name, text.trim()]));
}

function formOf(names: readonly string[], action: string): string {
  const inputs = names.map(
    (name) => `<p><label>${name}<br><input name="${name}" required></label></p>`,
  );
  return `<form method="post">${inputs.join('')}<button>${action}</button></form>`;
}

function sendPage(response: Response, content: string): void {
  response
    .set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
    .type('html')
    .send(`<!doctype html><meta charset="utf-8"><title>Sandbox</title>
<style>body{font:16px sans-serif;margin:4em auto;max-width:30em}</style>
${content}
`);
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
