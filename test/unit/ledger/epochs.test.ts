/** Tests cite the invariants at the head of src/ledger/domain/epochs.ts as E1, E2 … */
import { expect, test } from 'vitest';
import {
  type Contradiction,
  compareRetrieve,
  epochFor,
  isOwnerContradicted,
  placeInEpochs,
} from '../../../src/ledger/domain/epochs.ts';
import { stateFindings } from '../../../src/ledger/domain/findings.ts';
import { foldSnapshots, type ResourceState } from '../../../src/ledger/domain/merge.ts';
import {
  type Known,
  type Merged,
  mergeObservations,
} from '../../../src/ledger/domain/mergeObservations.ts';
import type {
  Observation,
  Snapshot,
  SnapshotContent,
} from '../../../src/ledger/domain/snapshot.ts';
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

const HELD = {
  ...usd,
  status: 'requires_capture',
  amountReceivedMinor: 0,
  captureMethod: 'manual',
};

test('E2, E3: of a hold of which the service released a part, the rest can be captured after two retrieves', () => {
  const whole = { ...HELD, amountCapturableMinor: 100, versionMicros: T0 };
  const rest = { ...HELD, amountCapturableMinor: 70, versionMicros: T0 + SECOND };
  const first = run([observe(whole), retrieve(rest, 10)]).last;
  expect(first).toMatchObject({
    isCheckDue: true,
    contradiction: { terms: { amountCapturableMinor: 70 } },
  });
  const { last } = run([observe(whole), retrieve(rest, 10), retrieve(rest, 70)]);
  expect(last.openedEpochs).toMatchObject([{ epoch: 1 }]);
  expect(last.state).toMatchObject({ authorizedMinor: 70, capturedMinor: 0 });
});

test.each<[string, SnapshotContent]>([
  ['nothing that can be captured', { amountCapturableMinor: 0 }],
  ['what is left after a capture', { amountCapturableMinor: 60, amountReceivedMinor: 40 }],
  ['another status', { amountCapturableMinor: 70, status: 'processing' }],
])('E2: a retrieve that states %s does not reduce a hold', (_what, fields) => {
  const whole = { ...HELD, amountCapturableMinor: 100, versionMicros: T0 };
  const shown = { ...HELD, versionMicros: T0 + SECOND, ...fields };
  const { last } = run([observe(whole), retrieve(shown, 10), retrieve(shown, 70)]);
  expect(last.openedEpochs).toEqual([]);
  expect(last.state?.authorizedMinor).toBe(100);
});

test.each([
  ['partially_captured_and_capturable', 40],
  ['partially_captured_and_capturable', 0],
  ['requires_capture', 40],
])(
  'E2: a %s payment of which %i was captured keeps that, if retrieves show only what is left to capture',
  (status, amountReceivedMinor) => {
    const amountCapturableMinor = 100 - amountReceivedMinor;
    const part = { ...HELD, amountReceivedMinor, amountCapturableMinor, versionMicros: T0 };
    const { amountReceivedMinor: _hidden, ...held } = HELD;
    const shown = { ...held, status, amountCapturableMinor: 30, versionMicros: T0 + SECOND };
    const { last } = run([observe(part), retrieve(shown, 10), retrieve(shown, 70)]);
    expect(last).toMatchObject({ openedEpochs: [], contradiction: undefined });
    expect(last.state).toMatchObject({ authorizedMinor: 100, capturedMinor: amountReceivedMinor });
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

const HOUR = 3_600;

/** Of several bodies of one rank without a version, the hash decides which is the head. */
test.each([
  [931, 928],
  [928, 931],
  [500, 501],
  [501, 500],
])(
  'E6: of %d and %d without a version, a retrieve settles which one counts after an hour',
  (first, amountMinor) => {
    const dispute = { currency: 'EUR', status: 'opened', stage: 'dispute' };
    const kind = 'dispute';
    const opened = observe({ ...dispute, amountMinor: first }, { kind });
    const corrected = (seconds: number) =>
      observe(
        { ...dispute, amountMinor },
        { kind, source: 'retrieve', observedMicros: T0 + seconds * SECOND },
      );
    const early = run([opened, corrected(100)]).last;
    expect(early.state?.uncertainties).toEqual(['conflicting_amounts']);
    const { last } = run([opened, corrected(100), corrected(HOUR), corrected(HOUR + 60)]);
    expect(last.state).toMatchObject({ epoch: 1, amountMinor, posts: true, uncertainties: [] });
    expect(last.isCheckDue).toBe(false);
  },
);

const UNDATED_LOST = { ...usd, status: 'lost', stage: 'dispute' };
const REOPENED = { ...usd, status: 'opened', stage: 'dispute', versionMicros: T0 + SECOND };
const retrieveDispute = (content: SnapshotContent, seconds: number) =>
  observe(content, {
    kind: 'dispute',
    source: 'retrieve',
    observedMicros: T0 + seconds * SECOND,
  });

test('E6: a body without a version that the service has left behind leaves nothing uncertain once no replica lags behind it', () => {
  const lost = observe(UNDATED_LOST, { kind: 'dispute' });
  const before = run([lost, retrieveDispute(REOPENED, 100), retrieveDispute(REOPENED, HOUR - 1)]);
  expect(before.last.state?.uncertainties).toEqual(['unversioned_ahead']);
  expect(before.last.openedEpochs).toEqual([]);
  const { last } = run([lost, retrieveDispute(REOPENED, 100), retrieveDispute(REOPENED, HOUR)]);
  expect(last.openedEpochs).toMatchObject([{ epoch: 1 }]);
  expect(last.state).toMatchObject({ status: 'opened', uncertainties: [], statusAhead: undefined });
});

test('E6: a later body without a version is uncertain again, and settled again', () => {
  const lost = observe(UNDATED_LOST, { kind: 'dispute' });
  const again = observe(UNDATED_LOST, {
    kind: 'dispute',
    observedMicros: T0 + (HOUR + 10) * SECOND,
  });
  const settled = [lost, retrieveDispute(REOPENED, HOUR), again];
  expect(run(settled).last.state?.uncertainties).toEqual(['unversioned_ahead']);
  const { last } = run([...settled, retrieveDispute(REOPENED, 2 * HOUR + 10)]);
  expect(last.openedEpochs).toMatchObject([{ epoch: 2 }]);
  expect(last.state?.uncertainties).toEqual([]);
});

test('E6: a retrieve without a captured amount settles what else is uncertain', () => {
  const paid = { ...usd, status: 'succeeded', versionMicros: T0 + SECOND };
  const voided = observe({ ...usd, status: 'cancelled_post_capture' });
  const before = run([voided, retrieve(paid, 100)]).last;
  expect(before.state?.uncertainties).toEqual(['unversioned_ahead', 'provisional_amount']);
  const both = [voided, retrieve(paid, 100), retrieve(paid, HOUR), retrieve(paid, HOUR + 100)];
  const { last, known } = run(both);
  expect(last.state).toMatchObject({ capturedMinor: 100, uncertainties: ['provisional_amount'] });
  expect(known.epochs).toMatchObject([{ epoch: 1 }]);
});

const PART = 'partially_captured_and_capturable';
const SUCCEEDED = { ...usd, status: 'succeeded' };

test.each<[string, readonly SnapshotContent[], SnapshotContent]>([
  [
    'what was captured',
    [{ ...usd, status: PART, amountReceivedMinor: 40, amountCapturableMinor: 60 }],
    { ...usd, status: PART, amountCapturableMinor: 100 },
  ],
  [
    'what is authorized',
    [{ ...usd, status: 'requires_capture', amountCapturableMinor: 100 }],
    { ...usd, status: PART, amountCapturableMinor: 60 },
  ],
  [
    'the amount of the payment',
    [{ ...SUCCEEDED, amountReceivedMinor: 100 }],
    { status: 'succeeded', amountReceivedMinor: 100 },
  ],
  [
    'that an amount is stated',
    [
      { ...SUCCEEDED, amountReceivedMinor: 100 },
      { ...SUCCEEDED, amountMinor: 90, versionMicros: T0 + SECOND },
    ],
    { ...SUCCEEDED, reason: 'late' },
  ],
])('E6: one without it keeps %s', (_what, known, shown) => {
  const events = [
    observe({ ...usd, status: 'cancelled_post_capture' }),
    ...known.map((content) => observe({ versionMicros: T0, ...content })),
  ];
  const content = { ...shown, versionMicros: T0 + SECOND };
  const before = run([...events, retrieve(content, 100)]).last;
  const { last } = run([...events, retrieve(content, 100), retrieve(content, HOUR)]);
  expect(before.state?.uncertainties).toContain('unversioned_ahead');
  expect(before.contradiction).toBeUndefined();
  expect(last.openedEpochs).toEqual([]);
  expect(last.state).toEqual(before.state);
});

test('E6: a retrieve that is uncertain itself settles nothing', () => {
  const paid = { ...usd, status: 'succeeded', versionMicros: T0 };
  const { last } = run([observe(paid), retrieve({ ...paid, reason: 'of the response' }, HOUR)]);
  expect(last.openedEpochs).toEqual([]);
  expect(last.state?.uncertainties).toEqual(['provisional_amount']);
});

test('E6: a retrieve that agrees with a certain state opens no epoch', () => {
  const { last } = run([observe(PAID), retrieve({ ...PAID, reason: 'of the response' }, HOUR)]);
  expect(last.openedEpochs).toEqual([]);
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

test('E5: what a body without a version shows after the retrieve, or shows like it with more or fewer fields, does not raise the floor', () => {
  const later = observe(
    { ...usd, status: 'succeeded', amountReceivedMinor: 100 },
    { observedMicros: T0 + 71 * SECOND },
  );
  const { versionMicros: _none, ...same } = TAKEN_BACK;
  const alike = observe(same, { observedMicros: T0 + 60 * SECOND });
  const { amountReceivedMinor: _captured, ...fewer } = same;
  const others = [fewer, { ...same, orderId: 'ord_1' }].map((content) =>
    observe(content, { observedMicros: T0 + 60 * SECOND }),
  );
  const before = [observe(PAID), retrieve(TAKEN_BACK, 10), later, alike, ...others];
  const { known } = run([...before, retrieve(TAKEN_BACK, 70)]);
  expect(known.epochs).toEqual([{ epoch: 1, floorMicros: T0 + SECOND }]);
});

test('E5: a webhook received after the retrieve stays below the epoch if it carries the contradicted version', () => {
  const sameVersion = { ...TAKEN_BACK, versionMicros: PAID.versionMicros };
  const late = observe(PAID, { observedMicros: T0 + 90 * SECOND });
  const { last } = run([late, retrieve(sameVersion, 10), retrieve(sameVersion, 70)]);
  expect(last.openedEpochs).toEqual([{ epoch: 1, floorMicros: T0 + 1 }]);
});

test('E5: a webhook without a version that is received with the retrieve stays below the epoch', () => {
  const undated = observe(UNDATED_PAID, { observedMicros: T0 + 70 * SECOND });
  const corrected = { ...PAID, status: 'partially_captured', amountReceivedMinor: 60 };
  const { last } = run([undated, retrieve(corrected, 10), retrieve(corrected, 70)]);
  expect(last.openedEpochs).toEqual([{ epoch: 1, floorMicros: T0 + 70 * SECOND + 1 }]);
});

test('E5: a webhook belongs to the newest epoch of its time, in any order of the stored epochs', () => {
  const epochs = [1, 2].map((epoch) => ({ epoch, floorMicros: T0 + epoch }));
  for (const stored of [epochs, epochs.toReversed()]) {
    const placed = [0, 1, 2, 3].map((micros) =>
      epochFor({ content: {}, observedMicros: T0 + micros }, stored),
    );
    expect(placed).toEqual([0, 1, 2, 2]);
  }
});

test('snapshots of a resource without epochs are not copied', () => {
  const snapshots = [snapshotOf(PAID)];
  expect(placeInEpochs(snapshots, [])).toBe(snapshots);
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

/** A retrieve in epoch 0, ten seconds after T0. */
function snapshotOf(content: SnapshotContent, seconds = 10): Snapshot {
  return { ...retrieve(content, seconds), epoch: 0 };
}

function compared(
  state: SnapshotContent,
  content: SnapshotContent,
  earlier?: Contradiction,
): ReturnType<typeof compareRetrieve> {
  const known = [snapshotOf(state)];
  return compareRetrieve(snapshotOf(content, 20), foldSnapshots(known), earlier, known);
}

const OWNED = { ...PAID, stage: 'dispute', paymentId: 'pay_1', orderId: 'ord_1' };

test.each(['status', 'stage', 'amountMinor', 'currency', 'paymentId', 'orderId'] as const)(
  'E2: a retrieve that does not carry the field %s does not contradict it',
  (field) => {
    const { [field]: _missing, ...content } = OWNED;
    expect(compared(OWNED, content)).toEqual({ outcome: 'agrees' });
  },
);

test.each(['paymentId', 'orderId'] as const)(
  'E3: a retrieve that names another %s than the one before starts over',
  (field) => {
    const terms = (value: string) => ({ ...UNDATED_PAID, [field]: value });
    const state = { ...OWNED, [field]: 'first' };
    const earlier = { terms: terms('second'), observedMicros: T0 - 60 * SECOND };
    expect(compared(state, { ...terms('third'), versionMicros: T0 }, earlier)).toEqual({
      outcome: 'contradicts',
      contradiction: { terms: terms('third'), observedMicros: T0 + 20 * SECOND },
    });
    expect(compared(state, { ...terms('second'), versionMicros: T0 }, earlier)).toMatchObject({
      outcome: 'opens_epoch',
    });
  },
);

test('E3: within the minute, the first of two consistent retrieves is kept', () => {
  const terms = { ...UNDATED_PAID, amountMinor: 90 };
  const earlier = { terms, observedMicros: T0 };
  expect(compared(PAID, { ...terms, versionMicros: T0 }, earlier)).toEqual({
    outcome: 'contradicts',
    contradiction: earlier,
  });
});

test('E4: a retrieve with an older version neither contradicts nor agrees, although its terms are equal', () => {
  expect(compared(PAID, { ...PAID, versionMicros: T0 - 1 })).toEqual({ outcome: 'lags' });
});

test('E4: after an hour, an older version with the terms of a complete state agrees', () => {
  const late = retrieve({ ...PAID, versionMicros: T0 - 1 }, HOUR_SECONDS);
  expect(run([observe(PAID), late]).last).toMatchObject({
    contradiction: undefined,
    isCheckDue: false,
  });
});

test.each([0, 1])(
  'E4: a retrieve that is %s microseconds newer than an incomplete state agrees with equal terms',
  (micros) => {
    const unknown = { ...PAID, status: 'unknown' };
    expect(compared(unknown, { ...unknown, versionMicros: T0 + micros })).toEqual({
      outcome: 'agrees',
    });
  },
);

test('a retrieve contradicts the owner alone if all of its money is equal', () => {
  const state: ResourceState = foldSnapshots([snapshotOf(OWNED)]);
  const is = (terms: Contradiction['terms']) =>
    isOwnerContradicted({ terms, observedMicros: T0 }, state);
  expect(is({ amountMinor: 100, orderId: 'ord_2' })).toBe(true);
  expect(is({ amountMinor: 90, orderId: 'ord_2' })).toBe(false);
  expect(is({ amountMinor: 100, orderId: 'ord_1' })).toBe(false);
});
