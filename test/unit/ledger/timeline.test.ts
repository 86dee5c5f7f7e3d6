/** The numbers in brackets are the invariants of src/ledger/domain/timeline.ts. */
import { describe, expect, test } from 'vitest';
import { findingMeaning } from '../../../src/ledger/domain/findings.ts';
import type {
  AlertHistory,
  FindingHistory,
  History,
  SnapshotHistory,
  TransferHistory,
} from '../../../src/ledger/domain/history.ts';
import { buildTimeline, timelineBy } from '../../../src/ledger/domain/timeline.ts';

const nothing: History = {
  snapshots: [],
  transfers: [],
  statuses: [],
  expectations: [],
  findings: [],
  alerts: [],
  audit: [],
};

const snapshot = (fields: Partial<SnapshotHistory>): SnapshotHistory => ({
  kind: 'payment',
  id: 'pay_1',
  source: 'webhook',
  isCurrent: true,
  status: 'succeeded',
  stage: null,
  currency: 'USD',
  amountMinor: 6540,
  receivedMinor: 6540,
  recordedMicros: 2_000,
  effectiveMicros: 500,
  eventNumber: 1,
  eventId: 'evt_1',
  eventType: 'payment_succeeded',
  eventReceivedMicros: 1_000,
  ...fields,
});
const transfer = (fields: Partial<TransferHistory>): TransferHistory => ({
  kind: 'payment',
  id: 'pay_1',
  leg: 'captured',
  debit: 'psp.clearing',
  credit: 'order.due',
  currency: 'USD',
  amountMinor: 6540,
  cumulativeMinor: 6540,
  recordedMicros: 2_000,
  effectiveMicros: 500,
  eventNumber: 1,
  eventId: 'evt_1',
  headSource: 'webhook',
  ...fields,
});
const finding = (fields: Partial<FindingHistory>): FindingHistory => ({
  id: 1,
  class: 'unknown_status',
  subject: 'payment:pay_1',
  detail: {},
  openedMicros: 2_000,
  closedMicros: null,
  ...fields,
});
const alert = (fields: Partial<AlertHistory>): AlertHistory => ({
  id: 7,
  rule: 'payment_stuck',
  subject: 'payment:pay_1',
  severity: 'warning',
  sentence: 'Payment pay_1 has been processing for 7 days.',
  openedMicros: 2_000,
  acknowledgedMicros: null,
  acknowledgedBy: null,
  acknowledgedReason: null,
  resolvedMicros: null,
  ...fields,
});
const types = (history: Partial<History>) =>
  buildTimeline({ ...nothing, ...history }).map(({ type }) => type);

test('entries of one instant are in the order of their causes [1]', () => {
  const at = { recordedMicros: 2_000, eventReceivedMicros: 2_000 };
  expect(
    types({
      alerts: [alert({})],
      findings: [finding({})],
      statuses: [
        {
          number: 1,
          status: 'paid',
          previousStatus: null,
          changedMicros: 2_000,
          eventNumber: 1,
          eventId: 'evt_1',
        },
      ],
      transfers: [transfer(at)],
      snapshots: [snapshot(at)],
    }),
  ).toEqual(['event', 'snapshot', 'transfer', 'status', 'finding_opened', 'alert_opened']);
});

describe('an event [2]', () => {
  test('precedes its effects even if the clock of its receiver is ahead', () => {
    const entries = buildTimeline({
      ...nothing,
      snapshots: [snapshot({ eventReceivedMicros: 9_000 })],
    });
    expect(entries.map(({ type, atMicros }) => [type, atMicros])).toEqual([
      ['event', 9_000],
      ['snapshot', 2_000],
    ]);
  });

  test('has one entry, regardless of how many parts it contains', () => {
    const both = [snapshot({}), snapshot({ kind: 'refund', id: 'ref_1' })];
    expect(types({ snapshots: both })).toEqual(['event', 'snapshot', 'snapshot']);
  });

  test('that was received long before it was applied has the time of its receipt', () => {
    const [early, late] = [
      snapshot({ recordedMicros: 8_000 }),
      snapshot({ eventNumber: 2, eventReceivedMicros: 3_000, recordedMicros: 4_000 }),
    ];
    const entries = buildTimeline({ ...nothing, snapshots: [late, early] });
    expect(entries.map(({ type, atMicros }) => [type, atMicros])).toEqual([
      ['event', 1_000],
      ['event', 3_000],
      ['snapshot', 4_000],
      ['snapshot', 8_000],
    ]);
  });
});

describe('by effective time [5]', () => {
  const shown = (history: Partial<History>) =>
    timelineBy('effective', buildTimeline({ ...nothing, ...history })).map(
      ({ type, atMicros }) => `${type} ${atMicros}`,
    );

  test('a change at the service is where it happened, and what happened here where it was recorded', () => {
    const late = { recordedMicros: 9_000, eventReceivedMicros: 8_000, effectiveMicros: 500 };
    const history = {
      findings: [finding({ openedMicros: 4_000, closedMicros: 9_000 })],
      snapshots: [snapshot(late)],
      transfers: [transfer(late)],
    };
    expect(shown(history)).toEqual([
      'snapshot 9000',
      'transfer 9000',
      'finding_opened 4000',
      'event 8000',
      'finding_closed 9000',
    ]);
  });

  test('entries of one time are in recorded order, and a transfer without a time where it was recorded', () => {
    const transfers = [
      transfer({ recordedMicros: 1_000, effectiveMicros: 700 }),
      transfer({ recordedMicros: 2_000, effectiveMicros: 500 }),
      transfer({ recordedMicros: 3_000, effectiveMicros: 700 }),
      transfer({ recordedMicros: 600, effectiveMicros: null }),
    ];
    expect(shown({ transfers })).toEqual([
      'transfer 2000',
      'transfer 600',
      'transfer 1000',
      'transfer 3000',
    ]);
  });
});

test('an observation without an event names the service as its cause', () => {
  const none = { eventNumber: null, eventId: null, eventType: null, eventReceivedMicros: null };
  const entries = buildTimeline({
    ...nothing,
    snapshots: [snapshot({ source: 'retrieve', ...none })],
    transfers: [
      transfer({ ...none, headSource: 'retrieve' }),
      transfer({ ...none, headSource: null }),
    ],
  });
  const retrieved = { source: 'retrieve', eventNumber: null, eventId: null };
  expect(entries).toMatchObject([
    { type: 'snapshot', cause: retrieved },
    { type: 'transfer', cause: retrieved },
    { type: 'transfer', cause: null },
  ]);
});

describe('sentences', () => {
  const textOf = (history: Partial<History>) =>
    buildTimeline({ ...nothing, ...history }).at(-1)?.text;

  test.each([
    [{}, 'Received in an event: payment pay_1, succeeded, 65.40 USD, received 65.40 USD.'],
    [
      { currency: 'JPY', amountMinor: 500, receivedMinor: null },
      'Received in an event: payment pay_1, succeeded, 500 JPY.',
    ],
    [
      { source: 'retrieve', status: null, amountMinor: null },
      'Retrieved from the service: payment pay_1, no status, no amount.',
    ],
    [
      {
        kind: 'dispute',
        id: 'dp_1',
        source: 'list',
        status: 'opened',
        stage: 'dispute',
        receivedMinor: null,
      },
      'Read from a list of the service: dispute dp_1, opened at dispute, 65.40 USD.',
    ],
    [
      { status: 'failed', receivedMinor: null, unifiedCode: 'UE_1018' },
      'Received in an event: payment pay_1, failed, 65.40 USD. UE_1018 This payment may have already ' +
        'been processed. The card or its issuer declined. The first payment may have succeeded: ' +
        'check it before you retry or refund.',
    ],
  ] as const)('of an observation %#', (fields, text) => {
    expect(textOf({ snapshots: [snapshot(fields)] })).toBe(text);
  });

  test('of a transfer, a registration and findings', () => {
    expect(textOf({ transfers: [transfer({ currency: 'KWD', amountMinor: 40 })] })).toBe(
      'Posted 0.040 KWD for payment pay_1 (captured), 6.540 KWD in total: debit psp.clearing, credit order.due.',
    );
    expect(
      textOf({
        expectations: [
          { currency: 'USD', amountMinor: 1, registeredMicros: 1, registeredBy: 'till-2' },
        ],
      }),
    ).toBe('till-2 registered an expected amount of 0.01 USD.');
    const closed = buildTimeline({ ...nothing, findings: [finding({ closedMicros: 9_000 })] });
    expect(closed.map(({ text }) => text)).toEqual([
      'Finding unknown_status opened about payment:pay_1: The service sent a status that this version does not know.',
      'Finding unknown_status closed about payment:pay_1.',
    ]);
  });

  test('of an alert: that it opened, who acknowledged it and why, and that it was resolved', () => {
    const dealtWith = alert({
      acknowledgedMicros: 3_000,
      acknowledgedBy: 'ada',
      acknowledgedReason: 'called the bank',
      resolvedMicros: 4_000,
    });
    const entries = buildTimeline({ ...nothing, alerts: [dealtWith] });
    expect(entries.map(({ text }) => text)).toEqual([
      'Alert 7 (warning): Payment pay_1 has been processing for 7 days.',
      'ada acknowledged alert 7: called the bank',
      'Alert 7 (payment_stuck) was resolved.',
    ]);
    expect(types({ alerts: [alert({ resolvedMicros: 2_000 })] })).toEqual(['alert_opened']);
  });

  test('of an unknown class of findings have no meaning', () => {
    expect(findingMeaning('constructor')).toBe('');
  });
});
