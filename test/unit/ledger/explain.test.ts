/** Tests cite the invariants at the head of src/ledger/domain/explain.ts as X1, X2, X3. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ResourceKind } from '../../../src/contract/resources/index.ts';
import { orderSnapshots, transfersFor } from '../../../src/ledger/domain/effectiveTimes.ts';
import { declineOf, explainPart } from '../../../src/ledger/domain/explain.ts';
import type {
  Evidence,
  JournalEntry,
  PartExplanation,
  PartRecord,
} from '../../../src/ledger/domain/explanation.ts';
import {
  compareSnapshots,
  decidingField,
  foldSnapshots,
} from '../../../src/ledger/domain/merge.ts';
import { readResource, type SnapshotContent } from '../../../src/ledger/domain/snapshot.ts';
import { partExplanationJson } from '../../../src/representation/explanation.ts';
import { partLines } from '../../../src/representation/explanationText.ts';
import { anyLifecycle } from '../../support/lifecycles.ts';
import { observe, SECOND, T0 } from '../../support/observations.ts';

interface EvidenceFields {
  readonly kind?: ResourceKind;
  readonly epoch?: number;
  readonly source?: 'webhook' | 'retrieve';
}

let inboxId = 0;

function evidence(
  content: SnapshotContent,
  { kind, epoch = 0, source }: EvidenceFields = {},
): Evidence {
  inboxId += 1;
  const brought = source !== 'retrieve';
  return {
    ...observe(content, { ...(kind && { kind }), ...(source && { source }) }),
    epoch,
    inboxId: brought ? inboxId : undefined,
    eventId: brought ? `evt_${inboxId}` : undefined,
    recordedMicros: T0 + inboxId,
  };
}

/** The journal of a resource that was posted once, with all of its content. */
function entriesOf(all: readonly Evidence[]): readonly JournalEntry[] {
  const order = orderSnapshots(all, () => true);
  const state = foldSnapshots(all);
  return transfersFor({ state, order, posted: {}, movements: [] }).map((transfer, place) => ({
    ...transfer,
    id: place + 1,
    recordedMicros: T0,
    inboxId: 7,
    eventId: 'evt_7',
  }));
}

function explain(all: readonly Evidence[], fields: Partial<PartRecord> = {}): PartExplanation {
  return explainPart({
    ref: all[0]?.ref ?? { kind: 'payment', id: 'pay_1' },
    evidence: all,
    epochs: [],
    contradiction: undefined,
    openFindings: [],
    transfers: all.length > 0 ? entriesOf(all) : [],
    storedHeadHash: all.length > 0 ? foldSnapshots(all).headHash : undefined,
    nextCheckMicros: undefined,
    ...fields,
  });
}

const usd = { amountMinor: 6540, currency: 'USD' } as const;
const paid = { ...usd, status: 'succeeded', amountReceivedMinor: 6540, versionMicros: T0 } as const;

describe('X1: the explained fold is that of the ledger', () => {
  test.each<[string, Evidence, Evidence, RegExp]>([
    [
      'epoch',
      evidence({ ...usd, status: 'failed' }, { epoch: 1, source: 'retrieve' }),
      evidence(paid),
      /epoch 1.*retrieves showed which body is right/,
    ],
    [
      'stage',
      evidence({ ...usd, status: 'opened', stage: 'pre_arbitration' }, { kind: 'dispute' }),
      evidence({ ...usd, status: 'won', stage: 'dispute', versionMicros: T0 }, { kind: 'dispute' }),
      /pre_arbitration is later than dispute/,
    ],
    [
      'version',
      evidence({ ...usd, status: 'processing', versionMicros: T0 + SECOND }),
      evidence(paid),
      /Its version is later: 2026-11-01T.*01\.000000Z, not 2026-11-01T.*00\.000000Z/,
    ],
    [
      'version',
      evidence({ ...usd, status: 'processing', versionMicros: T0 }),
      evidence({ ...usd, status: 'succeeded' }),
      /It has a version .* the other does not/,
    ],
    [
      'rank',
      evidence(paid),
      evidence({ ...paid, status: 'processing' }),
      /succeeded ranks above processing/,
    ],
    [
      'captured',
      evidence({ ...paid, status: 'partially_captured' }),
      evidence({ ...paid, status: 'partially_captured', amountReceivedMinor: 40 }),
      /it carries 65\.40 USD, the other 0\.40 USD/,
    ],
  ])('%s decides, and the reason states how', (by, head, other, reason) => {
    for (const all of [
      [head, other],
      [other, head],
    ]) {
      const { decision, head: winner } = explain(all);
      expect(winner).toMatchObject({
        contentHash: head.contentHash,
        eventId: head.eventId ?? null,
      });
      expect(decision).toMatchObject({
        outcome: 'decided',
        by,
        because: expect.stringMatching(reason),
        runnerUp: { contentHash: other.contentHash, eventId: other.eventId },
      });
    }
  });

  test('between two bodies without any order the hash decides, and the reason states that', () => {
    const [one, other] = ['x', 'y'].map((errorCode) => evidence({ ...paid, errorCode }));
    if (!one || !other) throw new Error('two bodies');
    expect(explain([one, other]).decision).toMatchObject({
      by: 'hash',
      because: expect.stringContaining('the order of arrival does not matter'),
    });
  });

  test('a single body has no runner-up, and a stub has no body', () => {
    expect(explain([evidence(paid)]).decision).toMatchObject({ outcome: 'only_one' });
    expect(explain([])).toMatchObject({
      status: null,
      head: null,
      posts: false,
      decision: { outcome: 'unseen' },
    });
  });

  test('content that is stored in two epochs is one body', () => {
    const first = evidence(paid);
    const again = { ...first, epoch: 1, recordedMicros: first.recordedMicros + 1 };
    const epochs = [{ epoch: 1, floorMicros: T0 }];
    const part = explain([first, again], { epochs });
    expect(part).toMatchObject({ bodies: 1, decision: { outcome: 'only_one' } });
  });

  test('for any bodies in any order, the head is that of the fold, and there is no discrepancy', () => {
    const kinds = fc.constantFrom<ResourceKind>('payment', 'refund', 'dispute', 'payout');
    const lifecycleBodies = kinds
      .chain((kind) => anyLifecycle(kind, { id: 'x_1' }))
      .chain(({ kind, bodies }) =>
        fc.tuple(fc.constant(kind), fc.shuffledSubarray([...bodies], { minLength: 1 })),
      );
    fc.assert(
      fc.property(lifecycleBodies, ([kind, bodies]) => {
        const all = bodies.map((body) => {
          const reading = readResource(body, T0 * 2);
          return evidence(reading.outcome === 'read' ? reading.content : {}, { kind });
        });
        const part = explain(all);
        const state = foldSnapshots(all);
        expect(part.head?.contentHash).toBe(state.headHash);
        expect(part.discrepancies).toEqual([]);
        expect(
          part.transfers.every(({ meaning }) => meaning.includes(' ') || meaning.length > 8),
        ).toBe(true);
        if (part.decision.outcome === 'decided') {
          const { runnerUp, by } = part.decision;
          const head = all.find(({ contentHash }) => contentHash === state.headHash);
          const other = all.find(({ contentHash }) => contentHash === runnerUp.contentHash);
          if (!head || !other) throw new Error('both are among the bodies');
          expect(compareSnapshots(head, other)).toBeGreaterThan(0);
          expect(decidingField(head, other)).toBe(by);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('X2: every statement names its evidence', () => {
  test('a field that the head does not have is traced to the greatest body that has it', () => {
    const old = evidence({ ...usd, status: 'processing', orderId: 'old', versionMicros: T0 });
    const newer = evidence({ ...usd, status: 'processing', orderId: 'new', versionMicros: T0 + 1 });
    const head = evidence({ ...paid, versionMicros: T0 + 2 });
    expect(explain([head, old, newer]).filled).toEqual([
      expect.objectContaining({
        field: 'orderId',
        value: 'new',
        from: expect.objectContaining({ eventId: newer.eventId }),
      }),
    ]);
  });

  test('an amount that the head does not have is traced to the body with the largest one', () => {
    const captured = evidence(paid);
    const voided = evidence({ ...usd, status: 'cancelled_post_capture', versionMicros: T0 + 1 });
    expect(explain([voided, captured]).amounts).toEqual([
      expect.objectContaining({
        amount: 'captured',
        amountMinor: 6540,
        basis: 'carried',
        from: expect.objectContaining({ eventId: captured.eventId }),
      }),
    ]);
  });

  test('a hold is traced to a body with held money, not to one that only may have it', () => {
    const manual = { ...usd, captureMethod: 'manual', amountCapturableMinor: 6540 };
    const before = evidence({ ...manual, status: 'requires_confirmation', versionMicros: T0 });
    const held = evidence({ ...manual, status: 'requires_capture', versionMicros: T0 - 1 });
    const { amounts } = explain([before, held]);
    expect(amounts.find(({ amount }) => amount === 'authorized')?.from?.eventId).toBe(held.eventId);
  });

  test('an assumed amount is provisional, even if a body that does not count has the same one', () => {
    const stated = { ...usd, captureMethod: 'automatic' };
    const { amounts, uncertainties } = explain([
      evidence({ ...stated, status: 'succeeded' }),
      evidence({ ...stated, status: 'cancelled', amountReceivedMinor: 6540 }),
    ]);
    expect(uncertainties).toMatchObject([{ name: 'provisional_amount' }]);
    expect(amounts).toMatchObject([{ basis: 'provisional', amountMinor: 6540, from: null }]);
  });

  test('an amount that no body has is called provisional, and unknown if captured from a hold', () => {
    const automatic = explain([evidence({ ...usd, status: 'succeeded' })]);
    expect(automatic).toMatchObject({
      amounts: [{ basis: 'provisional', amountMinor: 6540, from: null }],
      uncertainties: [
        { name: 'provisional_amount', meaning: expect.stringContaining('is used until one does') },
      ],
    });
    const manual = explain([evidence({ ...usd, status: 'succeeded', captureMethod: 'manual' })]);
    expect(manual).toMatchObject({ posts: false, amounts: [{ basis: 'unknown' }], transfers: [] });
  });

  test('a transfer names its event, its accounts in words, and whether it is a reversal', () => {
    const all = [evidence(paid)];
    const [captured] = entriesOf(all);
    if (!captured) throw new Error('a paid payment is posted');
    const back: JournalEntry = {
      ...captured,
      id: 2,
      seq: 2,
      debit: captured.credit,
      credit: captured.debit,
      amountMinor: 40,
      previousMinor: 6540,
      cumulativeMinor: 6500,
    };
    const { transfers } = explain(all, { transfers: [captured, back] });
    expect(transfers).toMatchObject([
      {
        eventId: 'evt_7',
        isTakenBack: false,
        amountMinor: 6540,
        meaning: 'captured, and held for us by the service',
        debit: { name: 'psp.clearing', meaning: expect.stringContaining('held for us') },
      },
      { isTakenBack: true, amountMinor: 40, debit: { name: 'order.due' } },
    ]);
  });

  test('illegal steps, contradictions and findings have their meaning in words', () => {
    const part = explain(
      [
        evidence({ ...usd, status: 'cancelled', versionMicros: T0 }),
        evidence({ ...paid, versionMicros: T0 + 1 }),
      ],
      {
        contradiction: { terms: { status: 'failed' }, observedMicros: T0 },
        openFindings: [
          { class: 'status_conflict', detail: { x: 1 }, openedMicros: T0 },
          { class: 'of_a_later_version', detail: null, openedMicros: T0 },
        ],
      },
    );
    expect(part).toMatchObject({
      illegalSteps: [{ from: 'cancelled', to: 'succeeded' }],
      contradiction: { terms: { status: 'failed' }, observedAt: '2026-11-01T10:00:00.000000Z' },
      findings: [
        {
          name: 'status_conflict',
          meaning: expect.stringContaining('impossible status transition'),
        },
        { name: 'of_a_later_version', meaning: '' },
      ],
    });
  });
});

test('a contradiction is explained in words, with the payment and order that the ledger has', () => {
  const part = explain([evidence({ ...paid, orderId: 'ord_1' })], {
    contradiction: { terms: { status: 'failed', orderId: 'ord_2' }, observedMicros: T0 },
    nextCheckMicros: T0 + 60_000_000,
  });
  const lines = partLines(part);
  expect(lines).toContainEqual(
    expect.stringContaining(
      'The service contradicts the ledger. At 2026-11-01 10:00:00 UTC the service returned the status failed and the order ord_2. The ledger has the status succeeded and the order ord_1.',
    ),
  );
  expect(lines.join('\n')).toContain('The next retrieve is due at 2026-11-01 10:01:00 UTC.');
  expect(lines.join('\n')).not.toContain('due since');
});

test('a contradiction about the owner of the money has it in its JSON, too', () => {
  const part = explain([evidence(paid)], {
    contradiction: { terms: { paymentId: 'pay_2', orderId: 'ord_2' }, observedMicros: T0 },
  });
  expect(partExplanationJson(part).contradiction).toMatchObject({
    terms: { status: null, payment_id: 'pay_2', order_id: 'ord_2' },
  });
});

describe('X3: stored and derived state', () => {
  test('a stored state that was derived from another body is named', () => {
    expect(explain([evidence(paid)], { storedHeadHash: 'ff' }).discrepancies).toEqual([
      expect.stringContaining('a different head'),
    ]);
  });

  test('a leg that has not posted what the state requires is named', () => {
    expect(explain([evidence(paid)], { transfers: [] }).discrepancies).toEqual([
      'The leg captured in USD has not posted what the state requires.',
    ]);
  });
});

describe('declines', () => {
  const failed = (fields: SnapshotContent) =>
    explain([evidence({ ...usd, status: 'failed', ...fields })]).decline;

  test.each([
    ['UE_1001', 'never', /Do not retry/],
    ['UE_2002', 'with_3ds', /3-D Secure/],
    ['UE_1018', 'check_earlier_payment', /check it before you retry/],
    ['UE_3003', 'with_backoff', /Retry, each time/],
  ])('%s: %s', (unifiedCode, retry, advice) => {
    expect(failed({ unifiedCode })).toMatchObject({
      code: unifiedCode,
      retry,
      message: expect.any(String),
      advice: expect.stringMatching(advice),
    });
  });

  test("the service's own message takes precedence over the table's, and without a code there is no retry advice", () => {
    expect(failed({ unifiedCode: 'UE_1001', unifiedMessage: 'No funds' })?.message).toBe(
      'No funds',
    );
    expect(failed({})).toMatchObject({ code: null, retry: null });
    expect(declineOf('UE_1000', undefined)).toMatchObject({ message: null, retry: 'never' });
  });

  test('the code of a failed attempt is not shown for a payment that then succeeded', () => {
    const part = explain([
      evidence({ ...usd, status: 'failed', unifiedCode: 'UE_1001', versionMicros: T0 - 1 }),
      evidence(paid),
    ]);
    expect(part.decline).toBeNull();
  });
});
