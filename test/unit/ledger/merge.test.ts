/** Tests cite the invariants at the head of src/ledger/domain/merge.ts as M1, M2 … */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ResourceKind } from '../../../src/contract/resources/index.ts';
import { CAPTURE_CLAIMS, PAYMENT_STATUSES } from '../../../src/contract/statuses.ts';
import { stateFindings } from '../../../src/ledger/domain/findings.ts';
import { targetsIn } from '../../../src/ledger/domain/legs.ts';
import { foldSnapshots, type ResourceState } from '../../../src/ledger/domain/merge.ts';
import { type Known, mergeObservations } from '../../../src/ledger/domain/mergeObservations.ts';
import {
  type Observation,
  type SnapshotContent,
  supplementOf,
} from '../../../src/ledger/domain/snapshot.ts';
import { LIFECYCLES, observe, permutations, SECOND, T0 } from '../../support/observations.ts';

const NOTHING: Known = { snapshots: [], epochs: [], contradiction: undefined };

/** Applies observations one after another, like deliveries that arrive one by one. */
function applyOneByOne(observations: readonly Observation[]): ResourceState | undefined {
  let known = NOTHING;
  let state: ResourceState | undefined;
  for (const one of observations) {
    const merged = mergeObservations(known, [one]);
    known = {
      snapshots: [...known.snapshots, ...merged.added],
      epochs: [...known.epochs, ...merged.openedEpochs],
      contradiction: merged.contradiction,
    };
    state = merged.state;
  }
  return state;
}

function merge(...contents: readonly SnapshotContent[]): ResourceState {
  const { state } = mergeObservations(
    NOTHING,
    contents.map((content) => observe(content)),
  );
  if (!state) throw new Error('nothing was merged');
  return state;
}

const usd = { amountMinor: 100, currency: 'USD' } as const;

describe('M1: state is a function of the set of observations', () => {
  test.each(Object.entries(LIFECYCLES))(
    '%s: the same end in every order, with duplicates',
    (_name, life) => {
      const observations = life.observations.map((content) =>
        observe(content, { kind: life.kind }),
      );
      const ends = new Set<string>();
      for (const order of permutations(observations)) {
        ends.add(JSON.stringify(applyOneByOne([...order, ...order.slice(0, 2)])));
        ends.add(JSON.stringify(applyOneByOne([...order.slice(-1), ...order])));
      }
      expect(ends.size).toBe(1);
      const finalState = life.observations[life.finalIndex];
      const end = applyOneByOne(observations);
      expect(end).toMatchObject({
        status: finalState?.status,
        amountMinor: finalState?.amountMinor,
      });
      expect(end?.capturedMinor).toBe(
        finalState?.amountReceivedMinor ?? (life.kind === 'payment' ? finalState?.amountMinor : 0),
      );
    },
  );

  test.each(Object.entries(LIFECYCLES))(
    '%s: a list row adds only its time, in every order',
    (_name, life) => {
      const observations = life.observations.map((content) =>
        observe(content, { kind: life.kind }),
      );
      const row = { ...life.observations[life.finalIndex], createdMicros: T0 - SECOND };
      const added = supplementOf(life, row);
      if (!added) return;
      const { createdMicros: _, ...without } = applyOneByOne(observations) ?? {};
      const supplement = observe(added, { kind: life.kind, source: 'list' });
      for (const order of permutations([...observations, supplement])) {
        const { createdMicros, ...end } = applyOneByOne(order) ?? {};
        expect(createdMicros).toBeDefined();
        expect(end).toEqual(without);
      }
    },
  );

  test.each(['cancelled', 'expired'])(
    '%s leaves earlier captures uncertain, unless only success captures',
    (status) => {
      const uncertaintiesOf = (...bodies: readonly SnapshotContent[]) =>
        merge(...bodies).uncertainties;
      const partial = { ...usd, status };
      expect(uncertaintiesOf(partial)).toEqual(['unstated_capture']);
      expect(uncertaintiesOf({ ...partial, captureMethod: 'manual_multiple' })).toEqual([
        'unstated_capture',
      ]);
      expect(uncertaintiesOf({ ...partial, captureMethod: 'automatic' })).toEqual([]);
      expect(uncertaintiesOf({ ...partial, amountReceivedMinor: 0 })).toEqual([]);
      const held = { ...usd, status: 'requires_capture', amountReceivedMinor: 0 };
      expect(uncertaintiesOf({ ...partial, captureMethod: 'automatic' }, held)).toContain(
        'unstated_capture',
      );
    },
  );

  test.each(['partially_captured_and_capturable', 'partially_captured_and_processing'])(
    '%s without an amount leaves uncertain what was captured since',
    (status) => {
      const hold = { ...usd, status: 'requires_capture', amountCapturableMinor: 100 };
      const part = { ...usd, status, amountCapturableMinor: 60 };
      const one = { ...hold, versionMicros: T0 };
      const two = { ...part, amountReceivedMinor: 40, versionMicros: T0 + 1 };
      const three = { ...part, versionMicros: T0 + 2 };
      const unstated = { uncertainties: ['unstated_capture'], posts: true };
      expect(merge(one, three)).toMatchObject({ ...unstated, capturedMinor: 0 });
      expect(merge(one, two, three)).toMatchObject({ ...unstated, capturedMinor: 40 });
      const stated = { ...three, amountReceivedMinor: 70 };
      expect(merge(one, two, three, stated)).toMatchObject({
        uncertainties: [],
        capturedMinor: 70,
      });
    },
  );

  test.each(Object.entries(LIFECYCLES))(
    '%s: any subset of it plus the final state ends in the final state',
    (_name, life) => {
      const observations = life.observations.map((content) =>
        observe(content, { kind: life.kind }),
      );
      const finalState = life.observations[life.finalIndex] ?? {};
      const retrieved = observe(finalState, { kind: life.kind, source: 'retrieve' });
      for (let subset = 0; subset < 1 << observations.length; subset += 1) {
        const received = observations.filter((_observation, place) => (subset >> place) & 1);
        const end = applyOneByOne([...received, retrieved]);
        expect(end).toMatchObject({ status: finalState.status, headHash: retrieved.contentHash });
      }
    },
  );

  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const anyContent: fc.Arbitrary<SnapshotContent> = fc
    .record({
      status: optional(fc.constantFrom(...PAYMENT_STATUSES, 'invented')),
      amountMinor: optional(fc.integer({ min: 0, max: 3 })),
      currency: optional(fc.constantFrom('USD', 'EUR')),
      versionMicros: optional(fc.integer({ min: T0, max: T0 + 3 })),
      orderId: optional(fc.constantFrom('a', 'b')),
      captureMethod: optional(fc.constantFrom('automatic', 'manual', 'scheduled')),
      amountReceivedMinor: optional(fc.integer({ min: 0, max: 3 })),
      amountCapturableMinor: optional(fc.integer({ min: 0, max: 3 })),
    })
    .map(
      (fields) =>
        Object.fromEntries(
          Object.entries(fields).filter(([, value]) => value !== undefined),
        ) as SnapshotContent,
    );

  test('arbitrary bodies, shuffled and repeated, one by one or at once, give one state', () => {
    fc.assert(
      fc.property(
        fc
          .array(anyContent, { minLength: 1, maxLength: 7 })
          .chain((contents) =>
            fc.tuple(
              fc.constant(contents),
              fc.shuffledSubarray([...contents, ...contents], { minLength: contents.length * 2 }),
            ),
          ),
        ([contents, shuffled]) => {
          const observations = contents.map((content) => observe(content));
          const again = shuffled.map((content) => observe(content));
          const end = applyOneByOne(observations);
          expect(applyOneByOne(again)).toEqual(end);
          expect(mergeObservations(NOTHING, again).state).toEqual(end);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('M2: the key', () => {
  test('a higher version wins over a later status', () => {
    const older = { ...usd, status: 'succeeded', versionMicros: T0 };
    const newer = { ...usd, status: 'processing', versionMicros: T0 + 1 };
    expect(merge(newer, older).status).toBe('processing');
  });

  test('within one version the later status wins, then the larger captured amount', () => {
    const one = { ...usd, versionMicros: T0 };
    expect(merge({ ...one, status: 'succeeded' }, { ...one, status: 'processing' }).status).toBe(
      'succeeded',
    );
    const state = merge(
      { ...one, status: 'partially_captured', amountReceivedMinor: 40 },
      { ...one, status: 'partially_captured', amountReceivedMinor: 60, errorCode: 'the larger' },
    );
    expect(state).toMatchObject({ capturedMinor: 60, errorCode: 'the larger' });
  });

  test('a captured amount of zero ranks above none, regardless of the hash', () => {
    const one = { ...usd, status: 'failed', versionMicros: T0 };
    const winners = Array.from({ length: 16 }, (_, place) => {
      const carrying = { ...one, amountReceivedMinor: 0, errorCode: `carried ${place}` };
      return merge(carrying, { ...one, errorCode: `missing ${place}` }).errorCode;
    });
    expect(winners).toEqual(winners.map((_, place) => `carried ${place}`));
  });

  test('between two bodies that differ in nothing else the content hash decides, regardless of arrival', () => {
    const one = { ...usd, status: 'failed', errorCode: 'x' };
    const other = { ...usd, status: 'failed', errorCode: 'y' };
    expect(merge(one, other).errorCode).toBe(merge(other, one).errorCode);
  });

  test('a higher dispute stage wins over a higher version', () => {
    const observations = [
      observe(
        { ...usd, status: 'won', stage: 'dispute', versionMicros: T0 + 9 },
        { kind: 'dispute' },
      ),
      observe(
        { ...usd, status: 'opened', stage: 'arbitration', versionMicros: T0 },
        { kind: 'dispute' },
      ),
    ];
    expect(applyOneByOne(observations)).toMatchObject({ status: 'opened', stage: 'arbitration' });
  });

  test('a body without a version is the head only if no body has a version', () => {
    const undated = { ...usd, status: 'succeeded' };
    expect(merge(undated).status).toBe('succeeded');
    const state = merge(undated, { ...usd, status: 'processing', versionMicros: T0 });
    expect(state.status).toBe('processing');
    expect(state.uncertainties).toContain('unversioned_ahead');
  });
});

describe('M3: fields that the head does not have come from the greatest body that has them', () => {
  test('fields are filled from lower bodies, amounts included', () => {
    const state = merge(
      { ...usd, status: 'processing', orderId: 'old', versionMicros: T0 },
      { orderId: 'new', versionMicros: T0 + 1 },
      { status: 'succeeded', amountReceivedMinor: 100, versionMicros: T0 + 2 },
    );
    expect(state).toMatchObject({
      status: 'succeeded',
      amountMinor: 100,
      orderId: 'new',
      posts: true,
    });
  });

  test('nothing is posted while no body has a status, amount or currency', () => {
    expect(merge({ status: 'succeeded', amountMinor: 5 })).toMatchObject({
      posts: false,
      uncertainties: expect.arrayContaining(['incomplete']),
    });
  });
});

describe('M4: cumulative amounts only grow within an epoch and a currency', () => {
  test('a newer body with a smaller amount does not reverse a capture', () => {
    const state = merge(
      { ...usd, status: 'succeeded', amountReceivedMinor: 100, versionMicros: T0 },
      { ...usd, status: 'cancelled_post_capture', amountReceivedMinor: 0, versionMicros: T0 + 1 },
    );
    expect(state.capturedMinor).toBe(100);
  });

  test('amounts in an earlier currency do not count', () => {
    const state = merge(
      {
        amountMinor: 900,
        currency: 'JPY',
        status: 'processing',
        amountReceivedMinor: 900,
        versionMicros: T0,
      },
      { ...usd, status: 'succeeded', amountReceivedMinor: 100, versionMicros: T0 + 1 },
    );
    expect(state).toMatchObject({ currency: 'USD', capturedMinor: 100 });
  });

  test.each(['manual', 'scheduled', 'sequential_automatic', 'automatic'])(
    'a hold counts under any capture method: %s',
    (captureMethod) => {
      const common = { amountMinor: 6540, currency: 'USD', captureMethod, versionMicros: T0 };
      const held = {
        ...common,
        status: 'requires_capture',
        amountCapturableMinor: 6540,
        amountReceivedMinor: 0,
      };
      expect(merge(held)).toMatchObject({ authorizedMinor: 6540, capturedMinor: 0, posts: true });
      const taken = { ...common, status: 'succeeded', versionMicros: T0 + SECOND };
      expect(merge(held, taken)).toMatchObject({ posts: false, uncertainties: ['unknown_amount'] });
      expect(merge(held, { ...taken, amountReceivedMinor: 6540 })).toMatchObject({
        authorizedMinor: 6540,
        capturedMinor: 6540,
        posts: true,
        uncertainties: [],
      });
    },
  );

  test('an amount that is capturable before anything is authorized is not a hold', () => {
    const state = merge({
      ...usd,
      captureMethod: 'manual',
      status: 'requires_confirmation',
      amountCapturableMinor: 100,
    });
    expect(state.authorizedMinor).toBe(0);
  });
});

describe('M5: a captured amount that no body has', () => {
  test('automatic capture counts the amount provisionally and makes a retrieve due', () => {
    expect(merge({ ...usd, status: 'succeeded' })).toMatchObject({
      capturedMinor: 100,
      posts: true,
      uncertainties: ['provisional_amount'],
    });
  });

  test('the first reported value replaces the provisional one, even if it is smaller', () => {
    const state = merge(
      { ...usd, status: 'succeeded' },
      { ...usd, status: 'succeeded', amountReceivedMinor: 60 },
    );
    expect(state).toMatchObject({ capturedMinor: 60, uncertainties: [] });
  });

  test('a zero that was reported before the payment succeeded does not replace it', () => {
    const state = merge(
      { ...usd, status: 'processing', amountReceivedMinor: 0, versionMicros: T0 },
      { ...usd, status: 'succeeded', versionMicros: T0 + 1 },
    );
    expect(state).toMatchObject({ capturedMinor: 100, uncertainties: ['provisional_amount'] });
  });

  test('a capture from a hold posts nothing until a body has the amount', () => {
    const held = {
      ...usd,
      status: 'requires_capture',
      amountCapturableMinor: 100,
      amountReceivedMinor: 0,
    };
    const state = merge(held, { ...usd, status: 'succeeded' });
    expect(state).toMatchObject({
      posts: false,
      capturedMinor: 0,
      uncertainties: ['unknown_amount'],
    });
  });
});

describe('the net amount: with surcharge, tax and shipping', () => {
  const net = { amountMinor: 3000, netAmountMinor: 3090, currency: 'USD' } as const;
  const findingsOf = (...contents: readonly SnapshotContent[]) => {
    const merged = mergeObservations(
      NOTHING,
      contents.map((content) => observe(content)),
    );
    return stateFindings({ kind: 'payment', id: 'pay_1' }, merged);
  };

  test('a capture of the net amount is an ordinary capture', () => {
    expect(findingsOf({ ...net, status: 'succeeded', amountReceivedMinor: 3090 })).toEqual([]);
  });

  test('a capture above the net amount is an over-capture', () => {
    const body = { amountMinor: 15, netAmountMinor: 15, currency: 'USD', status: 'succeeded' };
    expect(findingsOf({ ...body, amountReceivedMinor: 17 })).toEqual([
      {
        class: 'over_capture',
        subject: 'payment:pay_1',
        detail: { amountMinor: 15, netAmountMinor: 15, capturedMinor: 17, currency: 'USD' },
      },
    ]);
    expect(findingsOf({ ...net, status: 'succeeded', amountReceivedMinor: 3091 })).toHaveLength(1);
  });

  test('replaces a captured amount or a hold that no body has', () => {
    expect(merge({ ...net, status: 'succeeded' })).toMatchObject({
      capturedMinor: 3090,
      uncertainties: ['provisional_amount'],
    });
    expect(merge({ ...net, status: 'requires_capture' })).toMatchObject({ authorizedMinor: 3090 });
  });

  test('is dropped with the amount that it belongs to', () => {
    const updated = { amountMinor: 5000, status: 'succeeded', amountReceivedMinor: 5000 };
    const bodies = [
      { ...net, status: 'requires_confirmation', versionMicros: T0 },
      { ...usd, ...updated, versionMicros: T0 + 1 },
    ];
    for (const order of permutations(bodies)) {
      expect(merge(...order).netAmountMinor).toBeUndefined();
      expect(findingsOf(...order)).toEqual([]);
    }
  });
});

describe('a field of what is over', () => {
  test('a net amount is dropped when the currency changes, as with the amount', () => {
    const bodies = [
      {
        ...usd,
        currency: 'EUR',
        netAmountMinor: 109,
        status: 'requires_confirmation',
        versionMicros: T0,
      },
      { ...usd, status: 'succeeded', versionMicros: T0 + 1 },
    ];
    for (const order of permutations(bodies)) {
      expect(merge(...order)).toMatchObject({ netAmountMinor: undefined, capturedMinor: 100 });
    }
  });

  test.each<[string, Partial<SnapshotContent>, boolean]>([
    ['a later stage without one', { stage: 'pre_arbitration', status: 'opened' }, false],
    ['the same stage', { stage: 'dispute', status: 'lost' }, true],
    ['a body that names no stage', { status: 'lost' }, true],
  ])('the deadline of a dispute after %s', (_what, later, isKept) => {
    const opened = { ...usd, stage: 'dispute', status: 'opened', deadlineMicros: T0 + 9 };
    const bodies = [
      { ...opened, versionMicros: T0 },
      { ...usd, ...later, versionMicros: T0 + 1 },
    ];
    for (const order of permutations(bodies)) {
      const { state } = mergeObservations(
        NOTHING,
        order.map((content) => observe(content, { kind: 'dispute' })),
      );
      expect(state?.deadlineMicros).toBe(isKept ? T0 + 9 : undefined);
    }
  });

  const held = { ...usd, captureMethod: 'manual', status: 'requires_capture' } as const;
  const first = {
    ...held,
    amountCapturableMinor: 100,
    deadlineMicros: T0 + 9,
    versionMicros: T0,
  };
  const failed = { ...usd, status: 'failed', deadlineMicros: T0 + 9, versionMicros: T0 + 1 };

  test('a failed payment keeps what its last hold was, to release it', () => {
    const again = { ...failed, errorCode: 'repeated', versionMicros: T0 + 2 };
    for (const order of permutations([first, failed, again])) {
      expect(merge(...order)).toMatchObject({ authorizedMinor: 100, deadlineMicros: T0 + 9 });
    }
  });

  test('the hold of a failed attempt, and its deadline, are not those of the next attempt', () => {
    const confirmed = { ...usd, status: 'processing', versionMicros: T0 + 3 };
    const second = {
      ...held,
      status: 'partially_authorized_and_requires_capture',
      amountCapturableMinor: 70,
      versionMicros: T0 + 4,
    };
    for (const order of permutations([first, failed, confirmed])) {
      expect(merge(...order)).toMatchObject({ authorizedMinor: 0, deadlineMicros: undefined });
    }
    for (const order of permutations([first, failed, confirmed, second])) {
      expect(merge(...order)).toMatchObject({ authorizedMinor: 70, deadlineMicros: undefined });
    }
    const captured = {
      ...usd,
      status: 'succeeded',
      amountReceivedMinor: 70,
      versionMicros: T0 + 5,
    };
    expect(merge(first, failed, second, captured)).toMatchObject({
      authorizedMinor: 70,
      capturedMinor: 70,
    });
  });
});

describe('captured money follows the status', () => {
  const full = { ...usd, amountReceivedMinor: 100 } as const;
  const claims = Object.entries(CAPTURE_CLAIMS);

  test.each(claims)('%s with the full amount in amount_received: %s', (status, claim) => {
    const counts = claim === 'captured' || claim === 'kept';
    expect(merge({ ...full, status }).capturedMinor).toBe(counts ? 100 : 0);
  });

  test('a failure after an amount that was reported too early captures nothing, without a finding', () => {
    const bodies = [
      { ...full, status: 'processing', versionMicros: T0 },
      { ...usd, status: 'failed', versionMicros: T0 + 1 },
    ];
    for (const order of permutations(bodies)) {
      const merged = mergeObservations(
        NOTHING,
        order.map((content) => observe(content)),
      );
      expect(merged.state).toMatchObject({ capturedMinor: 0, revokedMinor: 0, uncertainties: [] });
      expect(stateFindings({ kind: 'payment', id: 'pay_1' }, merged)).toEqual([]);
    }
  });

  test.each([
    ['a reported amount', full, 100],
    ['an assumed amount', usd, 100],
  ])('a failure after a success revokes %s, with a finding', (_what, paid, revokedMinor) => {
    const bodies = [
      { ...paid, status: 'succeeded', versionMicros: T0 },
      { ...usd, status: 'failed', versionMicros: T0 + 1 },
      { ...usd, status: 'failed', errorCode: 'repeated', versionMicros: T0 + 2 },
    ];
    for (const order of permutations(bodies)) {
      const merged = mergeObservations(
        NOTHING,
        order.map((content) => observe(content)),
      );
      expect(merged.state).toMatchObject({ status: 'failed', capturedMinor: 0, posts: true });
      expect(stateFindings({ kind: 'payment', id: 'pay_1' }, merged)).toContainEqual({
        class: 'capture_revoked',
        subject: 'payment:pay_1',
        detail: { revokedMinor, currency: 'USD' },
      });
    }
  });

  test('another attempt after a failure starts from zero', () => {
    const state = merge(
      { ...full, status: 'succeeded', versionMicros: T0 },
      { ...usd, status: 'failed', versionMicros: T0 + 1 },
      { ...full, status: 'processing', versionMicros: T0 + 2 },
    );
    expect(state).toMatchObject({ status: 'processing', capturedMinor: 0, revokedMinor: 0 });
  });

  test('a hold does not count an amount that was reported before its capture', () => {
    const held = { ...full, status: 'requires_capture', amountCapturableMinor: 100 };
    expect(merge(held)).toMatchObject({
      authorizedMinor: 100,
      capturedMinor: 0,
      uncertainties: [],
    });
  });

  test.each([
    ['a part', { amountCapturableMinor: 70, amountReceivedMinor: 30 }, 30],
    ['a part of the net amount', { amountCapturableMinor: 70, amountReceivedMinor: 39 }, 39],
    ['more than is left', { amountCapturableMinor: 70, amountReceivedMinor: 40 }, 0],
    ['all, and all can be captured', { amountCapturableMinor: 100, amountReceivedMinor: 100 }, 0],
    ['all, and nothing can be captured', { amountCapturableMinor: 0, amountReceivedMinor: 100 }, 0],
    ['all of a hold in part, too early', { amountCapturableMinor: 40, amountReceivedMinor: 40 }, 0],
    ['a part, and nothing more is carried', { amountReceivedMinor: 30 }, 0],
  ])('a payment that requires a capture and has received %s', (what, amounts, capturedMinor) => {
    const net = what.includes('net') ? { netAmountMinor: 109 } : {};
    const state = merge({ ...usd, ...net, ...amounts, status: 'requires_capture' });
    expect(state.capturedMinor).toBe(capturedMinor);
  });

  test.each(['cancelled', 'expired'])('%s keeps what was captured before', (status) => {
    const captured = {
      ...usd,
      status: 'partially_captured_and_capturable',
      amountReceivedMinor: 30,
      amountCapturableMinor: 70,
      versionMicros: T0,
    };
    const partial = { ...usd, status, versionMicros: T0 + 1 };
    // Captures that no body reported may have followed.
    expect(merge(captured, partial)).toMatchObject({
      capturedMinor: 30,
      uncertainties: ['unstated_capture'],
    });
    const stated = merge(captured, { ...partial, amountReceivedMinor: 40 });
    expect(stated).toMatchObject({ capturedMinor: 40, uncertainties: [] });
    const less = merge(captured, { ...partial, amountReceivedMinor: 0 });
    expect(less).toMatchObject({ capturedMinor: 30, uncertainties: ['conflicting_amounts'] });
  });
});

describe('M7: an unknown status posts nothing', () => {
  test.each<[ResourceKind, SnapshotContent]>([
    ['payment', { ...usd, status: 'teleported', amountReceivedMinor: 100 }],
    ['refund', { ...usd, status: 'teleported' }],
    ['dispute', { ...usd, status: 'teleported' }],
    ['payout', { ...usd, status: 'teleported' }],
  ])('%s', (kind, content) => {
    const { state } = mergeObservations(NOTHING, [observe(content, { kind })]);
    expect(state).toMatchObject({
      posts: false,
      capturedMinor: 0,
      uncertainties: ['unknown_status'],
    });
    expect(state && targetsIn(state, {})).toEqual([]);
  });
});

describe('M6: uncertainties and illegal steps are reported', () => {
  const uncertaintiesOfDispute = (...contents: readonly SnapshotContent[]) =>
    mergeObservations(
      NOTHING,
      contents.map((content) => observe(content, { kind: 'dispute' })),
    ).state?.uncertainties;

  test('an undated body with a later status is an uncertainty within its dispute stage, not across stages', () => {
    const opened = { ...usd, status: 'opened', versionMicros: T0 };
    const lost = { ...usd, status: 'lost', stage: 'dispute' };
    expect(uncertaintiesOfDispute({ ...opened, stage: 'dispute' }, lost)).toEqual([
      'unversioned_ahead',
    ]);
    expect(uncertaintiesOfDispute({ ...opened, stage: 'arbitration' }, lost)).toEqual([]);
  });

  test('captures within one tick may differ while more can follow; final amounts may not', () => {
    const carrying = (status: string, amountReceivedMinor: number) => ({
      ...usd,
      status,
      amountReceivedMinor,
      amountCapturableMinor: 100 - amountReceivedMinor,
      versionMicros: T0,
    });
    const uncertaintiesOf = (status: string) =>
      merge(carrying(status, 30), carrying(status, 40)).uncertainties.includes(
        'conflicting_amounts',
      );
    expect(uncertaintiesOf('partially_captured_and_capturable')).toBe(false);
    expect(uncertaintiesOf('partially_captured_and_processing')).toBe(false);
    expect(uncertaintiesOf('partially_captured')).toBe(true);
    expect(uncertaintiesOf('succeeded')).toBe(true);
  });

  test('an unknown status is kept, and uncertain', () => {
    const state = merge({ ...usd, status: 'teleported', versionMicros: T0 });
    expect(state).toMatchObject({ status: 'teleported', uncertainties: ['unknown_status'] });
  });

  test('succeeded after failed under one id is a valid lifecycle', () => {
    const state = merge(
      { ...usd, status: 'failed', versionMicros: T0 },
      { ...usd, status: 'succeeded', amountReceivedMinor: 100, versionMicros: T0 + SECOND },
    );
    expect(state.illegalSteps).toEqual([]);
  });

  test('an impossible transition is found by key order, not by arrival', () => {
    const cancelled = { ...usd, status: 'cancelled', versionMicros: T0 };
    const succeeded = {
      ...usd,
      status: 'succeeded',
      amountReceivedMinor: 100,
      versionMicros: T0 + 1,
    };
    const steps = [{ from: 'cancelled', to: 'succeeded' }];
    expect(merge(cancelled, succeeded).illegalSteps).toEqual(steps);
    expect(merge(succeeded, cancelled).illegalSteps).toEqual(steps);
  });

  test('of a dispute with stages, bodies that name none are of no history', () => {
    const dispute = (content: object) => observe({ ...usd, ...content }, { kind: 'dispute' });
    const bodies = [dispute({ status: 'won' }), dispute({ status: 'cancelled' })];
    expect(applyOneByOne(bodies)?.illegalSteps).toHaveLength(1);
    const listed = { status: 'cancelled', stage: 'pre_arbitration', versionMicros: T0 };
    expect(applyOneByOne([...bodies, dispute(listed)])?.illegalSteps).toEqual([]);
    const sameStage = { status: 'cancelled', stage: 'dispute', versionMicros: T0 };
    expect(applyOneByOne([...bodies, dispute(sameStage)])?.illegalSteps).toHaveLength(1);
  });

  test('a transition across lost events is valid if the later status can be reached', () => {
    const state = merge(
      { ...usd, status: 'requires_payment_method', versionMicros: T0 },
      { ...usd, status: 'succeeded', amountReceivedMinor: 100, versionMicros: T0 + 1 },
    );
    expect(state.illegalSteps).toEqual([]);
  });
});

describe('M3: a deadline ends with what it belonged to', () => {
  const deadline = (...contents: readonly SnapshotContent[]) => {
    const bodies = contents.map((content, at) =>
      observe({ ...usd, ...content, versionMicros: T0 + at }, { kind: 'dispute' }),
    );
    return mergeObservations(NOTHING, bodies).state?.deadlineMicros;
  };
  const due = { status: 'opened', deadlineMicros: T0 + SECOND };

  test('a dispute keeps it at its stage, whether the first body names the stage or not', () => {
    expect(deadline(due, { status: 'opened', stage: 'dispute' })).toBe(T0 + SECOND);
    const stage = 'pre_arbitration';
    expect(deadline({ ...due, stage }, { status: 'challenged', stage })).toBe(T0 + SECOND);
    expect(deadline(due, { status: 'opened', stage })).toBeUndefined();
  });

  test('a failed payment keeps that of its hold until another attempt', () => {
    const held = { ...usd, status: 'requires_capture', deadlineMicros: T0 + SECOND };
    const failed = { ...usd, status: 'failed' };
    const endOf = (content: SnapshotContent) =>
      merge(
        { ...held, versionMicros: T0 },
        { ...failed, versionMicros: T0 + 1 },
        { ...content, versionMicros: T0 + 2 },
      ).deadlineMicros;
    expect(endOf({ ...failed, errorCode: 'failed_again' })).toBe(T0 + SECOND);
    expect(endOf({ ...usd, errorCode: 'without_a_status' })).toBe(T0 + SECOND);
    expect(endOf({ ...usd, status: 'processing' })).toBeUndefined();
  });
});

test('M4: the hold is that of the last attempt after several failures', () => {
  const contents = [100, 80, 50].flatMap((amountCapturableMinor, at) => [
    { ...usd, status: 'failed', versionMicros: T0 + 2 * at },
    { ...usd, status: 'requires_capture', amountCapturableMinor, versionMicros: T0 + 2 * at + 1 },
  ]);
  expect(merge(...contents).authorizedMinor).toBe(50);
  const failed = { ...usd, status: 'failed', versionMicros: T0 + 9 };
  expect(merge(...contents, failed).authorizedMinor).toBe(50);
});

test('M5: what a payment that was never held leaves to capture does not reduce its provisional amount', () => {
  const state = merge({ ...usd, status: 'succeeded', amountCapturableMinor: 40 });
  expect(state).toMatchObject({ capturedMinor: 100, uncertainties: ['provisional_amount'] });
});

test('M5: nothing to capture before the hold leaves open what was captured from it', () => {
  const state = merge(
    { ...usd, status: 'processing', amountCapturableMinor: 0, versionMicros: T0 },
    { ...usd, status: 'requires_capture', versionMicros: T0 + 1 },
    { ...usd, status: 'succeeded', versionMicros: T0 + 2 },
  );
  expect(state.posts).toBe(false);
  expect(state.uncertainties).toContain('unknown_amount');
});

test('M5: a provisional amount is zero as long as no body carries one', () => {
  expect(merge({ currency: 'USD', status: 'succeeded' })).toMatchObject({
    capturedMinor: 0,
    uncertainties: ['incomplete', 'provisional_amount'],
  });
  expect(merge({ currency: 'USD', status: 'requires_capture' }).authorizedMinor).toBe(0);
});

test('M6: no other body completes a head without a version', () => {
  const state = merge(
    { ...usd, status: 'succeeded' },
    { status: 'succeeded', amountReceivedMinor: 100 },
  );
  expect(state.uncertainties).toContain('incomplete');
});

test('a resource without snapshots has no state to fold', () => {
  expect(() => foldSnapshots([])).toThrow(RangeError);
});
