/**
 * The tables of the merge rule, body by body; merge.test.ts has the order and number of observations. Tests
 * cite the invariants at the head of src/ledger/domain/merge.ts as M2, M3 …
 */
import { describe, expect, test } from 'vitest';
import type { ResourceKind } from '../../../src/contract/resources/index.ts';
import {
  amountSources,
  carrierOf,
  compareSnapshots,
  decidingField,
  dueMinor,
  foldSnapshots,
  type KeyField,
  type ResourceState,
  type Uncertainty,
} from '../../../src/ledger/domain/merge.ts';
import type { Snapshot, SnapshotContent } from '../../../src/ledger/domain/snapshot.ts';
import { observe, T0 } from '../../support/observations.ts';

interface Place {
  readonly kind?: ResourceKind;
  readonly epoch?: number;
  readonly contentHash?: string;
}

function snapshot(content: SnapshotContent, { kind = 'payment', ...place }: Place = {}): Snapshot {
  return { ...observe(content, { kind }), epoch: 0, ...place };
}

const fold = (...contents: readonly SnapshotContent[]): ResourceState =>
  foldSnapshots(contents.map((content) => snapshot(content)));
const foldOf = (kind: ResourceKind, ...contents: readonly SnapshotContent[]): ResourceState =>
  foldSnapshots(contents.map((content) => snapshot(content, { kind })));

const usd = { amountMinor: 100, currency: 'USD' } as const;
/** A version, later with each number. */
const at = (tick: number) => ({ versionMicros: T0 + tick });

const SUCCEEDED = { ...usd, status: 'succeeded' } as const;
const CAPTURED = { ...SUCCEEDED, amountReceivedMinor: 100 } as const;
const FAILED = { ...usd, status: 'failed' } as const;
const HOLD = { ...usd, status: 'requires_capture', amountCapturableMinor: 100 } as const;

describe('M2: the key', () => {
  const hash = (contentHash: string) => snapshot(SUCCEEDED, { contentHash });
  const dispute = (content: SnapshotContent) => snapshot(content, { kind: 'dispute' });
  const later = { ...SUCCEEDED, ...at(9), stage: 'dispute', amountReceivedMinor: 9 };

  test.each<[string, KeyField, Snapshot, Snapshot]>([
    ['an epoch', 'epoch', snapshot(later), snapshot({}, { epoch: 1 })],
    ['a stage', 'stage', dispute(later), dispute({ stage: 'arbitration' })],
    ['a version', 'version', snapshot({ ...later, ...at(1) }), snapshot(at(2))],
    ['a version of zero', 'version', snapshot(SUCCEEDED), snapshot({ versionMicros: 0 })],
    [
      'a status',
      'rank',
      snapshot({ ...later, status: 'failed' }),
      snapshot({ ...SUCCEEDED, ...at(9) }),
    ],
    [
      'an amount',
      'captured',
      snapshot(SUCCEEDED),
      snapshot({ ...SUCCEEDED, amountReceivedMinor: 0 }),
    ],
    [
      'a larger amount',
      'captured',
      snapshot({ ...CAPTURED, amountReceivedMinor: 9 }),
      snapshot(CAPTURED),
    ],
    ['a hash', 'hash', hash('a'), hash('b')],
  ])('%s decides before what follows it', (_what, field, below, above) => {
    expect(compareSnapshots(below, above)).toBeLessThan(0);
    expect(compareSnapshots(above, below)).toBeGreaterThan(0);
    expect(decidingField(below, above)).toBe(field);
    expect(foldSnapshots([below, above]).headHash).toBe(above.contentHash);
    expect(foldSnapshots([above, below]).headHash).toBe(above.contentHash);
  });

  test('of equal snapshots is equal', () => {
    expect(compareSnapshots(hash('a'), hash('a'))).toBe(0);
    expect(decidingField(hash('a'), hash('a'))).toBeUndefined();
  });
});

describe('M3: fields', () => {
  test('come from the greatest body that carries them, which is named as their carrier', () => {
    const ascending = [{ orderId: 'a', ...at(1) }, { orderId: 'b', ...at(2) }, at(3)].map(
      (content) => snapshot(content),
    );
    expect(carrierOf(ascending, 'orderId')).toBe(ascending[1]);
    expect(carrierOf(ascending, 'currency')).toBeUndefined();
    expect(foldSnapshots(ascending)).toMatchObject({ orderId: 'b', ...at(3) });
  });

  const net = { ...usd, netAmountMinor: 109, ...at(1) };
  test.each<[string, SnapshotContent, SnapshotContent, number | undefined]>([
    ['stays beside the same amount', net, { ...usd, ...at(2) }, 109],
    ['stays if the next body carries no amount', net, { status: 'processing', ...at(2) }, 109],
    ['is dropped with its amount', net, { ...usd, amountMinor: 50, ...at(2) }, undefined],
    [
      'is replaced with its amount',
      net,
      { ...usd, amountMinor: 50, netAmountMinor: 54, ...at(2) },
      54,
    ],
    [
      'is dropped if the amount beside it is unknown',
      { netAmountMinor: 109, ...at(1) },
      { ...usd, ...at(2) },
      undefined,
    ],
  ])('a net amount %s', (_what, lower, upper, netAmountMinor) => {
    expect(fold(lower, upper).netAmountMinor).toBe(netAmountMinor);
  });

  test('other fields stay when a net amount is dropped', () => {
    const state = fold({ ...net, orderId: 'a' }, { ...usd, amountMinor: 50, ...at(2) });
    expect(state).toMatchObject({ orderId: 'a', amountMinor: 50 });
    expect(state.netAmountMinor).toBeUndefined();
  });

  describe('a body without an amount', () => {
    // The hash decides which of both is the head, so there are several.
    const short = ['a', 'b', 'c', 'd', 'e', 'f'].map((reason) => ({
      status: 'requires_confirmation',
      reason,
      versionMicros: T0,
    }));
    const full = { ...usd, status: 'requires_confirmation', versionMicros: T0 };
    const uncertainties = (...contents: readonly SnapshotContent[]) =>
      fold(...contents).uncertainties;

    test('is completed by one of its version and status', () => {
      expect(short.map((one) => uncertainties(one, full))).toEqual(short.map(() => []));
    });

    test('stays incomplete beside one of another version or status, and beside several that differ', () => {
      const others = [
        [{ ...full, versionMicros: T0 - 1 }],
        [{ ...full, status: 'requires_payment_method' }],
        [full, { ...full, amountMinor: 7 }].map((one) => ({ ...one, amountReceivedMinor: 0 })),
      ];
      const [first] = short.map((one) => ({ ...one, amountReceivedMinor: 1 }));
      for (const beside of others) {
        expect(uncertainties(first ?? {}, ...beside)).toContain('incomplete');
      }
    });
  });

  test('a missing status is incomplete, not unknown', () => {
    expect(fold(usd)).toMatchObject({ posts: false, uncertainties: ['incomplete'] });
  });

  test('the amount due is the net amount, or else the amount', () => {
    expect(dueMinor({ amountMinor: 100, netAmountMinor: 109 })).toBe(109);
    expect(dueMinor({ amountMinor: 100, netAmountMinor: 0 })).toBe(0);
    expect(dueMinor({ amountMinor: 100 })).toBe(100);
    expect(dueMinor({})).toBeUndefined();
  });

  test.each(['status', 'amountMinor', 'currency'] as const)(
    'without %s nothing is posted, and a head without it is incomplete',
    (field) => {
      const { [field]: _, ...partial } = { ...CAPTURED, ...at(2) };
      expect(fold(partial)).toMatchObject({ posts: false });
      expect(fold(partial).uncertainties).toContain('incomplete');
      const whole = fold({ ...CAPTURED, ...at(1) }, partial);
      expect(whole.posts).toBe(true);
      expect(whole.uncertainties).toContain('incomplete');
    },
  );

  test('the state names its resource, its epoch and its head', () => {
    const head = snapshot(CAPTURED, { epoch: 3, contentHash: 'h' });
    expect(foldSnapshots([head])).toMatchObject({
      ref: { kind: 'payment', id: 'pay_1' },
      epoch: 3,
      headHash: 'h',
      posts: true,
      uncertainties: [],
      illegalSteps: [],
      namedPayments: [],
    });
  });
});

describe('M4: amounts', () => {
  test('are those of the epoch of the head', () => {
    const before = snapshot({ ...CAPTURED, amountReceivedMinor: 900, ...at(1) });
    const head = snapshot({ ...CAPTURED, ...at(2) }, { epoch: 1 });
    expect(foldSnapshots([before, head])).toMatchObject({ capturedMinor: 100 });
  });

  test('of a body without a currency are in the currency of the state', () => {
    const { currency: _, ...captured } = { ...CAPTURED, ...at(1) };
    expect(fold(captured, { ...usd, status: 'conflicted', ...at(2) }).capturedMinor).toBe(100);
    const euro = { ...captured, currency: 'EUR' };
    expect(fold(euro, { ...usd, status: 'conflicted', ...at(2) }).capturedMinor).toBe(0);
  });

  test.each<ResourceKind>(['refund', 'dispute', 'payout'])(
    'a %s has neither captured nor authorized money',
    (kind) => {
      const content = { ...HOLD, status: kind === 'dispute' ? 'won' : 'failed' };
      expect(foldOf(kind, { ...content, amountReceivedMinor: 5, ...at(1) })).toMatchObject({
        authorizedMinor: 0,
        capturedMinor: 0,
        revokedMinor: 0,
        uncertainties: [],
        posts: true,
      });
    },
  );

  test('the largest amount counts, regardless of the place of its body', () => {
    const status = 'partially_captured_and_capturable';
    const carrying = (amountReceivedMinor: number, tick: number) => ({
      ...usd,
      status,
      amountReceivedMinor,
      ...at(tick),
    });
    for (const amounts of [
      [30, 70, 50],
      [70, 30, 50],
      [30, 50, 70],
    ]) {
      expect(fold(...amounts.map(carrying)).capturedMinor).toBe(70);
    }
  });

  test('a failure voids what is below it, the last one counts, and a later attempt starts from zero', () => {
    const [one, two] = [
      { ...CAPTURED, ...at(1) },
      { ...CAPTURED, amountReceivedMinor: 40, ...at(3) },
    ];
    const processing = { ...usd, status: 'processing', ...at(5) };
    const between = { ...FAILED, ...at(2) };
    expect(fold(one, between, two)).toMatchObject({ capturedMinor: 40, uncertainties: [] });
    expect(fold(one, between, two, { ...FAILED, ...at(4) }, processing).capturedMinor).toBe(0);
    expect(fold(one, between, two, processing).capturedMinor).toBe(40);
  });

  const HELD = [
    'requires_capture',
    'partially_authorized_and_requires_capture',
    'partially_captured_and_processing',
    'partially_captured_and_capturable',
  ];
  const SETTLED = ['succeeded', 'partially_captured', 'cancelled_post_capture'];

  test.each(HELD)('%s is a hold of the whole amount if no body carries one', (status) => {
    expect(fold({ ...usd, status, ...at(1) })).toMatchObject({
      authorizedMinor: 100,
      uncertainties: [
        ...(status.startsWith('partially_captured') ? ['unstated_capture'] : []),
        'provisional_amount',
      ],
      posts: true,
    });
    // It stays one under a body that holds nothing.
    const cancelled = { ...usd, status: 'cancelled', captureMethod: 'automatic', ...at(2) };
    expect(fold({ ...usd, status, ...at(1) }, cancelled).authorizedMinor).toBe(100);
  });

  test.each([...HELD, ...SETTLED])(
    '%s carries a hold: what can be captured and what was',
    (status) => {
      const manual = { ...usd, captureMethod: 'manual', status, ...at(1) };
      const isCaptured = status !== HELD[0] && status !== HELD[1];
      expect(fold({ ...manual, amountCapturableMinor: 70 }).authorizedMinor).toBe(70);
      expect(
        fold({ ...manual, amountCapturableMinor: 70, amountReceivedMinor: 20 }).authorizedMinor,
      ).toBe(status === HELD[1] ? 70 : 90);
      if (isCaptured) {
        expect(fold({ ...manual, amountReceivedMinor: 20 }).authorizedMinor).toBe(20);
      }
    },
  );

  test.each(['processing', 'cancelled', 'expired', 'failed', 'conflicted', 'invented'])(
    '%s carries no hold, and assumes none',
    (status) => {
      const content = { ...usd, captureMethod: 'manual', status, ...at(1) };
      const amounts = { amountCapturableMinor: 70, amountReceivedMinor: 20 };
      expect(fold({ ...content, ...amounts }).authorizedMinor).toBe(0);
      expect(fold({ ...content, ...amounts }).uncertainties).not.toContain('provisional_amount');
    },
  );

  test.each([
    ['manual', 100],
    ['manual_multiple', 100],
    ['automatic', 0],
    ['semi_manual', 0],
    [undefined, 0],
  ])(
    'a payment with the capture method %s that succeeded was held: %i',
    (method, authorizedMinor) => {
      const content = method === undefined ? {} : { captureMethod: method };
      expect(fold({ ...CAPTURED, ...content })).toMatchObject({
        authorizedMinor,
        capturedMinor: 100,
        uncertainties: [],
      });
    },
  );

  test.each<[string, SnapshotContent, Uncertainty[]]>([
    ['a final body with less', { ...CAPTURED, amountReceivedMinor: 99 }, ['conflicting_amounts']],
    ['a final body with as much', CAPTURED, []],
    [
      'a void with less',
      { ...CAPTURED, status: 'cancelled_post_capture', amountReceivedMinor: 0 },
      [],
    ],
    ['a void with nothing', { ...usd, status: 'cancelled_post_capture' }, []],
    [
      'a body with less from which more can be captured',
      { ...usd, status: 'partially_captured_and_capturable', amountReceivedMinor: 1 },
      [],
    ],
    [
      'a cancellation with less',
      { ...usd, status: 'cancelled', amountReceivedMinor: 1 },
      ['conflicting_amounts'],
    ],
  ])('an amount that only grows is contradicted by %s: %j', (_what, content, uncertainties) => {
    const captured = { ...HOLD, amountCapturableMinor: 0 };
    const first = {
      ...captured,
      status: 'partially_captured_and_capturable',
      amountReceivedMinor: 100,
      ...at(1),
    };
    const state = fold(first, { ...content, ...at(2) });
    expect(state).toMatchObject({ capturedMinor: 100, uncertainties });
  });

  test('a last body with less contradicts the largest amount, over a body between them', () => {
    const partly = (amountReceivedMinor: number, tick: number) => ({
      ...usd,
      status: 'partially_captured_and_capturable',
      ...at(tick),
      amountReceivedMinor,
    });
    const last = { ...CAPTURED, amountReceivedMinor: 50, ...at(3) };
    expect(fold(partly(70, 1), partly(60, 2), last)).toMatchObject({
      capturedMinor: 70,
      uncertainties: ['conflicting_amounts'],
    });
  });

  test('an amount before a failure contradicts nothing after it', () => {
    const state = fold(
      { ...CAPTURED, ...at(1) },
      { ...FAILED, ...at(2) },
      { ...CAPTURED, amountReceivedMinor: 40, ...at(3) },
    );
    expect(state).toMatchObject({ capturedMinor: 40, uncertainties: [] });
  });
});

describe('M5: a captured amount that no final body carries', () => {
  test.each<[string, SnapshotContent, number, Uncertainty[], boolean]>([
    ['succeeded', SUCCEEDED, 100, ['provisional_amount'], true],
    ['succeeded, net', { ...SUCCEEDED, netAmountMinor: 109 }, 109, ['provisional_amount'], true],
    ['succeeded, held', { ...SUCCEEDED, captureMethod: 'manual' }, 0, ['unknown_amount'], false],
    ['partially captured', { ...usd, status: 'partially_captured' }, 0, ['unknown_amount'], false],
    ['voided', { ...usd, status: 'cancelled_post_capture' }, 0, [], true],
    ['processing', { ...usd, status: 'processing' }, 0, [], true],
    ['succeeded with zero', { ...SUCCEEDED, amountReceivedMinor: 0 }, 0, [], true],
  ])('%s', (...[, content, capturedMinor, uncertainties, posts]) => {
    expect(fold(content)).toMatchObject({ capturedMinor, uncertainties, posts });
  });

  const heldBefore = { ...usd, status: 'requires_capture', ...at(1), captureMethod: 'manual' };
  const emptied = { ...SUCCEEDED, ...at(2), captureMethod: 'manual', amountCapturableMinor: 0 };

  test.each<[string, readonly SnapshotContent[], number]>([
    ['the hold', [{ ...heldBefore, amountCapturableMinor: 100 }, emptied], 100],
    ['a smaller hold', [{ ...heldBefore, amountCapturableMinor: 70 }, emptied], 70],
    ['an unseen hold', [emptied], 100],
    ['an unseen hold, net', [{ ...emptied, netAmountMinor: 109 }], 109],
  ])('a body that leaves nothing to capture shows that all of %s was captured', (...args) => {
    const [, contents, capturedMinor] = args;
    const state = fold(...contents);
    expect(state).toMatchObject({ capturedMinor, posts: true });
    expect(state.uncertainties).toEqual(['provisional_amount']);
  });

  test('a payment that was captured in part states no more by leaving nothing to capture', () => {
    const part = { ...emptied, status: 'partially_captured' };
    const state = fold({ ...heldBefore, amountCapturableMinor: 100 }, part);
    expect(state).toMatchObject({ capturedMinor: 0, posts: false });
    expect(state.uncertainties).toEqual(['unknown_amount']);
  });

  test('a payment of which a part is known states no more by leaving nothing to capture', () => {
    const part = { ...heldBefore, amountReceivedMinor: 30, amountCapturableMinor: 70 };
    const state = fold(part, emptied);
    expect(state.capturedMinor).toBe(30);
    expect(state.uncertainties).toEqual(['unknown_amount']);
  });

  test.each<[string, SnapshotContent, SnapshotContent, number]>([
    ['a hold in part', { ...heldBefore, amountCapturableMinor: 40 }, emptied, 40],
    ['a hold that nothing shows as captured', heldBefore, { ...SUCCEEDED, ...at(2) }, 0],
  ])('a failure revokes what was counted: of %s', (_what, held, ended, minor) => {
    expect(fold(held, ended).capturedMinor).toBe(minor);
    expect(fold(held, ended, { ...FAILED, ...at(3) }).revokedMinor).toBe(minor);
  });

  test('an amount that is not known at all counts as zero', () => {
    expect(fold({ status: 'succeeded', currency: 'USD' }).capturedMinor).toBe(0);
  });

  test('an uncertainty of the capture and of the hold is one', () => {
    const state = fold({ ...usd, status: 'requires_capture', ...at(1) });
    expect(state.uncertainties).toEqual(['provisional_amount']);
  });

  test('the known part of a capture stays until a final body carries the amount', () => {
    const part = {
      ...usd,
      status: 'partially_captured_and_capturable',
      ...at(1),
      amountReceivedMinor: 30,
      amountCapturableMinor: 70,
    };
    const state = fold(part, { ...SUCCEEDED, ...at(2) });
    expect(state).toMatchObject({ capturedMinor: 30, posts: false });
    expect(state.uncertainties).toEqual(['unknown_amount']);
  });

  test.each<[string, SnapshotContent, readonly SnapshotContent[], boolean]>([
    ['no capture method', {}, [], true],
    ['manual', { captureMethod: 'manual' }, [], true],
    ['scheduled', { captureMethod: 'scheduled' }, [], true],
    ['automatic', { captureMethod: 'automatic' }, [], false],
    ['sequential_automatic', { captureMethod: 'sequential_automatic' }, [], false],
    ['automatic, but held', { captureMethod: 'automatic' }, [HOLD], true],
    ['the amount, itself', { amountReceivedMinor: 0 }, [], false],
    [
      'the amount in a body from before the end',
      {},
      [{ ...usd, status: 'partially_captured_and_capturable', amountReceivedMinor: 3 }],
      true,
    ],
    [
      'the amount in a final body below',
      {},
      [{ ...usd, status: 'partially_captured', amountReceivedMinor: 3 }],
      false,
    ],
  ])(
    'a cancelled payment may have captures that none states: %s',
    (_what, fields, before, isUnstated) => {
      const cancelled = { ...usd, status: 'cancelled', ...fields, ...at(2) };
      const { uncertainties } = fold(...before.map((one) => ({ ...one, ...at(1) })), cancelled);
      expect(uncertainties).toEqual(isUnstated ? ['unstated_capture'] : []);
    },
  );
});

describe('M4: a failed payment', () => {
  test.each<[string, readonly SnapshotContent[], number]>([
    ['what a body before carries', [{ ...CAPTURED, ...at(1) }], 100],
    [
      'the most of several',
      [30, 70, 50].map((amountReceivedMinor, tick) => ({
        ...CAPTURED,
        amountReceivedMinor,
        ...at(tick),
      })),
      70,
    ],
    [
      'the amount due, if a success carries none',
      [{ ...SUCCEEDED, netAmountMinor: 109, ...at(1) }],
      109,
    ],
    ['nothing of a body without a version', [CAPTURED], 0],
    [
      'nothing of an amount before its capture',
      [{ ...HOLD, amountReceivedMinor: 100, ...at(1) }],
      0,
    ],
    ['nothing in another currency', [{ ...CAPTURED, currency: 'EUR', ...at(1) }], 0],
    ['nothing if none was captured', [{ ...usd, status: 'processing', ...at(1) }], 0],
  ])('revokes %s', (_what, before, revokedMinor) => {
    const state = fold(...before, { ...FAILED, ...at(9) });
    expect(state).toMatchObject({ capturedMinor: 0, revokedMinor });
  });

  test.each(['succeeded', 'cancelled_post_capture', 'processing'])(
    'is the only one that revokes: not one that is %s',
    (status) => {
      const state = fold({ ...CAPTURED, ...at(1) }, { ...CAPTURED, status, ...at(2) });
      expect(state.revokedMinor).toBe(0);
    },
  );
});

describe('the sources of the amounts', () => {
  const sourcesOf = (...contents: readonly SnapshotContent[]) => {
    const ascending = contents.map((content) => snapshot(content)).sort(compareSnapshots);
    const { captured, authorized } = amountSources(ascending, foldSnapshots(ascending));
    return [captured, authorized].map(({ basis, from }) => [basis, from?.content]);
  };

  const part = (amountReceivedMinor: number, tick: number) => ({
    ...usd,
    status: 'partially_captured_and_capturable',
    captureMethod: 'manual',
    ...at(tick),
    amountReceivedMinor,
    amountCapturableMinor: 100 - amountReceivedMinor,
  });

  test('are the greatest bodies that carry them', () => {
    const bodies = [part(30, 1), part(70, 2), part(70, 3)];
    expect(sourcesOf(...bodies)).toEqual([
      ['carried', bodies[2]],
      ['carried', bodies[2]],
    ]);
    const smaller = { ...part(20, 4), amountCapturableMinor: 1 };
    expect(sourcesOf(...bodies, smaller)).toEqual([
      ['carried', bodies[2]],
      ['carried', bodies[2]],
    ]);
  });

  test('are none for the hold of a payment that was never held', () => {
    expect(sourcesOf(CAPTURED)).toEqual([
      ['carried', CAPTURED],
      ['carried', undefined],
    ]);
  });

  test('are none if the amounts are assumed', () => {
    expect(sourcesOf(SUCCEEDED)[0]).toEqual(['provisional', undefined]);
    expect(sourcesOf({ ...usd, status: 'requires_capture' })[1]).toEqual([
      'provisional',
      undefined,
    ]);
  });

  test('are the known part if the final amount is unknown', () => {
    const known = part(30, 1);
    expect(sourcesOf(known, { ...SUCCEEDED, ...at(2) })[0]).toEqual(['unknown', known]);
    expect(sourcesOf({ ...HOLD, ...at(1) }, { ...SUCCEEDED, ...at(2) })[0]).toEqual([
      'unknown',
      undefined,
    ]);
  });

  test('are none for an amount of zero that no body carries, and not from before a failure', () => {
    expect(sourcesOf({ ...usd, status: 'processing' })).toEqual([
      ['carried', undefined],
      ['carried', undefined],
    ]);
    const zero = { ...CAPTURED, amountReceivedMinor: 0, ...at(1) };
    const failed = { ...FAILED, ...at(2) };
    expect(sourcesOf(zero, failed, { ...usd, status: 'processing', ...at(3) })[0]).toEqual([
      'carried',
      undefined,
    ]);
  });
});

describe('M6: uncertainties', () => {
  const has = (name: Uncertainty, state: ResourceState) => state.uncertainties.includes(name);
  const PROCESSING = { ...usd, status: 'processing' } as const;

  test.each<[string, readonly SnapshotContent[], boolean]>([
    ['an undated success beside a dated attempt', [{ ...PROCESSING, ...at(1) }, CAPTURED], true],
    ['an undated body of the same rank', [{ ...PROCESSING, ...at(1) }, PROCESSING], false],
    ['an undated body of a lower rank', [{ ...CAPTURED, ...at(1) }, PROCESSING], false],
    [
      'a dated success below',
      [
        { ...CAPTURED, ...at(1) },
        { ...PROCESSING, ...at(2) },
      ],
      false,
    ],
    ['undated bodies alone', [PROCESSING, CAPTURED], false],
    [
      'an undated success in another currency',
      [
        { ...PROCESSING, ...at(1) },
        { ...CAPTURED, currency: 'EUR' },
      ],
      false,
    ],
  ])('unversioned_ahead, by %s', (_what, contents, isAhead) => {
    expect(has('unversioned_ahead', fold(...contents))).toBe(isAhead);
  });

  const dated = { ...usd, status: 'opened', stage: 'dispute', ...at(1) };
  const undated = (status: string, stage?: string) => ({ ...usd, status, ...(stage && { stage }) });
  test.each<[string, readonly SnapshotContent[], string | undefined]>([
    ['none', [dated, undated('opened', 'dispute')], undefined],
    ['the furthest', [dated, undated('lost', 'dispute'), undated('challenged', 'dispute')], 'lost'],
    ['one of no stage', [dated, undated('lost')], 'lost'],
    ['none of another stage', [dated, undated('lost', 'pre_dispute')], undefined],
    [
      'none that names no stage where there were several',
      [dated, undated('lost'), undated('challenged', 'dispute'), undated('opened', 'pre_dispute')],
      'challenged',
    ],
    [
      'none where the head has the same',
      [dated, { ...dated, status: 'lost', ...at(2) }],
      undefined,
    ],
  ])('the status ahead of a dispute is %s', (_what, contents, status) => {
    expect(foldOf('dispute', ...contents).statusAhead).toBe(status);
  });

  const partly = (amountReceivedMinor: number) => ({
    ...usd,
    status: 'partially_captured_and_capturable',
    amountReceivedMinor,
  });
  test.each<[string, ResourceKind, SnapshotContent, SnapshotContent, boolean]>([
    ['another amount', 'payment', PROCESSING, { ...PROCESSING, amountMinor: 99 }, true],
    [
      'another amount at another time',
      'payment',
      { ...PROCESSING, ...at(1) },
      { ...PROCESSING, amountMinor: 99, ...at(2) },
      false,
    ],
    [
      'another amount with another rank',
      'payment',
      SUCCEEDED,
      { ...PROCESSING, amountMinor: 99 },
      false,
    ],
    [
      'an amount beside none',
      'payment',
      PROCESSING,
      { currency: 'USD', status: 'processing' },
      false,
    ],
    [
      'another capture at the end',
      'payment',
      CAPTURED,
      { ...CAPTURED, amountReceivedMinor: 99 },
      true,
    ],
    ['another capture while more can follow', 'payment', partly(1), partly(2), false],
    ['a capture beside none', 'payment', CAPTURED, SUCCEEDED, false],
    [
      'another end of the same rank',
      'payment',
      { ...usd, status: 'cancelled', amountReceivedMinor: 0 },
      { ...usd, status: 'expired', amountReceivedMinor: 0 },
      true,
    ],
    [
      'another status of the same rank on the way',
      'payment',
      { ...usd, status: 'requires_action' },
      { ...usd, status: 'requires_redirection' },
      false,
    ],
    [
      'another amount at another stage',
      'dispute',
      { ...usd, status: 'won', stage: 'dispute' },
      { ...usd, amountMinor: 9, status: 'won', stage: 'arbitration' },
      false,
    ],
    [
      'another amount at the same stage',
      'dispute',
      { ...usd, status: 'won', stage: 'dispute' },
      { ...usd, amountMinor: 9, status: 'won' },
      true,
    ],
    [
      'another end of a payout',
      'payout',
      { ...usd, status: 'cancelled' },
      { ...usd, status: 'expired' },
      true,
    ],
  ])('conflicting_amounts, by %s', (...[, kind, one, other, isConflict]) => {
    expect(has('conflicting_amounts', foldOf(kind, one, other))).toBe(isConflict);
    expect(has('conflicting_amounts', foldOf(kind, other, one))).toBe(isConflict);
  });

  test.each<[ResourceKind, boolean]>([
    ['refund', true],
    ['dispute', true],
    ['payment', false],
    ['payout', false],
  ])('a %s with bodies that name several payments names them, sorted: %s', (kind, isNamed) => {
    const named = (paymentId: string, tick: number) => ({ ...usd, paymentId, ...at(tick) });
    const [b, a] = [named('pay_b', 1), named('pay_a', 2)];
    expect(foldOf(kind, b, a, named('pay_b', 3)).namedPayments).toEqual(
      isNamed ? ['pay_a', 'pay_b'] : [],
    );
    expect(foldOf(kind, b, { ...usd, ...at(2) }).namedPayments).toEqual([]);
  });
});

describe('M6: illegal steps', () => {
  const step = (status: string, content: SnapshotContent = {}) => ({ ...usd, status, ...content });
  const CANCELLED = { ...step('cancelled'), ...at(1) };
  const AFTER = { ...step('processing'), ...at(3) };
  const STEP = { from: 'cancelled', to: 'processing' };

  test.each<[string, ResourceKind, readonly SnapshotContent[], readonly object[]]>([
    ['a step that is possible', 'payment', [{ ...AFTER, ...at(0) }, CANCELLED], []],
    ['a step that is not', 'payment', [CANCELLED, AFTER], [STEP]],
    [
      'one over a body without a status',
      'payment',
      [CANCELLED, { ...usd, ...at(2) }, AFTER],
      [STEP],
    ],
    [
      'each of two',
      'payment',
      [CANCELLED, AFTER, { ...CANCELLED, ...at(4) }, { ...AFTER, ...at(5) }],
      [STEP, STEP],
    ],
    ['none between undated and dated bodies', 'payment', [step('cancelled'), AFTER], []],
    ['one between undated bodies', 'refund', [step('failed'), step('succeeded')], []],
    [
      'a dispute that was decided twice',
      'dispute',
      [step('won', at(1)), step('lost', at(2))],
      [{ from: 'won', to: 'lost' }],
    ],
    [
      'none between stages',
      'dispute',
      [
        step('won', { ...at(1), stage: 'dispute' }),
        step('lost', { ...at(2), stage: 'arbitration' }),
      ],
      [],
    ],
    [
      'one within a stage',
      'dispute',
      [
        step('won', { ...at(1), stage: 'arbitration' }),
        step('lost', { ...at(2), stage: 'arbitration' }),
      ],
      [{ from: 'won', to: 'lost' }],
    ],
    [
      'none of bodies without a stage beside one with another',
      'dispute',
      [step('won', at(1)), step('lost', at(2)), step('lost', { ...at(3), stage: 'arbitration' })],
      [],
    ],
    [
      'one of bodies without a stage beside one of the usual stage',
      'dispute',
      [step('won', at(1)), step('lost', { ...at(2), stage: 'dispute' })],
      [{ from: 'won', to: 'lost' }],
    ],
    ['none of an unknown status', 'payment', [CANCELLED, step('invented', at(2))], []],
  ])('%s', (_what, kind, contents, steps) => {
    expect(foldOf(kind, ...contents).illegalSteps).toEqual(steps);
  });

  test('none between epochs', () => {
    const next = snapshot(AFTER, { epoch: 1 });
    expect(foldSnapshots([snapshot(CANCELLED), next]).illegalSteps).toEqual([]);
  });
});
