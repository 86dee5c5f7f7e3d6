/**
 * The pages of payment links and payout links: the customer pays by card, or enters the account for a
 * payout. The schemas of the equivalent endpoints validate the forms.
 */
import express, { type Request, type Response, type Router } from 'express';
import { ENDPOINTS, formatMoney, problemsOf } from '../../contract/index.ts';
import { type Decision, type Rejection, rejectValue } from '../domain/decision.ts';
import type { PaymentState } from '../domain/payment.ts';
import { type PaymentLinkState, paymentLinkStatus } from '../domain/paymentLink.ts';
import { confirmPayout, isSessionOver, type PayoutState } from '../domain/payout.ts';
import { isStorable } from '../http/json.ts';
import { sendRejection } from '../http/respond.ts';
import { randomId } from '../ids.ts';
import type { Services } from '../services.ts';
import { ACCOUNT, ADDRESS, CARD, namesOf, payParts } from './linkForms.ts';
import { escapeHtml, type FormPart, formOf, sendPage } from './page.ts';
import { LINK_PATH, PAYOUT_LINK_PATH } from './pageUrls.ts';
import { lastPaymentOf, unknownLink } from './paymentLinks.ts';
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
    submitPayout(services, request, response),
  );
  return router;
}

/** A rejected form: the reason, and the values that were entered. */
interface Rejected {
  readonly rejection: Rejection;
  readonly values: Form;
}

async function showLink(
  services: Services,
  request: Request,
  response: Response,
  rejected?: Rejected,
): Promise<void> {
  const id = String(request.params.id);
  const link = isStorable(id) ? await services.store.readPaymentLink(id) : undefined;
  if (link === undefined) {
    reject(response, unknownLink(id));
    return;
  }
  const last = await lastPaymentOf(services, link);
  const status = paymentLinkStatus(link, last, services.shownClock.nowMs());
  const seller = link.payment_link_config?.seller_name;
  const form =
    status === 'active'
      ? `<p>Pay with a test card, 4242424242424242 for example.</p>${formOf(payParts(link), 'Pay', rejected?.values)}`
      : `<p>This link is ${status}.</p>`;
  const content = [
    seller === undefined ? '' : `<p>${escapeHtml(seller)}</p>`,
    `<h1>${formatMoney(link.amount, link.currency)}</h1>`,
    link.description === undefined ? '' : `<p>${escapeHtml(link.description)}</p>`,
    last === undefined ? '' : `<p>${lastPayment(last.status)}</p>`,
    problemOf(rejected),
    form,
  ];
  sendPage(response, content.join(''), rejected?.rejection.status);
}

/** Declines are shown without a reason, as a shop's page would show them. */
function lastPayment(status: string): string {
  return status === 'failed'
    ? 'The last payment failed. Another card may work.'
    : `The last payment is ${status}.`;
}

function problemOf(rejected: Rejected | undefined): string {
  return rejected === undefined
    ? ''
    : `<p class="problem">${escapeHtml(rejected.rejection.message)}</p>`;
}

async function payLink(services: Services, request: Request, response: Response): Promise<void> {
  const id = String(request.params.id);
  const form = textsOf(request.body);
  const paid = isStorable(id) ? await pay(services, id, form) : unknownLink(id);
  if (paid.rejection) {
    await showLink(services, request, response, { rejection: paid.rejection, values: form });
    return;
  }
  const next = paid.value.next_action?.redirect_to_url;
  response.redirect(303, next ?? request.path);
}

/** Under the link's lock, so that a one-time link is not paid twice. */
function pay(services: Services, id: string, form: Form): Promise<Decision<PaymentState>> {
  return services.resources.write(async (transaction, tx) => {
    const link = await tx.lockPaymentLink(id);
    if (link === undefined) return unknownLink(id);
    const last = link.payment_id ? await transaction.lock('payment', link.payment_id) : undefined;
    const status = paymentLinkStatus(link, last, transaction.nowMs);
    if (status !== 'active') return rejectValue(`This link is ${status}.`);
    const missing = namesOf(payParts(link)).find((name) => !form[name]);
    if (missing !== undefined) return rejectValue(`${missing}: required`);
    const body = paymentRequestOf(link, form, services.account.profileId);
    const [problem] = problemsOf(ENDPOINTS.createPayment.body, body);
    if (problem) return rejectValue(problem.message);
    const input = ENDPOINTS.createPayment.body.parse(body);
    const paymentId = randomId('pay_');
    const begun = await beginPayment(services, transaction, { ...input, payment_id: paymentId });
    if (begun.rejection) return begun;
    await transaction.insert({ kind: 'payment', state: begun.value });
    await tx.updatePaymentLink({ ...link, payment_id: paymentId });
    return begun;
  });
}

function paymentRequestOf(link: PaymentLinkState, form: Form, profileId: string): object {
  const pick = (parts: readonly FormPart[]) =>
    Object.fromEntries(namesOf(parts).map((name) => [name, form[name]]));
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
    payment_method_data: { card: pick([CARD]) },
    billing: {
      address: pick([ADDRESS]),
      phone: { number: form.phone, country_code: form.phone_country_code },
    },
    // Back to this page, which then shows the outcome.
    return_url: link.link_to_pay,
    metadata: { payment_link_id: link.payment_link_id },
  };
}

async function showPayout(
  services: Services,
  request: Request,
  response: Response,
  rejected?: Rejected,
): Promise<void> {
  const id = String(request.params.id);
  const found = isStorable(id) ? await services.store.readResource('payout', id) : undefined;
  if (found?.kind !== 'payout' || found.state.payout_link === undefined) {
    reject(response, unknownPayout(id));
    return;
  }
  const { amount, currency, status } = found.state;
  const isOver = isSessionOver(found.state, services.shownClock.nowMs());
  const form = !needsMethod(found.state)
    ? `<p>Your account is known. The payout is ${status}.</p>`
    : isOver
      ? '<p>This link has expired.</p>'
      : formOf([ACCOUNT], 'Receive', rejected?.values);
  const content = `<h1>${formatMoney(amount, currency)} for you</h1>${problemOf(rejected)}${form}`;
  sendPage(response, content, rejected?.rejection.status ?? (isOver ? 400 : undefined));
}

async function submitPayout(
  services: Services,
  request: Request,
  response: Response,
): Promise<void> {
  const id = String(request.params.id);
  const values = textsOf(request.body);
  const transfer = { payout_method_type: 'sepa', ...values };
  const body = { payout_type: 'bank', payout_method_data: { bank_transfer: transfer } };
  const [problem] = problemsOf(ENDPOINTS.confirmPayout.body, body);
  const filled = !isStorable(id)
    ? unknownPayout(id)
    : problem
      ? rejectValue(problem.message)
      : await changePayout(services, id, (state, nowMs) => {
          if (state.payout_link === undefined) return unknownPayout(id);
          if (!needsMethod(state)) return rejectValue(`The payout is ${state.status}.`);
          if (isSessionOver(state, nowMs)) return rejectValue('This link has expired.');
          return confirmPayout(state, ENDPOINTS.confirmPayout.body.parse(body), nowMs);
        });
  if (filled.rejection) {
    await showPayout(services, request, response, { rejection: filled.rejection, values });
    return;
  }
  response.redirect(303, request.path);
}

function needsMethod({ status }: PayoutState): boolean {
  return status === 'requires_payout_method_data';
}

function reject(response: Response, { rejection }: Decision<unknown>): void {
  if (rejection) sendRejection(response, rejection);
}

/** The text fields of a form, trimmed, without those that cannot be stored. */
function textsOf(body: unknown): Form {
  const texts = Object.entries((body ?? {}) as Record<string, unknown>).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string' && isStorable(pair[1]),
  );
  return Object.fromEntries(texts.map(([name, text]) => [name, text.trim()]));
}
