import { describe, expect, it } from 'vitest';
import {
  CONTENT_TYPES,
  EVENT_REPORTS,
  EVENT_TYPES,
  eventEnvelopeSchema,
} from '../../../src/contract/events.ts';
import { RESOURCE_KINDS } from '../../../src/contract/resources/index.ts';
import { isKnownStatus, PAYMENT_STATUSES } from '../../../src/contract/statuses.ts';

const ENVELOPE = {
  merchant_id: 'merchant_1',
  event_id: 'evt_0197a0c2b6f07d0e9a51f3c8d2e4b6a7',
  event_type: 'payment_succeeded',
  content: {
    type: 'payment_details',
    object: {
      payment_id: 'pay_1',
      status: 'succeeded',
      amount: 6540,
      currency: 'USD',
      metadata: { order_id: 'order_1' },
    },
  },
  timestamp: '2026-11-01T10:00:00.000Z',
};

describe('the event envelope', () => {
  it('is read whole as the document shows it', () => {
    expect(eventEnvelopeSchema.parse(ENVELOPE)).toEqual(ENVELOPE);
  });

  it('passes unknown fields, event types and content types through', () => {
    const envelope = {
      ...ENVELOPE,
      event_type: 'payment_teleported',
      processor_merchant_id: null,
      api_version: 'v9',
      content: { type: 'teleport_details', object: { teleport_id: 't_1' }, extra: [1] },
    };
    expect(eventEnvelopeSchema.parse(envelope)).toEqual(envelope);
  });

  it.each(['merchant_id', 'event_id', 'event_type', 'content', 'timestamp'] as const)(
    'is not read without %s',
    (field) => {
      const { [field]: _, ...rest } = ENVELOPE;
      expect(eventEnvelopeSchema.safeParse(rest).success).toBe(false);
    },
  );

  it.each([
    ['an empty event id', { ...ENVELOPE, event_id: '' }],
    ['a content without an object', { ...ENVELOPE, content: { type: 'payment_details' } }],
    ['an object of text', { ...ENVELOPE, content: { type: 'payment_details', object: 'pay_1' } }],
  ])('is not read with %s', (_, envelope) => {
    expect(eventEnvelopeSchema.safeParse(envelope).success).toBe(false);
  });
});

describe('content types', () => {
  it('name each of the four resources once, and nothing else that moves money', () => {
    expect(CONTENT_TYPES).toEqual({
      payment_details: 'payment',
      refund_details: 'refund',
      dispute_details: 'dispute',
      payout_details: 'payout',
      mandate_details: undefined,
      subscription_details: undefined,
    });
    const kinds = Object.values(CONTENT_TYPES).filter((kind) => kind !== undefined);
    expect(kinds).toEqual([...RESOURCE_KINDS]);
  });
});

describe('event types', () => {
  it('are the 29 that the family sends, each once, the documented one among them', () => {
    expect(EVENT_TYPES).toHaveLength(29);
    expect(new Set(EVENT_TYPES).size).toBe(29);
    expect(EVENT_TYPES).toContain('payment_succeeded');
    expect(Object.keys(EVENT_REPORTS)).toEqual([...EVENT_TYPES]);
  });

  it('report the kind that their name says', () => {
    for (const [eventType, { kind }] of Object.entries(EVENT_REPORTS)) {
      const subject = eventType.split('_')[0];
      const expected = subject === 'action' ? 'payment' : subject;
      expect({ eventType, kind }).toEqual({
        eventType,
        kind: RESOURCE_KINDS.find((known) => known === expected),
      });
    }
  });

  it('report only known statuses of their kind', () => {
    for (const { kind, statuses } of Object.values(EVENT_REPORTS)) {
      const unknown = statuses.filter(
        (status) => kind === undefined || !isKnownStatus(kind, status),
      );
      expect(unknown).toEqual([]);
    }
  });

  it('never share a status within a kind, so that a status has one event', () => {
    for (const kind of RESOURCE_KINDS) {
      const statuses = Object.values(EVENT_REPORTS)
        .filter((report) => report.kind === kind)
        .flatMap((report): readonly string[] => report.statuses);
      expect(new Set(statuses).size).toBe(statuses.length);
    }
  });

  it('report every payment status but the two that wait for the shop', () => {
    const reported = Object.values(EVENT_REPORTS).flatMap((report): readonly string[] =>
      report.kind === 'payment' ? report.statuses : [],
    );
    expect(PAYMENT_STATUSES.filter((status) => !reported.includes(status))).toEqual([
      'requires_payment_method',
      'requires_confirmation',
    ]);
  });
});
