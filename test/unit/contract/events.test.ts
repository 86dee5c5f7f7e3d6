import { describe, expect, it } from 'vitest';
import {
  CONTENT_TYPES,
  EVENT_REPORTS,
  EVENT_TYPES,
  labeledKind,
} from '../../../src/contract/events.ts';
import { RESOURCE_KINDS } from '../../../src/contract/resources/index.ts';
import { isKnownStatus, PAYMENT_STATUSES } from '../../../src/contract/statuses.ts';

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

  it('report the kind in their name', () => {
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

  it('report every payment status except the two that wait for the shop', () => {
    const reported = Object.values(EVENT_REPORTS).flatMap((report): readonly string[] =>
      report.kind === 'payment' ? report.statuses : [],
    );
    expect(PAYMENT_STATUSES.filter((status) => !reported.includes(status))).toEqual([
      'requires_payment_method',
      'requires_confirmation',
    ]);
  });
});

describe('labels', () => {
  it.each([
    'mandate_active',
    'mandate_revoked',
    'mandate_details',
    'invoice_paid',
    'subscription_details',
    'subscription_renewed',
    'invoice_created',
  ])('%s is known and names nothing that moves money', (label) => {
    expect(labeledKind(label)).toBe('none');
  });

  it('name a kind if they are known, and nothing otherwise', () => {
    expect(labeledKind('refund_details')).toBe('refund');
    expect(labeledKind('dispute_lost')).toBe('dispute');
    expect(labeledKind('payment_teleported')).toBeUndefined();
    expect(labeledKind('toString')).toBeUndefined();
  });
});
