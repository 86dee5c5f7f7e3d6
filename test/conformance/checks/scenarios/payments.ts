/** Payments: fields, statuses, transitions, and the errors of their endpoints. */
import { expect } from 'vitest';
import { isKnownStatus, paymentSchema } from '../../../../src/contract/index.ts';
import { DAY_MS } from '../../../../src/platform/time.ts';
import { testCard } from '../../../../src/sandbox/domain/outcomes.ts';
import { card, cardPayment } from '../../../support/sandboxRequests.ts';
import type { Body } from '../../../support/serviceApi.ts';
import { prepare, sendPrepared } from '../requests.ts';
import { sample } from '../samples.ts';
import { BILLING, chosenId, ok, refused, type Service } from '../service.ts';
import type { Scenario, Scenarios } from './scenario.ts';

const plain = (fields: object = {}): object => ({
  amount: 6540,
  currency: 'USD',
  profile_id: 'pro_local',
  ...fields,
});

const NO_DETAILS = { payment_method_data: undefined, billing: undefined };

const unconfirmed = (service: Service, fields: object = {}): Promise<Body> =>
  service.payment({ confirm: false, ...fields });

const act = (service: Service, id: string, action: string, body: object = {}) =>
  service.post(`/payments/${id}/${action}`, body);

const capture = (service: Service, id: string, body: object = {}) =>
  act(service, id, 'capture', body);

/** [card number, brand, security code], one of each network that a number identifies. */
const BRANDS: readonly (readonly [string, string, string])[] = [
  ['4242424242424242', 'Visa', '123'],
  ['5555555555554444', 'Mastercard', '123'],
  ['2223003122003222', 'Mastercard', '123'],
  ['378282246310005', 'AmericanExpress', '1234'],
  ['6011111111111117', 'Discover', '123'],
  ['3056930009020004', 'DinersClub', '123'],
  ['3566002020360505', 'JCB', '123'],
  ['6200000000000005', 'UnionPay', '123'],
];

function numbered(number: string, cvc = '123'): object {
  return {
    card: { card_number: number, card_exp_month: '12', card_exp_year: '2039', card_cvc: cvc },
  };
}

const FIELDS: Scenarios = {
  keepsChosenPaymentId: async (service) => {
    const payment_id = chosenId();
    expect(await service.payment({ payment_id })).toMatchObject({ payment_id });
  },
  generatesPaymentId: async (service) => {
    const [one, two] = [await service.payment(), await service.payment()];
    expect(one.payment_id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(two.payment_id).not.toBe(one.payment_id);
  },
  paymentIdIsUnique: async (service) => {
    const payment_id = chosenId();
    await service.payment({ payment_id });
    const again = await service.post('/payments', cardPayment({ payment_id }));
    expect(again.body.error.code).toBe('HE_01');
  },
  acceptsPaymentIdOf64: async (service) => {
    const payment_id = (chosenId() + chosenId()).slice(0, 64);
    expect(await service.payment({ payment_id })).toMatchObject({ payment_id });
  },
  refusesPaymentIdOf65: async (service) => {
    refused(
      await service.post('/payments', cardPayment({ payment_id: 'x'.repeat(65) })),
      400,
      'IR_04',
    );
  },
  limitsCharactersOfPaymentId: async (service) => {
    const payment_id = `aZ09_-${chosenId()}`;
    expect(await service.payment({ payment_id })).toMatchObject({ payment_id });
    for (const wrong of ['a b', 'a.b', 'a/b', 'ä', 'a%20b']) {
      refused(await service.post('/payments', cardPayment({ payment_id: wrong })), 400, 'IR_04');
    }
  },
  capturesAutomaticallyByDefault: async (service) => {
    expect(await service.payment()).toMatchObject({
      capture_method: 'automatic',
      status: 'succeeded',
      amount_received: 6540,
    });
  },
  showsWallet: async (service) => {
    const request = cardPayment({ payment_method: 'wallet', ...NO_DETAILS });
    expect(ok(await service.post('/payments', request)).payment_method).toBe('wallet');
  },
  showsCrypto: async (service) => {
    const made = ok(await sendPrepared(service, await prepare(service, 'createPayment:crypto')));
    expect(made.payment_method).toBe('crypto');
  },
  hidesCardNumber: async (service) => {
    const made = await service.payment();
    const events = await service.eventsOf(made.payment_id);
    const shown = [
      made,
      await service.read('payments', made.payment_id),
      ok(await service.post('/payments/list', {})),
      events.map(({ event }) => event),
    ];
    expect(events.length).toBeGreaterThan(0);
    expect(JSON.stringify(shown)).not.toContain('4242424242424242');
  },
  namesBrandOfCard: async (service) => {
    for (const [number, brand, cvc] of BRANDS) {
      const made = await service.payment({ payment_method_data: numbered(number, cvc) });
      expect(made.payment_method_data.card.brand, number).toBe(brand);
    }
  },
  showsLastDigitsOfCard: async (service) => {
    for (const [number, , cvc] of BRANDS) {
      const made = await service.payment({ payment_method_data: numbered(number, cvc) });
      expect(made.payment_method_data.card.last4).toBe(number.slice(-4));
    }
  },
  createReturnsSecret: async (service) => {
    const made = ok(await service.post('/payments', plain()));
    expect(made.client_secret).toEqual(expect.stringMatching(/./));
  },
  updateReturnsSecret: async (service) => {
    const { payment_id, client_secret } = await unconfirmed(service);
    const updated = ok(await service.post(`/payments/${payment_id}`, { amount: 1 }));
    expect(updated.client_secret).toBe(client_secret);
  },
  confirmReturnsSecret: async (service) => {
    const { payment_id, client_secret } = await unconfirmed(service);
    expect(ok(await act(service, payment_id, 'confirm')).client_secret).toBe(client_secret);
  },
  capturedAtAfterCapture: async (service) => {
    const { payment_id, captured_at } = await service.hold();
    expect(captured_at ?? null).toBeNull();
    ok(await capture(service, payment_id));
    expect((await service.read('payments', payment_id)).captured_at).toEqual(expect.any(String));
  },
  capturedAtAfterApproval: async (service) => {
    const { payment_id, captured_at } = await service.paymentOf('review');
    expect(captured_at ?? null).toBeNull();
    expect(ok(await act(service, payment_id, 'approve')).captured_at).toEqual(expect.any(String));
  },
  noCancelledAtBefore: async (service) => {
    const { payment_id } = await service.hold();
    expect((await service.read('payments', payment_id)).cancelled_at ?? null).toBeNull();
    ok(await act(service, payment_id, 'cancel'));
    expect((await service.read('payments', payment_id)).cancelled_at).toEqual(expect.any(String));
  },
  noReasonWithoutOne: async (service) => {
    const { payment_id } = await service.hold();
    const cancelled = ok(await act(service, payment_id, 'cancel'));
    expect(cancelled.cancellation_reason ?? null).toBeNull();
  },
  noUnifiedCodeWithoutFailure: async (service) => {
    expect((await service.payment()).unified_code ?? null).toBeNull();
  },
  messageBelongsToCode: async (service) => {
    const declined = await service.paymentOf('final', 'UE_1002');
    expect(declined).toMatchObject({
      unified_code: 'UE_1002',
      unified_message: 'The card has expired',
      error_details: { unified_details: { message: 'The card has expired' } },
    });
  },
  readsPaymentWithoutFields: () => {
    const row = { payment_id: 'pay_1', status: 'succeeded', amount: 1, currency: 'USD' };
    expect(paymentSchema.parse(row)).toMatchObject(row);
  },
};

/** A payment in this status, in any way. */
const IN_STATUS: Readonly<Record<string, (service: Service) => Promise<Body>>> = {
  requires_payment_method: async (service) => ok(await service.post('/payments', plain())),
  requires_confirmation: unconfirmed,
  requires_action: (service) => service.paymentOf('customer_action'),
  processing: (service) => service.paymentOf('processing'),
  requires_capture: (service) => service.hold(),
  succeeded: (service) => service.payment(),
  failed: (service) => service.paymentOf('final', 'UE_1001'),
  partially_captured_and_capturable: async (service) => {
    const { payment_id } = await service.hold({ capture_method: 'manual_multiple' });
    ok(await capture(service, payment_id, { amount_to_capture: 1000 }));
    return service.read('payments', payment_id);
  },
  requires_merchant_action: (service) => service.paymentOf('review'),
  cancelled: async (service) => {
    const { payment_id } = await service.hold();
    ok(await act(service, payment_id, 'cancel'));
    return service.read('payments', payment_id);
  },
};

const inStatus = (service: Service, status: string): Promise<Body> => {
  const make = IN_STATUS[status];
  if (make === undefined) throw new Error(`no payment is made ${status}`);
  return make(service);
};

const reaches =
  (status: string): Scenario =>
  async (service) => {
    const { payment_id, status: reached } = await inStatus(service, status);
    expect(reached).toBe(status);
    expect(await service.read('payments', payment_id)).toMatchObject({ status });
  };

const cancels =
  (status: string): Scenario =>
  async (service) => {
    const { payment_id } = await inStatus(service, status);
    expect(ok(await act(service, payment_id, 'cancel'))).toMatchObject({ status: 'cancelled' });
    expect(await service.read('payments', payment_id)).toMatchObject({
      status: 'cancelled',
      amount_capturable: 0,
    });
  };

const STATUSES: Scenarios = {
  requiresPaymentMethod: reaches('requires_payment_method'),
  requiresConfirmation: reaches('requires_confirmation'),
  requiresAction: reaches('requires_action'),
  processing: reaches('processing'),
  requiresCapture: reaches('requires_capture'),
  succeeded: reaches('succeeded'),
  failed: reaches('failed'),
  cancelled: reaches('cancelled'),
  failedIs200: async (service) => {
    const payment_method_data = card(testCard('final', 'UE_1007'));
    const reply = await service.post('/payments', cardPayment({ payment_method_data }));
    expect([reply.status, reply.body.status]).toEqual([200, 'failed']);
    const { payment_id } = await unconfirmed(service, { payment_method_data });
    const confirmed = await act(service, payment_id, 'confirm');
    expect([confirmed.status, confirmed.body.status]).toEqual([200, 'failed']);
  },
  failedHasCode: async (service) => {
    expect((await service.paymentOf('final', 'UE_1001')).unified_code).toBe('UE_1001');
  },
  readsCustomerAction: () => {
    expect(isKnownStatus('payment', 'requires_customer_action')).toBe(true);
  },
  readsRedirection: () => {
    expect(isKnownStatus('payment', 'requires_redirection')).toBe(true);
  },
  createSucceeds: reaches('succeeded'),
  createRequiresAction: reaches('requires_action'),
  createFails: reaches('failed'),
  confirmSucceeds: async (service) => {
    const { payment_id } = await unconfirmed(service);
    expect(ok(await act(service, payment_id, 'confirm'))).toMatchObject({ status: 'succeeded' });
  },
  confirmRequiresAction: async (service) => {
    const payment_method_data = card(testCard('customer_action'));
    const { payment_id } = await unconfirmed(service, { payment_method_data });
    const confirmed = ok(await act(service, payment_id, 'confirm'));
    expect(confirmed).toMatchObject({ status: 'requires_action' });
  },
  confirmFails: async (service) => {
    const payment_method_data = card(testCard('final', 'UE_1001'));
    const { payment_id } = await unconfirmed(service, { payment_method_data });
    const confirmed = ok(await act(service, payment_id, 'confirm'));
    expect(confirmed).toMatchObject({ status: 'failed', unified_code: 'UE_1001' });
  },
  confirmBringsMethod: async (service) => {
    const { payment_id } = await inStatus(service, 'requires_payment_method');
    const method = { payment_method: 'card', payment_method_data: card(), billing: BILLING };
    expect(ok(await act(service, payment_id, 'confirm', method))).toMatchObject({
      status: 'succeeded',
      payment_method: 'card',
    });
  },
  confirmBringsCrypto: async (service) => {
    const { payment_id } = await inStatus(service, 'requires_payment_method');
    const { body } = await prepare(service, 'createPayment:crypto');
    const { amount, currency, profile_id, confirm, ...method } = body as Record<string, unknown>;
    expect(ok(await act(service, payment_id, 'confirm', method))).toMatchObject({
      status: 'requires_action',
      payment_method: 'crypto',
    });
  },
  confirmNeedsMethod: async (service) => {
    const { payment_id } = await inStatus(service, 'requires_payment_method');
    refused(await act(service, payment_id, 'confirm'), 400, 'IR_01');
  },
  confirmNeedsBilling: async (service) => {
    const { payment_id } = await inStatus(service, 'requires_payment_method');
    const method = { payment_method: 'card', payment_method_data: card() };
    refused(await act(service, payment_id, 'confirm', method), 400, 'IR_01');
  },
  confirmAuthorizes: async (service) => {
    const { payment_id } = await unconfirmed(service, { capture_method: 'manual' });
    expect(ok(await act(service, payment_id, 'confirm'))).toMatchObject({
      status: 'requires_capture',
      amount_capturable: 6540,
      amount_received: 0,
    });
  },
  threeDsRequiresAction: async (service) => {
    expect(await service.payment({ authentication_type: 'three_ds' })).toMatchObject({
      status: 'requires_action',
    });
  },
};

const updates =
  (field: string, value: unknown): Scenario =>
  async (service) => {
    const { payment_id } = await unconfirmed(service);
    const sent = value ?? (await service.customer()).customer_id;
    ok(await service.post(`/payments/${payment_id}`, { [field]: sent }));
    expect(await service.read('payments', payment_id)).toMatchObject({ [field]: sent });
  };

const TRANSITIONS: Scenarios = {
  updateChangesAmount: updates('amount', 4711),
  updateChangesCurrency: updates('currency', 'EUR'),
  updateChangesDescription: updates('description', 'Three shirts'),
  updateChangesMetadata: updates('metadata', { order_id: 'ord_9' }),
  updateChangesCustomer: updates('customer_id', undefined),
  updateKeepsStatus: async (service) => {
    const { payment_id } = await unconfirmed(service);
    const updated = ok(await service.post(`/payments/${payment_id}`, { amount: 1 }));
    expect(updated).toMatchObject({ status: 'requires_confirmation' });
  },
  updateMovesModified: async (service) => {
    const { payment_id, modified_at } = await unconfirmed(service);
    const updated = ok(await service.post(`/payments/${payment_id}`, { amount: 1 }));
    expect(Date.parse(updated.modified_at)).toBeGreaterThan(Date.parse(modified_at));
  },
  captureUpToCapturable: async (service) => {
    for (const amount_to_capture of [1, 6539, 6540]) {
      const { payment_id } = await service.hold();
      const captured = ok(await capture(service, payment_id, { amount_to_capture }));
      expect(captured.amount_received).toBe(amount_to_capture);
    }
  },
  fullCaptureSucceeds: async (service) => {
    const { payment_id } = await service.hold();
    expect(ok(await capture(service, payment_id))).toMatchObject({
      status: 'succeeded',
      amount_received: 6540,
    });
  },
  fullCaptureLeavesNothing: async (service) => {
    const { payment_id } = await service.hold();
    ok(await capture(service, payment_id, { amount_to_capture: 6540 }));
    expect(await service.read('payments', payment_id)).toMatchObject({ amount_capturable: 0 });
  },
  cancelsWithoutMethod: cancels('requires_payment_method'),
  cancelsUnconfirmed: cancels('requires_confirmation'),
  cancelsAction: cancels('requires_action'),
  cancelsProcessing: cancels('processing'),
  cancelsHold: cancels('requires_capture'),
  cancelsPartlyCaptured: cancels('partially_captured_and_capturable'),
  cancelsReview: cancels('requires_merchant_action'),
  cancelRefusesCaptured: async (service) => {
    const { payment_id } = await service.payment();
    refused(await act(service, payment_id, 'cancel'), 400);
    expect(await service.read('payments', payment_id)).toMatchObject({ status: 'succeeded' });
  },
  cancelRefusesCancelled: async (service) => {
    const { payment_id } = await inStatus(service, 'cancelled');
    refused(await act(service, payment_id, 'cancel'), 400);
  },
  cancelReleases: async (service) => {
    const { payment_id, amount_capturable } = await service.hold();
    expect(amount_capturable).toBe(6540);
    ok(await act(service, payment_id, 'cancel'));
    expect(await service.read('payments', payment_id)).toMatchObject({
      amount_capturable: 0,
      amount_received: 0,
    });
    refused(await capture(service, payment_id), 409);
  },
  cancelSetsTime: async (service) => {
    const { payment_id } = await service.hold();
    const { cancelled_at } = ok(await act(service, payment_id, 'cancel'));
    expect(await service.read('payments', payment_id)).toMatchObject({ cancelled_at });
  },
  approveSucceeds: async (service) => {
    const { payment_id } = await service.paymentOf('review');
    const reply = await service.post(`/payments/${payment_id}/approve`);
    expect(ok(reply)).toMatchObject({ status: 'succeeded' });
  },
  approveGoesOnToCapture: async (service) => {
    const { payment_id } = await service.paymentOf('review', undefined, {
      capture_method: 'manual',
    });
    expect(ok(await act(service, payment_id, 'approve'))).toMatchObject({
      status: 'requires_capture',
    });
    expect(ok(await capture(service, payment_id))).toMatchObject({ status: 'succeeded' });
  },
  capturesBefore7Days: async (service) => {
    const { payment_id } = await service.hold();
    await service.advance(7 * DAY_MS - 600_000);
    expect(ok(await capture(service, payment_id))).toMatchObject({ status: 'succeeded' });
  },
  expiresAfter7Days: async (service) => {
    const { payment_id } = await service.hold();
    await service.advance(7 * DAY_MS);
    refused(await capture(service, payment_id), 400);
    expect(await service.read('payments', payment_id)).toMatchObject({
      status: 'expired',
      amount_capturable: 0,
    });
  },
};

const CREATE: Scenarios = {
  acceptsExistingCustomer: async (service) => {
    const { customer_id } = await service.customer();
    expect(await service.payment({ customer_id })).toMatchObject({ customer_id });
  },
  oneOffPayment: async (service) => {
    const details = {
      email: 'ada@example.com',
      name: 'Ada Lovelace',
      phone: '5550100',
      phone_country_code: '+1',
    };
    const made = await service.payment(details);
    expect(made).toMatchObject({ status: 'succeeded', ...details });
    expect(made.customer_id ?? null).toBeNull();
  },
  confirmIsFalseByDefault: async (service) => {
    const made = await service.payment({ confirm: undefined });
    expect(made).toMatchObject({ status: 'requires_confirmation' });
  },
  keepsPhoneApart: async (service) => {
    expect(await service.payment({ phone: '5550100', phone_country_code: '+49' })).toMatchObject({
      phone: '5550100',
      phone_country_code: '+49',
    });
  },
  openPaymentMethod: async (service) => {
    const request = cardPayment({ payment_method: 'postal_order', ...NO_DETAILS });
    expect(ok(await service.post('/payments', request))).toMatchObject({
      payment_method: 'postal_order',
    });
  },
  /** Without details a card can be entered only on a hosted page, which requires a return_url. */
  confirmNeedsDetails: async (service) => {
    const request = cardPayment({ ...NO_DETAILS, return_url: undefined });
    refused(await service.post('/payments', request), 400, 'IR_01');
  },
  walletNeedsReturnUrl: needsReturnUrl({ payment_method: 'wallet', ...NO_DETAILS }),
  bankRedirectNeedsReturnUrl: needsReturnUrl({ payment_method: 'bank_redirect', ...NO_DETAILS }),
  hostedNeedsReturnUrl: needsReturnUrl(NO_DETAILS),
  threeDsNeedsReturnUrl: needsReturnUrl({ authentication_type: 'three_ds' }),
  refusalNamesOrderDetails: async (service) => {
    for (const name of ['items', 'line_items', 'cart_items']) {
      const reply = await service.post('/payments', cardPayment({ [name]: [] }));
      expect(refused(reply, 400, 'IR_04').message).toContain('order_details');
    }
  },
  redactsCardsInMetadata: async (service) => {
    const metadata = { order_id: 'ord_1', note: '4242424242424242', other: '4242 4242 4242 4242' };
    const made = await service.payment({ metadata });
    const events = await service.eventsOf(made.payment_id);
    const shown = JSON.stringify([
      made,
      await service.read('payments', made.payment_id),
      events.map(({ event }) => event),
    ]);
    expect(made.metadata.order_id).toBe('ord_1');
    expect(shown).not.toMatch(/4242[ -]?4242[ -]?4242[ -]?4242/);
  },
  openCustomerAcceptance: async (service) => {
    await service.payment({ customer_acceptance: { signed: { on: 'paper' } } });
    await service.payment({ customer_acceptance: {} });
  },
  createReturnsResource: async (service) => {
    const made = await service.payment();
    const { client_secret, ...shown } = made;
    expect(await service.read('payments', made.payment_id)).toEqual(shown);
  },
  repeatedCreateIsHe01: async (service) => {
    const payment_id = chosenId();
    await service.payment({ payment_id });
    const again = await service.post('/payments', cardPayment({ payment_id, billing: BILLING }));
    expect(again.status).toBeGreaterThanOrEqual(400);
    refused(again, again.status, 'HE_01');
  },
  repeatedCreateChangesNothing: async (service) => {
    const payment_id = chosenId();
    await service.payment({ payment_id });
    const first = await service.read('payments', payment_id);
    await service.post('/payments', cardPayment({ payment_id, amount: 1 }));
    expect(await service.read('payments', payment_id)).toEqual(first);
  },
  updateWithNothing: async (service) => {
    const { payment_id } = await unconfirmed(service);
    ok(await service.post(`/payments/${payment_id}`, {}));
  },
  updateReturnsResource: async (service) => {
    const { payment_id } = await unconfirmed(service);
    const { client_secret, ...shown } = ok(
      await service.post(`/payments/${payment_id}`, { amount: 1 }),
    );
    expect(await service.read('payments', payment_id)).toEqual(shown);
  },
  confirmReturnsResource: async (service) => {
    const { payment_id } = await unconfirmed(service);
    const { client_secret, ...shown } = ok(await act(service, payment_id, 'confirm'));
    expect(await service.read('payments', payment_id)).toEqual(shown);
  },
  retrieveReturnsResource: async (service) => {
    expect(await sample(service, 'payment')).toMatchObject({ status: 'succeeded', amount: 6540 });
  },
  cryptoReturns: async (service) => {
    const made = ok(await sendPrepared(service, await prepare(service, 'createPayment:crypto')));
    expect(made.return_url).toBe('https://shop.example/return');
  },
  redirectReturns: async (service) => {
    const made = await service.payment({ authentication_type: 'three_ds' });
    const page = await fetch(made.next_action.redirect_to_url);
    expect(page.status).toBe(200);
    const sent = await fetch(made.next_action.redirect_to_url, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ action: 'complete' }),
    });
    expect(sent.headers.get('location')).toContain('https://shop.example/return');
  },
  rejectsReview: async (service) => {
    const { payment_id } = await service.paymentOf('review');
    ok(await act(service, payment_id, 'reject'));
    const { status } = await service.read('payments', payment_id);
    expect(status).not.toBe('requires_merchant_action');
    expect(status).not.toBe('succeeded');
  },
  approveNeedsReview: async (service) => {
    const { payment_id } = await service.hold();
    refused(await act(service, payment_id, 'approve'), 400);
  },
};

function needsReturnUrl(fields: object): Scenario {
  return async (service) => {
    const reply = await service.post(
      '/payments',
      cardPayment({ ...fields, return_url: undefined }),
    );
    expect(refused(reply, 400, 'IR_01').message).toContain('return_url');
    const whole = cardPayment({ ...fields, return_url: 'https://shop.example/back' });
    ok(await service.post('/payments', whole));
  };
}

const captureDescriptor = async (service: Service, fields: object): Promise<string> => {
  const { payment_id } = await service.hold();
  ok(await capture(service, payment_id, fields));
  return (await service.read('payments', payment_id)).statement_descriptor;
};

const CAPTURE: Scenarios = {
  capturesInParts: async (service) => {
    const { payment_id } = await service.hold({ capture_method: 'manual_multiple' });
    const first = ok(await capture(service, payment_id, { amount_to_capture: 1000 }));
    expect(first).toMatchObject({ amount_received: 1000, amount_capturable: 5540 });
    const second = ok(await capture(service, payment_id, { amount_to_capture: 540 }));
    expect(second).toMatchObject({ amount_received: 1540, amount_capturable: 5000 });
    const last = ok(await capture(service, payment_id));
    expect(last).toMatchObject({
      status: 'succeeded',
      amount_received: 6540,
      amount_capturable: 0,
    });
  },
  captureAboveIs400: async (service) => {
    const { payment_id } = await service.hold();
    refused(await capture(service, payment_id, { amount_to_capture: 6541 }), 400, 'IR_04');
    expect(await service.read('payments', payment_id)).toMatchObject({ amount_received: 0 });
  },
  capturesAllByDefault: async (service) => {
    const { payment_id } = await service.hold();
    expect(ok(await capture(service, payment_id)).amount_received).toBe(6540);
  },
  prefixReplaces: async (service) => {
    const descriptor = await captureDescriptor(service, { statement_descriptor_prefix: 'SHIRTS' });
    expect(descriptor).toBe('SHIRTS');
  },
  suffixFollowsPrefix: async (service) => {
    const descriptor = await captureDescriptor(service, {
      statement_descriptor_prefix: 'SHIRTS',
      statement_descriptor_suffix: '1001',
    });
    expect(descriptor).toMatch(/^SHIRTS.*1001$/);
  },
  descriptorOf22: async (service) => {
    const { payment_id } = await service.hold();
    const fields = {
      statement_descriptor_prefix: 'p'.repeat(11),
      statement_descriptor_suffix: 's'.repeat(11),
    };
    ok(await capture(service, payment_id, fields));
  },
  descriptorOf23: async (service) => {
    const { payment_id } = await service.hold();
    const fields = {
      statement_descriptor_prefix: 'p'.repeat(11),
      statement_descriptor_suffix: 's'.repeat(12),
    };
    refused(await capture(service, payment_id, fields), 400, 'IR_04');
  },
};

const refuses =
  (make: (service: Service) => Promise<Body>, action: string, status: number): Scenario =>
  async (service) => {
    const { payment_id } = await make(service);
    refused(await act(service, payment_id, action), status);
  };
const nobody = () => Promise.resolve({ payment_id: 'nobody' });

const ERRORS: Scenarios = {
  approveSettledIs400: refuses((service) => inStatus(service, 'succeeded'), 'approve', 400),
  approveCancelledIs400: refuses((service) => inStatus(service, 'cancelled'), 'approve', 400),
  approveUnknownIs404: refuses(nobody, 'approve', 404),
  captureNotCapturableIs400: refuses(
    (service) => inStatus(service, 'requires_action'),
    'capture',
    400,
  ),
  captureUnknownIs404: refuses(nobody, 'capture', 404),
  captureCapturedIs409: refuses((service) => inStatus(service, 'succeeded'), 'capture', 409),
  captureCancelledIs409: refuses((service) => inStatus(service, 'cancelled'), 'capture', 409),
  cancelCapturedIs400: refuses((service) => inStatus(service, 'succeeded'), 'cancel', 400),
  cancelCancelledIs400: refuses((service) => inStatus(service, 'cancelled'), 'cancel', 400),
  cancelUnknownIs404: refuses(nobody, 'cancel', 404),
};

export const PAYMENTS: Scenarios = {
  ...FIELDS,
  ...STATUSES,
  ...TRANSITIONS,
  ...CREATE,
  ...CAPTURE,
  ...ERRORS,
};
