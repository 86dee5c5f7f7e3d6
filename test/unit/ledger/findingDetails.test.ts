/** What findings about events and states contain; the order's are in findings.test.ts. */
import { expect, test } from 'vitest';
import type { EventReading, InboxEvent } from '../../../src/ledger/domain/event.ts';
import {
  eventFindings,
  FINDING_CLASSES,
  NOT_APPLIED_CLASSES,
  STATE_FINDING_CLASSES,
  stateFindings,
} from '../../../src/ledger/domain/findings.ts';
import { mergeObservations } from '../../../src/ledger/domain/mergeObservations.ts';
import type { Observation } from '../../../src/ledger/domain/snapshot.ts';
import { observe, SECOND, T0 } from '../../support/observations.ts';

const EVENT: InboxEvent = {
  id: 12,
  eventId: 'evt_1',
  merchantId: 'merchant_1',
  body: Buffer.from('{}'),
  receivedMicros: T0,
  referenceMicros: T0,
  hasVariants: false,
  isRepeated: false,
};
const ref = { kind: 'payment', id: 'pay_1' } as const;
const resource = 'payment:pay_1';
const SNAPSHOT: EventReading = {
  outcome: 'snapshot',
  ref,
  content: {},
  observedMicros: T0,
  versionAhead: false,
  labelMismatch: undefined,
  profileId: undefined,
};

test.each(Object.entries(FINDING_CLASSES))('%s has a meaning for people: %s', (_name, meaning) => {
  expect(meaning).toMatch(/^[A-Z].+\.$/);
});

const READINGS: readonly (readonly [EventReading, string, object])[] = [
  [{ outcome: 'no_envelope' }, 'unreadable_event', {}],
  [
    { outcome: 'foreign_merchant', merchantId: 'merchant_2', namedIn: 'object' },
    'foreign_merchant',
    { merchantId: 'merchant_2', namedIn: 'object' },
  ],
  [
    { outcome: 'ignored', contentType: 'mandate_details' },
    'event_ignored',
    { contentType: 'mandate_details' },
  ],
  [
    { outcome: 'label_conflict', ref, label: 'refund_details', versionMicros: T0 },
    'label_conflict',
    { resource, label: 'refund_details' },
  ],
  [
    { outcome: 'unreadable_money', ref, field: 'amount', versionMicros: T0 },
    'amount',
    { resource, field: 'amount' },
  ],
  [{ ...SNAPSHOT, versionAhead: true }, 'version_ahead', { resource }],
  [{ ...SNAPSHOT, labelMismatch: 'refund_details' }, 'link', { resource, label: 'refund_details' }],
];

test.each(READINGS)('an event read as %j has the finding %s', (reading, name, detail) => {
  expect(eventFindings(EVENT, reading)).toEqual([
    { class: name, subject: 'event:12', detail: { eventId: 'evt_1', ...detail } },
  ]);
});

test('the findings that explain why an event posted nothing are those of events that are not applied', () => {
  const notApplied = READINGS.filter(([{ outcome }]) => outcome !== 'snapshot');
  expect(notApplied.map(([, name]) => name)).toEqual(NOT_APPLIED_CLASSES);
});

test('an event that is applied, or moves no money, has a finding only for its id', () => {
  for (const reading of [SNAPSHOT, { outcome: 'moneyless' } as const]) {
    expect(eventFindings(EVENT, reading)).toEqual([]);
    const again = { ...EVENT, hasVariants: true, isRepeated: true };
    expect(eventFindings(again, reading)).toEqual(
      ['event_id_reused', 'event_repeated'].map((name) => ({
        class: name,
        subject: 'event:12',
        detail: { eventId: 'evt_1' },
      })),
    );
  }
});

const PAID = {
  status: 'succeeded',
  amountMinor: 100,
  amountReceivedMinor: 100,
  currency: 'USD',
  versionMicros: T0,
};

function merged(...observations: readonly Observation[]): ReturnType<typeof mergeObservations> {
  return mergeObservations({ snapshots: [], epochs: [], contradiction: undefined }, observations);
}

function found(...observations: readonly Observation[]): ReturnType<typeof stateFindings> {
  return stateFindings(observations[0]?.ref ?? ref, merged(...observations));
}

function retrieved(fields: object): Observation {
  const content = { ...PAID, ...fields };
  return observe(content, { source: 'retrieve', observedMicros: T0 + SECOND });
}

test('a status that a retrieve contradicts is a conflict of statuses, and not of amounts', () => {
  const { versionMicros: _none, ...terms } = { ...PAID, status: 'cancelled' };
  const steps = [{ from: 'cancelled', to: 'succeeded' }];
  expect(found(observe(PAID), retrieved({ status: 'cancelled' }))).toEqual([
    { class: 'status_conflict', subject: resource, detail: { steps, retrieved: terms } },
  ]);
});

test('an amount that a retrieve contradicts is a conflict of amounts', () => {
  const { versionMicros: _none, ...terms } = { ...PAID, amountReceivedMinor: 60 };
  expect(found(observe(PAID), retrieved({ amountReceivedMinor: 60 }))).toContainEqual({
    class: 'amount',
    subject: resource,
    detail: { retrieved: terms },
  });
});

test('an impossible step is a conflict of statuses although no retrieve contradicts it', () => {
  const steps = [{ from: 'cancelled', to: 'succeeded' }];
  const cancelled = { ...PAID, status: 'cancelled', amountReceivedMinor: 0, versionMicros: T0 - 1 };
  expect(found(observe(cancelled), observe(PAID))).toEqual([
    { class: 'status_conflict', subject: resource, detail: { steps, retrieved: null } },
  ]);
});

test.each([
  ['a status', { status: 'failed' }, ['status_conflict']],
  ['an amount', { amountMinor: 90 }, ['amount']],
  ['an order alone', { orderId: 'ord_2' }, []],
])('a retrieve that contradicts %s of a certain state opens %j: %j', (_what, terms, classes) => {
  const certain = merged(observe({ ...PAID, orderId: 'ord_1' }));
  const shown = stateFindings(ref, { ...certain, contradiction: { terms, observedMicros: T0 } });
  expect(shown.map((finding) => [finding.class, finding.detail.retrieved])).toEqual(
    classes.map((name) => [name, terms]),
  );
});

test('two amounts of one version are a conflict although no retrieve contradicts them', () => {
  expect(found(observe(PAID), observe({ ...PAID, amountMinor: 110 }))).toEqual([
    { class: 'amount', subject: resource, detail: { retrieved: null } },
  ]);
});

test('verify compares each class that a state can show', () => {
  expect([...STATE_FINDING_CLASSES].sort()).toEqual([
    'amount',
    'capture_revoked',
    'over_capture',
    'payment_conflict',
    'status_conflict',
    'unknown_status',
  ]);
});

test('a finding about the state of a resource has what people need to handle it', () => {
  expect(found(observe({ ...PAID, status: 'unknown' }))).toEqual([
    { class: 'unknown_status', subject: resource, detail: { status: 'unknown' } },
  ]);
  const captured = { capturedMinor: 100, currency: 'USD' };
  expect(found(observe({ ...PAID, amountMinor: 90 }))).toEqual([
    { class: 'over_capture', subject: resource, detail: { amountMinor: 90, ...captured } },
  ]);
  expect(found(observe({ ...PAID, netAmountMinor: 95 }))).toEqual([
    {
      class: 'over_capture',
      subject: resource,
      detail: { amountMinor: 100, netAmountMinor: 95, ...captured },
    },
  ]);
  const failed = { ...PAID, status: 'failed', amountReceivedMinor: 0, versionMicros: T0 + 1 };
  expect(found(observe(PAID), observe(failed))).toContainEqual({
    class: 'capture_revoked',
    subject: resource,
    detail: { revokedMinor: 100, currency: 'USD' },
  });
  const refunds = ['pay_1', 'pay_2'].map((paymentId, at) =>
    observe({ ...PAID, paymentId, versionMicros: T0 + at }, { kind: 'refund', id: 'ref_1' }),
  );
  expect(found(...refunds)).toEqual([
    {
      class: 'payment_conflict',
      subject: 'refund:ref_1',
      detail: { paymentId: 'pay_2', namedPayments: ['pay_1', 'pay_2'] },
    },
  ]);
});
