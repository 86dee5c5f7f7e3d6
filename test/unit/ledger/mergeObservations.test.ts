/** What is stored of new observations, and when another retrieve is due; epochs.test.ts has the epochs. */
import { describe, expect, test } from 'vitest';
import { type Known, mergeObservations } from '../../../src/ledger/domain/mergeObservations.ts';
import type { Observation, SnapshotContent } from '../../../src/ledger/domain/snapshot.ts';
import { type ObservationOptions, observe, SECOND, T0 } from '../../support/observations.ts';

const NOTHING: Known = { snapshots: [], epochs: [], contradiction: undefined };
const PAID = {
  status: 'succeeded',
  amountMinor: 100,
  currency: 'USD',
  amountReceivedMinor: 100,
  versionMicros: T0,
};

/** What is known once these were stored. */
function knownOf(...observations: readonly Observation[]): Known {
  const { added, openedEpochs, contradiction } = mergeObservations(NOTHING, observations);
  return { snapshots: added, epochs: openedEpochs, contradiction };
}

describe('a snapshot is stored', () => {
  test('once, although it is observed twice, at once or later', () => {
    const known = knownOf(observe(PAID), observe(PAID));
    expect(known.snapshots).toHaveLength(1);
    const again = mergeObservations(known, [observe(PAID), observe(PAID, { source: 'retrieve' })]);
    expect(again.added).toEqual([]);
    expect(again.state?.status).toBe('succeeded');
  });

  test('with what was known before unchanged', () => {
    const known = knownOf(observe(PAID));
    const before = structuredClone(known);
    mergeObservations(known, [observe({ ...PAID, status: 'failed' })]);
    expect(known).toEqual(before);
  });

  test('in the newest epoch if it was retrieved, regardless of the order of the epochs', () => {
    const epochs = [2, 1].map((epoch) => ({ epoch, floorMicros: T0 + epoch * SECOND }));
    const { added } = mergeObservations({ ...NOTHING, epochs }, [
      observe(PAID, { source: 'retrieve' }),
      observe({ ...PAID, orderId: 'o' }),
    ]);
    expect(added.map(({ epoch }) => epoch)).toEqual([2, 0]);
  });
});

describe('the newest snapshots are apart', () => {
  const next = observe({ ...PAID, versionMicros: T0 + SECOND });

  test('if they are above all that were known', () => {
    const { order } = mergeObservations(knownOf(observe(PAID)), [next]);
    expect(order.newest).toBe(1);
    expect(order.ascending).toHaveLength(2);
  });

  test('but not if an epoch was opened: the history before it changed', () => {
    const back = { ...PAID, amountReceivedMinor: 0, status: 'cancelled', ...version(2) };
    const retrieve = (seconds: number) =>
      observe(back, { source: 'retrieve', observedMicros: T0 + seconds * SECOND });
    const known = knownOf(observe(PAID), retrieve(10));
    const opened = mergeObservations(known, [retrieve(100)]);
    expect(opened.openedEpochs).toHaveLength(1);
    expect(opened.order.newest).toBeUndefined();
    // Later ones are apart again.
    const after = { ...known, snapshots: [...known.snapshots, ...opened.added] };
    const later = mergeObservations({ ...after, epochs: opened.openedEpochs }, [
      observe({ ...back, orderId: 'o', ...version(200) }),
    ]);
    expect(later.openedEpochs).toEqual([]);
    expect(later.order.newest).toBe(1);
  });
});

function version(seconds: number): { readonly versionMicros: number } {
  return { versionMicros: T0 + seconds * SECOND };
}

describe('another retrieve is due', () => {
  const isDue = (content: SnapshotContent, options: ObservationOptions = {}, known = NOTHING) =>
    mergeObservations(known, [observe(content, options)]).isCheckDue;
  const { versionMicros: _, ...UNDATED } = PAID;
  const { amountReceivedMinor: __, ...UNSTATED } = PAID;

  test.each<[string, SnapshotContent, ObservationOptions, boolean]>([
    ['after a body that states everything', PAID, {}, false],
    ['after a body with an assumed amount', UNSTATED, {}, true],
    ['after a retrieve with an assumed amount', UNSTATED, { source: 'retrieve' }, true],
    ['after a list row with everything', PAID, { source: 'list' }, false],
    ['after a list row that states too little', UNDATED, { source: 'list' }, true],
  ])('%s: %j', (_what, content, options, due) => {
    expect(isDue(content, options)).toBe(due);
  });

  test('after a list row that states too little, although what is known states everything', () => {
    expect(isDue(UNDATED, { source: 'list' }, knownOf(observe(PAID)))).toBe(true);
    expect(isDue(PAID, { source: 'list' }, knownOf(observe(PAID)))).toBe(false);
  });

  test('while nothing is known of a resource', () => {
    expect(mergeObservations(NOTHING, [])).toMatchObject({ state: undefined, isCheckDue: true });
  });

  test('after a list row that states too little, and has no state of its own', () => {
    const merged = mergeObservations(NOTHING, [observe(UNDATED, { source: 'list' })]);
    expect(merged).toMatchObject({ state: undefined, added: [], isCheckDue: true });
  });

  const refund = (status: string, paymentId: string, seconds: number) => ({
    status,
    paymentId,
    amountMinor: 5,
    currency: 'USD',
    ...version(seconds),
  });
  const first = observe(refund('failed', 'pay_1', 0), { kind: 'refund' });

  test.each<[string, SnapshotContent]>([
    ['impossible step', refund('succeeded', 'pay_1', 1)],
    ['second payment', refund('failed', 'pay_2', 1)],
    ['impossible step and a second payment', refund('succeeded', 'pay_2', 1)],
    [
      'impossible step, a second payment and a third',
      { ...refund('succeeded', 'pay_2', 1), orderId: 'o' },
    ],
  ])(
    'after a webhook with an %s, but not after a retrieve, which can add nothing',
    (_, content) => {
      const known = knownOf(first);
      const [webhook, retrieve] = (['webhook', 'retrieve'] as const).map((source) =>
        isDue(content, { kind: 'refund', source, observedMicros: T0 }, known),
      );
      expect([webhook, retrieve]).toEqual([true, false]);
      // What is stored already justifies no other retrieve.
      const stored = knownOf(first, observe(content, { kind: 'refund' }));
      expect(isDue(content, { kind: 'refund' }, stored)).toBe(false);
    },
  );

  test('for two impossible steps that name two payments', () => {
    const steps = [
      refund('succeeded', 'pay_1', 1),
      refund('failed', 'pay_1', 2),
      refund('succeeded', 'pay_2', 3),
    ].map((content) => observe(content, { kind: 'refund' }));
    const merged = mergeObservations(NOTHING, [first, ...steps]);
    expect(merged.state).toMatchObject({
      illegalSteps: { length: 2 },
      namedPayments: { length: 2 },
    });
    expect(merged.isCheckDue).toBe(true);
  });
});
