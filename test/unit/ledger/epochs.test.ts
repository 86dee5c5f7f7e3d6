/** Tests cite the invariants at the head of src/ledger/domain/epochs.ts as E1, E2 … */
import { expect, test } from 'vitest';
import { stateFindings } from '../../../src/ledger/domain/findings.ts';
import {
  type Known,
  type Merged,
  mergeObservations,
} from '../../../src/ledger/domain/mergeObservations.ts';
import type { Observation, SnapshotContent } from '../../../src/ledger/domain/snapshot.ts';
import { observe, SECOND, T0 } from '../../support/observations.ts';

const usd = { amountMinor: 100, currency: 'USD' } as const;
const PAID = { ...usd, status: 'succeeded', amountReceivedMinor: 100, versionMicros: T0 };
const TAKEN_BACK = {
  ...usd,
  status: 'cancelled',
  amountReceivedMinor: 0,
  versionMicros: T0 + SECOND,
};

function retrieve(content: SnapshotContent, seconds: number): Observation {
  return observe(content, { source: 'retrieve', observedMicros: T0 + seconds * SECOND });
}

function run(observations: readonly Observation[]): {
  readonly last: Merged;
  readonly known: Known;
} {
  let known: Known = { snapshots: [], epochs: [], contradiction: undefined };
  let last: Merged | undefined;
  for (const one of observations) {
    last = mergeObservations(known, [one]);
    known = {
      snapshots: [...known.snapshots, ...last.added],
      epochs: [...known.epochs, ...last.openedEpochs],
      contradiction: last.contradiction,
    };
  }
  if (!last) throw new Error('nothing was merged');
  return { last, known };
}

test('E1: a webhook with a smaller amount reverses no money, and a retrieve is due', () => {
  const { last } = run([observe(PAID), observe(TAKEN_BACK)]);
  expect(last.state).toMatchObject({ epoch: 0, capturedMinor: 100 });
  expect(last.state?.uncertainties).toEqual(['conflicting_amounts']);
  expect(last).toMatchObject({ isCheckDue: true, contradiction: undefined });
});

test('E2: a newer retrieve with a smaller amount is remembered, and another retrieve is due', () => {
  const { last } = run([observe(PAID), retrieve(TAKEN_BACK, 10)]);
  expect(last).toMatchObject({
    isCheckDue: true,
    contradiction: { observedMicros: T0 + 10 * SECOND },
  });
  expect(last.state?.capturedMinor).toBe(100);
});

test('E3: two consistent retrieves within a minute are not enough', () => {
  const { last } = run([observe(PAID), retrieve(TAKEN_BACK, 10), retrieve(TAKEN_BACK, 69)]);
  expect(last.openedEpochs).toEqual([]);
  expect(last.state?.capturedMinor).toBe(100);
});

test('E3: two consistent retrieves a minute apart open a new epoch with their state', () => {
  const { last } = run([observe(PAID), retrieve(TAKEN_BACK, 10), retrieve(TAKEN_BACK, 70)]);
  expect(last.openedEpochs).toEqual([{ epoch: 1, floorMicros: T0 + SECOND }]);
  expect(last).toMatchObject({ contradiction: undefined, isCheckDue: false });
  expect(last.state).toMatchObject({ epoch: 1, status: 'cancelled', capturedMinor: 0 });
});

test('E3: a retrieve in between does not restart the minute', () => {
  const early = [10, 30, 50, 69].map((seconds) => retrieve(TAKEN_BACK, seconds));
  expect(run([observe(PAID), ...early]).last.openedEpochs).toEqual([]);
  const { last } = run([observe(PAID), ...early, retrieve(TAKEN_BACK, 70)]);
  expect(last.state).toMatchObject({ epoch: 1, status: TAKEN_BACK.status, capturedMinor: 0 });
});

// The retrieve has the version of the known state, so its version does not make it the head.
const UNDATED_PAID = { ...usd, status: 'succeeded', amountReceivedMinor: 100 };

test.each<[string, SnapshotContent, SnapshotContent]>([
  ['status', { status: 'cancelled' }, { status: 'expired' }],
  ['amount', { amountMinor: 90 }, { amountMinor: 80 }],
  ['currency', { currency: 'EUR' }, { currency: 'JPY' }],
  ['captured amount', { amountReceivedMinor: 60 }, { amountReceivedMinor: 50 }],
])('E2, E3: another %s contradicts, and only the same one confirms it', (_what, one, other) => {
  const content = { ...UNDATED_PAID, ...one };
  const otherContent = { ...UNDATED_PAID, ...other };
  const first = run([observe(PAID), retrieve(content, 10)]);
  expect(first.last.contradiction?.terms).toMatchObject(one);
  expect(first.last.isCheckDue).toBe(true);

  const disagreeing = run([observe(PAID), retrieve(content, 10), retrieve(otherContent, 80)]);
  expect(disagreeing.last.openedEpochs).toEqual([]);
  expect(disagreeing.last.contradiction?.terms).toMatchObject(other);

  const confirmed = run([observe(PAID), retrieve(content, 10), retrieve(content, 80)]);
  expect(confirmed.last.openedEpochs).toMatchObject([{ epoch: 1 }]);
  expect(confirmed.last.state).toMatchObject({ epoch: 1, ...(one.status && one) });
});

test('E2, E3: another dispute stage contradicts, and only the same one confirms it', () => {
  const at = (stage: string, seconds?: number) => {
    const content = { ...usd, status: 'opened', stage };
    const dated = { ...content, versionMicros: T0 };
    return seconds === undefined
      ? observe(dated, { kind: 'dispute' })
      : observe(content, {
          kind: 'dispute',
          source: 'retrieve',
          observedMicros: T0 + seconds * SECOND,
        });
  };
  const reversed = at('arbitration');
  expect(run([reversed, at('dispute', 10)]).last.contradiction?.terms.stage).toBe('dispute');
  const disagreeing = run([reversed, at('dispute', 10), at('pre_arbitration', 80)]);
  expect(disagreeing.last.openedEpochs).toEqual([]);
  const confirmed = run([reversed, at('dispute', 10), at('dispute', 80)]);
  expect(confirmed.last.state).toMatchObject({ epoch: 1, stage: 'dispute' });
});

test.each([
  ['payment', 'orderId', ['ord_1', 'ord_2']],
  ['payment', 'orderId', ['ord_2', 'ord_1']],
  ['refund', 'paymentId', ['pay_1', 'pay_2']],
  ['refund', 'paymentId', ['pay_2', 'pay_1']],
] as const)(
  'E2, E3: of one version, a %s belongs to the %s that retrieves name',
  (kind, field, [named, other]) => {
    const dated = { ...usd, status: 'succeeded', versionMicros: T0 };
    const event = observe({ ...dated, [field]: named }, { kind });
    const content = { ...dated, [field]: other };
    const both = [10, 70].map((seconds) =>
      observe(content, { kind, source: 'retrieve', observedMicros: T0 + seconds * SECOND }),
    );
    const { last } = run([event, ...both]);
    expect(last.state).toMatchObject({ [field]: other });
    expect(last).toMatchObject({ contradiction: undefined });
    const [first] = both;
    const before = run([event, ...(first ? [first] : [])]).last;
    expect(stateFindings({ kind, id: 'one' }, before).map((one) => one.class)).not.toContain(
      'amount',
    );
  },
);

test('E3: two retrieves that contradict each other start over', () => {
  const other = { ...TAKEN_BACK, status: 'expired', versionMicros: T0 + 2 * SECOND };
  const { last } = run([observe(PAID), retrieve(TAKEN_BACK, 10), retrieve(other, 80)]);
  expect(last.openedEpochs).toEqual([]);
  expect(last.contradiction).toMatchObject({ terms: { status: 'expired' } });
});

test('E3: a retrieve that agrees with the ledger again discards the contradiction', () => {
  const again = { ...PAID, versionMicros: T0 + 2 * SECOND };
  const { last } = run([observe(PAID), retrieve(TAKEN_BACK, 10), retrieve(again, 20)]);
  expect(last.contradiction).toBeUndefined();
  expect(last.state).toMatchObject({ status: 'succeeded', capturedMinor: 100 });
});

const OLDER = { ...usd, status: 'failed', amountReceivedMinor: 0, versionMicros: T0 - 2 * SECOND };
const HOUR_SECONDS = 3_600;

test('E4: a retrieve with an older version contradicts nothing while a replica may lag', () => {
  const retrieves = [10, 100, HOUR_SECONDS - 1].map((seconds) => retrieve(OLDER, seconds));
  const { last } = run([observe(PAID), ...retrieves]);
  expect(last).toMatchObject({ contradiction: undefined, isCheckDue: false });
  expect(last.state).toMatchObject({ epoch: 0, status: 'succeeded', capturedMinor: 100 });
});

test('E4: a retrieve that may lag leaves a contradiction to be confirmed', () => {
  const { last } = run([observe(PAID), retrieve(TAKEN_BACK, 10), retrieve(OLDER, 70)]);
  expect(last).toMatchObject({
    isCheckDue: true,
    contradiction: { terms: { status: 'cancelled' }, observedMicros: T0 + 10 * SECOND },
  });
});

test('E4: after that, the last change counts, although its version is older', () => {
  const first = run([observe(PAID), retrieve(OLDER, HOUR_SECONDS)]);
  expect(first.last).toMatchObject({
    isCheckDue: true,
    contradiction: { terms: { status: 'failed' } },
  });
  const both = [retrieve(OLDER, HOUR_SECONDS), retrieve(OLDER, HOUR_SECONDS + 60)];
  const { last } = run([observe(PAID), ...both, observe({ ...PAID, errorCode: 'arrived late' })]);
  expect(last.state).toMatchObject({ epoch: 1, status: 'failed', capturedMinor: 0 });
});

test('E4: it also counts where it only completes what the ledger has', () => {
  const capturable = 'partially_captured_and_capturable';
  const events = [
    observe({ ...usd, status: 'failed', amountReceivedMinor: 0, versionMicros: T0 + 1 }),
    observe({ ...usd, status: capturable, amountReceivedMinor: 60, versionMicros: T0 + 2 }),
    observe({ ...usd, status: 'partially_captured', versionMicros: T0 + 3 }),
  ];
  const complete = {
    ...usd,
    status: 'partially_captured',
    amountReceivedMinor: 60,
    versionMicros: T0,
  };
  const after = (...seconds: readonly number[]) =>
    run([...events, ...seconds.map((late) => retrieve(complete, HOUR_SECONDS + late))]).last;
  expect(after(3).state).toMatchObject({ epoch: 0, posts: false });
  expect(after(3, 63).state).toMatchObject({
    epoch: 1,
    capturedMinor: 60,
    posts: true,
    uncertainties: [],
  });
  expect(after(3, 63, 200, 300)).toMatchObject({ openedEpochs: [], isCheckDue: false });
});

test('E5: an old webhook that arrives after the epoch does not restore the money', () => {
  const late = { ...PAID, errorCode: 'arrived late', versionMicros: T0 + 1 };
  const { last } = run([
    observe(PAID),
    retrieve(TAKEN_BACK, 10),
    retrieve(TAKEN_BACK, 70),
    observe(late),
  ]);
  expect(last.state).toMatchObject({ epoch: 1, status: 'cancelled', capturedMinor: 0 });
});

test('E5: a webhook at or above the floor belongs to the epoch, whether it arrived before or after it', () => {
  const paidAgain = { ...PAID, versionMicros: T0 + 5 * SECOND };
  const opening = [observe(PAID), retrieve(TAKEN_BACK, 10), retrieve(TAKEN_BACK, 70)];
  const after = run([...opening, observe(paidAgain)]);
  expect(after.last.state).toMatchObject({ epoch: 1, status: 'succeeded', capturedMinor: 100 });
  const undated = observe({ ...usd, status: 'processing' }, { observedMicros: T0 + 5 * SECOND });
  const [paid, ...retrieves] = opening;
  if (!paid) throw new Error('no opening');
  const came = run([paid, undated, ...retrieves]);
  const comes = run([...opening, undated]);
  expect(came.last.state).toEqual(comes.last.state);
});

test('E5: the floor itself belongs to the epoch, and the version just below it does not', () => {
  const opening = [observe(PAID), retrieve(TAKEN_BACK, 10), retrieve(TAKEN_BACK, 70)];
  const floorMicros = run(opening).known.epochs[0]?.floorMicros ?? 0;
  const paidAt = (versionMicros: number) =>
    run([...opening, observe({ ...PAID, errorCode: 'late', versionMicros })]).last.state;
  expect(paidAt(floorMicros - 1)).toMatchObject({ status: TAKEN_BACK.status, capturedMinor: 0 });
  expect(paidAt(floorMicros)).toMatchObject({ epoch: 1, status: 'succeeded', capturedMinor: 100 });
});

test('E5: content that a retrieve contradicts at the same version stays below the epoch forever', () => {
  const sameVersion = { ...TAKEN_BACK, versionMicros: PAID.versionMicros };
  const retrieves = [10, 70, 200, 300].map((seconds) => retrieve(sameVersion, seconds));
  const { last, known } = run([observe(PAID), ...retrieves]);
  expect(known.epochs).toEqual([{ epoch: 1, floorMicros: T0 + 1 }]);
  expect(last).toMatchObject({ contradiction: undefined, isCheckDue: false });
  expect(last.state).toMatchObject({ epoch: 1, status: 'cancelled', capturedMinor: 0 });
  const again = run([observe(PAID), ...retrieves, observe({ ...PAID, errorCode: 'arrived late' })]);
  expect(again.last.state).toMatchObject({ status: 'cancelled', capturedMinor: 0 });
});

test('E5: a webhook without a version from before the retrieve that contradicts it stays below the epoch forever', () => {
  const undated = observe(
    { ...usd, status: 'succeeded', amountReceivedMinor: 100 },
    { observedMicros: T0 + 5 * SECOND },
  );
  const corrected = { ...PAID, status: 'partially_captured', amountReceivedMinor: 60 };
  const retrieves = [10, 70, 200, 300].map((seconds) => retrieve(corrected, seconds));
  const { last, known } = run([undated, ...retrieves]);
  expect(known.epochs).toEqual([{ epoch: 1, floorMicros: T0 + 5 * SECOND + 1 }]);
  expect(last).toMatchObject({ contradiction: undefined, isCheckDue: false });
  expect(last.state).toMatchObject({ status: 'partially_captured', capturedMinor: 60 });
});

test('E5: what a body without a version shows after the retrieve, or shows like it, does not raise the floor', () => {
  const later = observe(
    { ...usd, status: 'succeeded', amountReceivedMinor: 100 },
    { observedMicros: T0 + 71 * SECOND },
  );
  const { versionMicros: _none, ...same } = TAKEN_BACK;
  const alike = observe(same, { observedMicros: T0 + 60 * SECOND });
  const before = [observe(PAID), retrieve(TAKEN_BACK, 10), later, alike];
  const { known } = run([...before, retrieve(TAKEN_BACK, 70)]);
  expect(known.epochs).toEqual([{ epoch: 1, floorMicros: T0 + SECOND }]);
});

test('a list row of five fields posts nothing and makes a retrieve due', () => {
  const row = observe({ ...usd, status: 'succeeded' }, { source: 'list' });
  const { last } = run([row]);
  expect(last).toMatchObject({ state: undefined, added: [], isCheckDue: true });
});

test('a list row with money and a version is a snapshot like any other', () => {
  const { last } = run([observe(PAID, { source: 'list' })]);
  expect(last.state).toMatchObject({ status: 'succeeded', capturedMinor: 100 });
});
