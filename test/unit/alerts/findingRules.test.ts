/** Alerts about findings. Numbers are the rules of src/alerts/domain/rules/findings.ts. */
import { describe, expect, test } from 'vitest';
import { RULES } from '../../../src/alerts/domain/alert.ts';
import {
  ALERTING_CLASSES,
  alertsAbout,
  FINDING_CLASSES_JUDGED,
  findingAlert,
  GRACES,
  type OpenFinding,
  placeOf,
  resourceOf,
} from '../../../src/alerts/domain/rules/findings.ts';
import { FINDING_CLASSES } from '../../../src/ledger/domain/findings.ts';
import { HOUR_MS } from '../../../src/platform/time.ts';

const NOWHERE = {
  orderId: undefined,
  paymentId: undefined,
  status: undefined,
  currency: undefined,
  amountMinor: undefined,
};

function finding(changes: Partial<OpenFinding>): OpenFinding {
  return {
    class: 'over_refund',
    subject: 'order:order:ord_1',
    detail: {},
    ageMs: HOUR_MS,
    place: NOWHERE,
    ...changes,
  };
}

test('every class of findings has a verdict, and those that alert are rules (rule 3)', () => {
  expect([...FINDING_CLASSES_JUDGED].sort()).toEqual(Object.keys(FINDING_CLASSES).sort());
  for (const name of ALERTING_CLASSES) {
    expect(RULES).toContain(name);
    expect(alertsAbout(name)).toBe(true);
  }
});

test('a class of a later version raises no alert', () => {
  expect(alertsAbout('brand_new')).toBe(false);
  expect(alertsAbout('toString')).toBe(false);
  expect(findingAlert(finding({ class: 'brand_new' }))).toBeUndefined();
});

const SILENT = [
  'overdue',
  'authorization_expiring',
  'service_unusable',
  'version_ahead',
  'link',
  'event_ignored',
];

test.each(SILENT)('%s raises no alert', (name) => {
  expect(alertsAbout(name)).toBe(false);
  expect(findingAlert(finding({ class: name }))).toBeUndefined();
});

/** Findings that the next retrieves usually close. */
const REPAIRED = [
  'capture_revoked',
  'amount',
  'status_conflict',
  'missing_local',
  'stale_local',
  'list_unstable',
];

test.each(REPAIRED)(
  '%s raises an alert only after it was open for 20 minutes, within which a retrieve repairs most (rule 2)',
  (name) => {
    const graceMs = 20 * 60_000;
    const subject = 'payment:pay_1';
    expect(findingAlert(finding({ class: name, subject, ageMs: graceMs - 1 }))).toBeUndefined();
    expect(findingAlert(finding({ class: name, subject, ageMs: graceMs }))?.rule).toBe(name);
    expect(GRACES).toContainEqual({ class: name, graceMs });
  },
);

test('all others raise it at once', () => {
  const others = ALERTING_CLASSES.filter((name) => !REPAIRED.includes(name));
  for (const name of others) {
    expect(findingAlert(finding({ class: name, ageMs: 0 }))?.rule).toBe(name);
    expect(GRACES).toContainEqual({ class: name, graceMs: 0 });
  }
});

const PAID = { ...NOWHERE, status: 'succeeded', currency: 'USD', amountMinor: 6540 };

describe.each([
  {
    class: 'double_paid',
    subject: 'order:order:ord_1',
    detail: {
      payments: [
        { id: 'pay_1', capturedMinor: 6540, currency: 'USD' },
        { id: 'pay_2', capturedMinor: 6540, currency: 'USD' },
      ],
    },
    severity: 'critical',
    sentence:
      'Order ord_1 was paid more than once: pay_1, 65.40 USD; pay_2, 65.40 USD. Unless each of these payments is intended, the customer is owed a refund.',
    nextStep:
      'npx tallyhook orders explain ord_1; then refund the surplus payment: npx tallyhook payments refund --reason "…" PAYMENT',
  },
  {
    class: 'double_loss',
    subject: 'order:order:ord_1',
    detail: { currency: 'EUR', excessMinor: 1050 },
    severity: 'critical',
    sentence:
      'Refunds and disputes of order ord_1 exceed what their payments captured by 10.50 EUR: the customer may receive the same money twice.',
    nextStep:
      "npx tallyhook orders explain ord_1; then contest the dispute with the refund, or the other dispute, as evidence, before the dispute's deadline",
  },
  {
    class: 'dispute_and_refund',
    subject: 'order:order:ord_1',
    detail: {
      disputes: [{ id: 'dp_1', amountMinor: 2000, currency: 'USD' }],
      refunds: [{ id: 'ref_1', amountMinor: 540, currency: 'USD' }, { id: 'ref_2' }],
    },
    severity: 'critical',
    sentence:
      'Order ord_1 has a dispute (dp_1, 20.00 USD) and a pending refund (ref_1, 5.40 USD; ref_2, an unknown amount): the customer may receive the money twice.',
    nextStep:
      'npx tallyhook orders explain ord_1; then cancel the refund if the service still can, or contest the dispute with the refund as evidence before its deadline',
  },
  {
    class: 'over_refund',
    subject: 'order:payment:pay_9',
    detail: { currency: 'JPY', excessMinor: 500 },
    severity: 'critical',
    sentence:
      'Refunds of the order of payment pay_9 exceed what their payments captured by 500 JPY.',
    nextStep: 'npx tallyhook orders explain pay_9',
  },
  {
    class: 'over_capture',
    subject: 'payment:pay_1',
    detail: { amountMinor: 1000, capturedMinor: 1500, currency: 'USD' },
    severity: 'critical',
    sentence: 'Payment pay_1 captured 15.00 USD, more than its amount of 10.00 USD.',
    nextStep:
      'npx tallyhook orders explain pay_1; contact the service\'s support, then refund the excess: npx tallyhook payments refund --amount 500 --reason "…" pay_1',
  },
  {
    class: 'capture_revoked',
    subject: 'payment:pay_1',
    detail: { revokedMinor: 1000, currency: 'USD' },
    severity: 'critical',
    sentence:
      'The service reported 10.00 USD of payment pay_1 as captured, and later that the payment failed. The ledger reversed the capture. Check whether the goods were shipped.',
    nextStep: 'npx tallyhook orders explain pay_1',
  },
  {
    class: 'currency',
    subject: 'order:order:ord_1',
    detail: { parts: ['ref_1'] },
    severity: 'critical',
    sentence:
      'Order ord_1 has refunds or disputes in another currency than their payment: ref_1. Its totals cannot be offset against each other.',
    nextStep: 'npx tallyhook orders explain ord_1',
  },
  {
    class: 'amount',
    subject: 'event:12',
    detail: { eventId: 'evt_1', resource: 'refund:ref_1', field: 'amount' },
    severity: 'critical',
    sentence:
      'The amount of refund ref_1 is uncertain: it cannot be read, or responses of the service contradict each other.',
    nextStep: 'npx tallyhook refresh ref_1',
  },
  {
    class: 'status_conflict',
    subject: 'payment:pay_1',
    place: PAID,
    severity: 'warning',
    sentence:
      'The history of payment pay_1 of 65.40 USD has an impossible status transition, or the service contradicts it. The ledger keeps the status succeeded.',
    nextStep: 'npx tallyhook orders explain pay_1',
  },
  {
    class: 'unknown_status',
    subject: 'payout:po_1',
    detail: { status: 'on_the\nmoon' },
    severity: 'warning',
    sentence:
      'The service reports the status on_the moon for payout po_1, which this version of Tallyhook does not know. Its money is not posted.',
    nextStep: 'Install a newer version of Tallyhook, then run npx tallyhook refresh po_1',
  },
  {
    class: 'missing_local',
    subject: 'dispute:dp_1',
    severity: 'warning',
    sentence:
      'The service lists dispute dp_1, and Tallyhook could not retrieve it into the ledger.',
    nextStep: 'npx tallyhook refresh dp_1',
  },
  {
    class: 'stale_local',
    subject: 'payment:pay_1',
    place: PAID,
    severity: 'warning',
    sentence:
      'The service lists payment pay_1 with another state than the ledger (succeeded), and a retrieve did not resolve the difference.',
    nextStep: 'npx tallyhook refresh pay_1',
  },
  {
    class: 'stale_local',
    subject: 'payment:pay_1',
    detail: { difference: 'unreadable' },
    place: PAID,
    severity: 'warning',
    sentence:
      'The service lists payment pay_1 of 65.40 USD with money that cannot be read, and a retrieve did not resolve it. The ledger keeps the status succeeded.',
    nextStep: 'npx tallyhook refresh pay_1',
  },
  {
    class: 'missing_remote',
    subject: 'payment:pay_1',
    place: PAID,
    severity: 'warning',
    sentence:
      'The ledger has payment pay_1 of 65.40 USD, and the service responds that it does not exist.',
    nextStep: "npx tallyhook refresh pay_1; then contact the service's support about it",
  },
  {
    class: 'orphan',
    subject: 'payment:pay_1',
    detail: { since: '2026-11-20T10:00:30.000Z' },
    severity: 'warning',
    sentence:
      'Payment pay_1 was first mentioned at 2026-11-20 10:00 UTC, and the service has not known it since.',
    nextStep: 'npx tallyhook orders explain pay_1',
  },
  {
    class: 'totals',
    subject: 'totals:payments',
    severity: 'warning',
    sentence:
      'The totals of payments differ between the service and the ledger, and comparing them row by row did not resolve the difference.',
    nextStep:
      'npx tallyhook reconcile --stream payments --mode totals --from DAY, where DAY is 120 days ago',
  },
  {
    class: 'list_unstable',
    subject: 'list:refunds',
    severity: 'warning',
    sentence:
      "The service's list of refunds changes between pages or omits resources that the service has: reconciliation cannot find what the list omits.",
    nextStep:
      'npx tallyhook reconcile --stream refunds --mode full --from DAY, where DAY is the first day of the run that found it',
  },
  {
    class: 'filter_ignored',
    subject: 'list:refunds',
    severity: 'info',
    sentence:
      'The service ignores the filter by creation time in its list of refunds: Tallyhook reads the whole list each time, which is expensive but correct.',
    nextStep:
      'npx tallyhook findings list --subject list:refunds; then accept the finding: npx tallyhook findings accept NUMBER --reason "…"',
  },
  {
    class: 'watermark_ahead',
    subject: 'list:payments',
    detail: {
      watermark: '2026-11-24T10:00:00.000Z',
      service_time: '2026-11-21T10:00:00.000Z',
      set_to: '2026-11-20T09:00:00.000Z',
    },
    severity: 'warning',
    sentence:
      "The watermark of payments, 2026-11-24 10:00 UTC, was ahead of the service's clock (2026-11-21 10:00 UTC): a clock was wrong, and nothing new was compared. Reconciliation resumes at 2026-11-20 09:00 UTC.",
    nextStep:
      'npx tallyhook doctor compares the clocks; then npx tallyhook reconcile --stream payments',
  },
  {
    class: 'event_dead',
    subject: 'event:12',
    detail: { attempts: 8 },
    severity: 'warning',
    sentence:
      'Event 12 could not be applied in 8 attempts and is a dead event. Its change is in the ledger only if a later retrieve applied it.',
    nextStep:
      'npx tallyhook events show 12; when the cause is fixed: npx tallyhook events replay 12',
  },
  {
    class: 'unreadable_event',
    subject: 'event:12',
    severity: 'warning',
    sentence:
      'Event 12 has a valid signature but no usable envelope. It is stored and was not applied.',
    nextStep: 'npx tallyhook events show 12',
  },
  {
    class: 'payment_conflict',
    subject: 'refund:ref_1',
    detail: { paymentId: 'pay_2', namedPayments: ['pay_1', 'pay_2'] },
    severity: 'warning',
    sentence:
      'Events and responses of the service name different payments for refund ref_1: pay_1, pay_2. The ledger assigns it to pay_2, which the latest one names.',
    nextStep:
      "npx tallyhook orders explain ref_1; contact the service's support to find out which payment it belongs to",
  },
  {
    class: 'label_conflict',
    subject: 'event:12',
    detail: { eventId: 'evt_1', resource: 'payment:pay_1', label: 'refund_details' },
    severity: 'warning',
    sentence:
      'Event 12 is labeled refund_details, but its ids name payment pay_1. Nothing was posted from it; Tallyhook retrieves payment pay_1 from the service.',
    nextStep:
      "npx tallyhook events show 12; contact the service's support to find out which resource the event is about, then run npx tallyhook refresh ID",
  },
  {
    class: 'event_id_reused',
    subject: 'event:12',
    detail: { eventId: 'evt_1' },
    severity: 'warning',
    sentence:
      'Two different bodies arrived as event evt_1 (event 12). The first is applied; Tallyhook retrieves the current state from the service.',
    nextStep: 'npx tallyhook events show 12',
  },
  {
    class: 'event_repeated',
    subject: 'event:12',
    detail: { eventId: 'evt_1' },
    severity: 'warning',
    sentence:
      'Event evt_1 arrived again (event 12), with a valid signature, more than 400 days after it was applied. The ledger did not change. The service repeats no event after so long: somebody may be sending recorded webhooks.',
    nextStep:
      'npx tallyhook events show 12; if the service did not send it, replace the signing secret in WEBHOOK_SECRETS. Then accept the finding with npx tallyhook findings accept',
  },
  {
    class: 'foreign_merchant',
    subject: 'event:12',
    detail: { merchantId: 'mer_other' },
    severity: 'critical',
    sentence:
      'Event 12 was signed with your secret for another merchant account, mer_other. It was not applied.',
    nextStep:
      'Check PAYMENTS_MERCHANT_ID and which account sends webhooks to this address. If its events are yours, npx tallyhook replays start --state not_applied; if they are not, give that account a secret and URL of its own, and npx tallyhook findings accept --class foreign_merchant',
  },
  {
    class: 'foreign_profile',
    subject: 'profile:pro_2',
    detail: { profileId: 'pro_2', resource: 'payment:pay_1', source: 'webhook' },
    severity: 'info',
    sentence:
      'The service sends objects of profile pro_2, which is not PAYMENTS_PROFILE_ID; the first was payment pay_1. They are in the ledger, which covers all profiles of the account.',
    nextStep:
      'If the account has several shops, accept the finding: npx tallyhook findings list --class foreign_profile shows its number. Otherwise correct PAYMENTS_PROFILE_ID and restart',
  },
  {
    class: 'foreign_merchant',
    subject: 'event:12',
    detail: { merchantId: 'mer_other', namedIn: 'object' },
    severity: 'critical',
    sentence:
      'Event 12 names your merchant account, but its object names another one, mer_other. It was not applied.',
    nextStep:
      "npx tallyhook events show 12; contact the service's support to find out which account the object belongs to. If it is yours, reconciliation adds it",
  },
  {
    class: 'foreign_merchant',
    subject: 'payment:pay_1',
    detail: { merchantId: 'mer_other', namedIn: 'response' },
    severity: 'critical',
    sentence:
      'The service lists payment pay_1 for your API key, but its response names another merchant account, mer_other. It was not applied.',
    nextStep:
      'Check PAYMENTS_MERCHANT_ID, and that PAYMENTS_API_KEY belongs to this account; then npx tallyhook refresh pay_1',
  },
  {
    class: 'over_capture',
    subject: 'payment:pay_1',
    detail: { amountMinor: 2000, netAmountMinor: 1000, capturedMinor: 1500, currency: 'USD' },
    severity: 'critical',
    sentence: 'Payment pay_1 captured 15.00 USD, more than its amount of 10.00 USD.',
    nextStep:
      'npx tallyhook orders explain pay_1; contact the service\'s support, then refund the excess: npx tallyhook payments refund --amount 500 --reason "…" pay_1',
  },
  {
    class: 'amount',
    subject: 'refund:ref_1',
    place: { ...PAID, status: 'pending' },
    severity: 'critical',
    sentence:
      'The amount of refund ref_1 of 65.40 USD is uncertain: it cannot be read, or responses of the service contradict each other.',
    nextStep: 'npx tallyhook refresh ref_1',
  },
  {
    class: 'payment_conflict',
    subject: 'refund:ref_1',
    detail: { paymentId: 'pay_2', namedPayments: ['pay_1', 'pay_2'] },
    place: PAID,
    severity: 'warning',
    sentence:
      'Events and responses of the service name different payments for refund ref_1 of 65.40 USD: pay_1, pay_2. The ledger assigns it to pay_2, which the latest one names.',
    nextStep:
      "npx tallyhook orders explain ref_1; contact the service's support to find out which payment it belongs to",
  },
  {
    class: 'watermark_ahead',
    subject: 'list:payments',
    detail: {
      watermark: '2026-11-24T10:00:00.000Z',
      service_time: '2026-11-21T10:00:00.000Z',
      set_to: null,
    },
    severity: 'warning',
    sentence:
      "The watermark of payments, 2026-11-24 10:00 UTC, was ahead of the service's clock (2026-11-21 10:00 UTC): a clock was wrong, and nothing new was compared. Reconciliation resumes where the first import started.",
    nextStep:
      'npx tallyhook doctor compares the clocks; then npx tallyhook reconcile --stream payments',
  },
])('$class', ({ severity, sentence, nextStep, ...about }) => {
  test('states what is wrong, with formatted amounts, and what to do', () => {
    const alert = findingAlert(finding(about));
    expect(alert).toMatchObject({ rule: about.class, severity, sentence, nextStep, variant: '' });
  });
});

test('an order id with shell syntax is quoted in the command', () => {
  const subject = "order:order:a'b; rm -rf /";
  const alert = findingAlert(finding({ class: 'over_refund', subject }));
  expect(alert?.nextStep).toBe(String.raw`npx tallyhook orders explain 'a'\''b; rm -rf /'`);
});

test('the error of a dead event, which may quote its body, is not in the alert', () => {
  const detail = { attempts: 8, error: 'invalid name: Ada Lovelace' };
  const alert = findingAlert(finding({ class: 'event_dead', subject: 'event:1', detail }));
  expect(alert?.detail).toEqual({ attempts: 8 });
  expect(JSON.stringify(alert)).not.toContain('Lovelace');
});

test('an alert has the facts of its finding for programs, and what it belongs to', () => {
  const place = { ...PAID, orderId: '1001', paymentId: 'pay_1' };
  const detail = { excessMinor: 500, currency: 'USD' };
  expect(findingAlert(finding({ detail, place }))).toMatchObject({
    subject: 'order:order:ord_1',
    detail,
    orderId: '1001',
    paymentId: 'pay_1',
  });
});

test('an excess in several currencies states each', () => {
  const others = [{ currency: 'USD', excessMinor: 300 }];
  const detail = { currency: 'EUR', excessMinor: 1050, others };
  for (const name of ['over_refund', 'double_loss']) {
    const alert = findingAlert(finding({ class: name, detail }));
    expect(alert?.sentence).toContain('what their payments captured by 10.50 EUR and 3.00 USD');
  }
});

test('an excess that the service has not confirmed is called so, and no other', () => {
  const sentenceOf = (isConfirmed?: boolean) =>
    findingAlert(finding(isConfirmed === undefined ? {} : { isConfirmed }))?.sentence;
  const sentence =
    'Refunds of order ord_1 exceed what their payments captured by an unknown amount.';
  expect(sentenceOf(true)).toBe(sentence);
  expect(sentenceOf()).toBe(sentence);
  expect(sentenceOf(false)).toBe(
    `${sentence} The payment service has not confirmed this: some payments, refunds or disputes of the order could not be retrieved.`,
  );
});

describe('facts that are missing or of another type are called unknown', () => {
  test.each<[string, OpenFinding['detail'], string]>([
    ['double_paid', { payments: 'pay_1' }, 'was paid more than once: unknown.'],
    ['over_refund', { excessMinor: '500', currency: 'USD' }, 'by an unknown amount.'],
    ['over_refund', { excessMinor: 500, currency: 7 }, 'by an unknown amount.'],
    [
      'dispute_and_refund',
      { disputes: [null, 'dp_1'], refunds: 7 },
      'a dispute (unknown, an unknown amount; unknown, an unknown amount) and a pending refund (unknown)',
    ],
    ['orphan', { since: 'soon' }, 'at an unknown time,'],
    ['orphan', { since: 2026 }, 'at an unknown time,'],
    ['label_conflict', { label: 7 }, 'is labeled unknown, but its ids name nothing.'],
    ['foreign_merchant', {}, 'for another merchant account, unknown.'],
  ])('%s of %j: %s', (name, detail, text) => {
    expect(findingAlert(finding({ class: name, detail }))?.sentence).toContain(text);
  });
});

test('ids may have colons, in sentences and in commands', () => {
  const step = (changes: Partial<OpenFinding>) => {
    const alert = findingAlert(finding(changes));
    return [alert?.sentence.split(' exceed')[0]?.split(',')[0], alert?.nextStep];
  };
  expect(step({ subject: 'order:order:a:b' })).toEqual([
    'Refunds of order a:b',
    'npx tallyhook orders explain a:b',
  ]);
  expect(step({ class: 'missing_local', subject: 'payment:a:b' })).toEqual([
    'The service lists payment a:b',
    'npx tallyhook refresh a:b',
  ]);
});

test.each([{}, { capturedMinor: 1500 }, { amountMinor: 1000 }])(
  'an excess of unknown amount is refunded with an amount that a person fills in: %j',
  (detail) => {
    const alert = findingAlert(finding({ class: 'over_capture', subject: 'payment:-x', detail }));
    expect(alert?.nextStep).toContain('payments refund --amount MINOR --reason "…" -- -x');
  },
);

test('five payments of a finding of an earlier version, which has ids only, are all listed', () => {
  const payments = ['pay_1', 'pay_2', 'pay_3', 'pay_4', 'pay_5'];
  const alert = findingAlert(finding({ class: 'double_paid', detail: { payments } }));
  expect(alert?.sentence).toContain('once: pay_1; pay_2; pay_3; pay_4; pay_5. Unless');
});

test('long lists are truncated and show their count', () => {
  const payments = Array.from({ length: 12 }, (_, place) => `pay_${place}`);
  const alert = findingAlert(finding({ class: 'double_paid', detail: { payments } }));
  expect(alert?.sentence).toContain('pay_0; pay_1; pay_2; pay_3; pay_4 and 7 more.');
});

describe('the subject of a finding', () => {
  const row = {
    orderKey: 'order:ord_1',
    paymentId: 'pay_1',
    status: 'succeeded',
    currency: 'USD',
    amountMinor: 100,
  };
  test.each([
    [{ subject: 'payment:pay_9', detail: {}, row }, 'ord_1', 'pay_9'],
    [{ subject: 'refund:ref_1', detail: {}, row }, 'ord_1', 'pay_1'],
    [{ subject: 'refund:ref_1', detail: {}, row: undefined }, undefined, undefined],
    [{ subject: 'event:12', detail: { resource: 'refund:ref_1' }, row }, 'ord_1', 'pay_1'],
    [{ subject: 'event:12', detail: {}, row: undefined }, undefined, undefined],
    [{ subject: 'order:order:ord_2', detail: {}, row: undefined }, 'ord_2', undefined],
    [{ subject: 'order:payment:pay_2', detail: {}, row: undefined }, undefined, 'pay_2'],
    [{ subject: 'list:payments', detail: {}, row: undefined }, undefined, undefined],
  ])('%j', ({ row: stored, ...finding }, orderId, paymentId) => {
    expect(placeOf(finding, stored)).toMatchObject({ orderId, paymentId });
  });

  test('has the amount and the status that the ledger has', () => {
    const { status, currency, amountMinor } = row;
    const about = { subject: 'refund:ref_1', detail: {} };
    expect(placeOf(about, row)).toMatchObject({ status, currency, amountMinor });
  });

  test('of which the ledger knows nothing yet has neither', () => {
    const empty = {
      orderKey: null,
      paymentId: null,
      status: null,
      currency: null,
      amountMinor: null,
    };
    expect(placeOf({ subject: 'refund:ref_1', detail: {} }, empty)).toStrictEqual(NOWHERE);
  });

  test('may have colons in its ids', () => {
    const place = (subject: string) => placeOf({ subject, detail: {} }, undefined);
    expect(place('order:order:a:b')).toMatchObject({ orderId: 'a:b', paymentId: undefined });
    expect(place('order:payment:a:b')).toMatchObject({ orderId: undefined, paymentId: 'a:b' });
    expect(place('payment:a:b')).toMatchObject({ paymentId: 'a:b' });
  });

  test('is a resource by its kind, or the one that an event names', () => {
    expect(resourceOf({ subject: 'payout:po:1', detail: {} })).toEqual({
      kind: 'payout',
      id: 'po:1',
    });
    expect(resourceOf({ subject: 'event:12', detail: { resource: 'refund:ref_1' } })).toEqual({
      kind: 'refund',
      id: 'ref_1',
    });
    expect(resourceOf({ subject: 'event:12', detail: {} })).toBeUndefined();
    expect(resourceOf({ subject: 'event:12', detail: { resource: 7 } })).toBeUndefined();
  });
});
