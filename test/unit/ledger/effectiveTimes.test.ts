/** Tests cite the invariants at the head of src/ledger/domain/effectiveTimes.ts as T1, T2 … */
import { describe, expect, test } from 'vitest';
import type { ResourceKind } from '../../../src/contract/resources/index.ts';
import {
  corrections,
  datesOf,
  movementsOf,
  orderSnapshots,
} from '../../../src/ledger/domain/effectiveTimes.ts';
import type { Snapshot, SnapshotContent } from '../../../src/ledger/domain/snapshot.ts';
import { LIFECYCLES, observe, permutations, SECOND, T0 } from '../../support/observations.ts';

const usd = { amountMinor: 100, currency: 'USD' } as const;
const CREATED = T0 - 3_600 * SECOND;
const created = { createdMicros: CREATED } as const;
const at = (seconds: number) => ({ versionMicros: T0 + seconds * SECOND });

function snapshots(kind: ResourceKind, contents: readonly SnapshotContent[]): readonly Snapshot[] {
  const all = contents.map((content, place) => ({
    ...observe(content, { kind, observedMicros: T0 + place * SECOND }),
    epoch: 0,
  }));
  return orderSnapshots(all, () => true).ascending;
}

/** `leg amount second source`, where the second of creation is -3600. */
function history(kind: ResourceKind, ...contents: readonly SnapshotContent[]): readonly string[] {
  return movementsOf(snapshots(kind, contents)).map(
    ({ leg, movedMinor, effectiveMicros, source }) =>
      `${leg} ${movedMinor} ${(effectiveMicros - T0) / SECOND} ${source}`,
  );
}

test.each(Object.entries(LIFECYCLES))('T1: %s has one history in any order', (_name, lifecycle) => {
  const histories = new Set(
    [...permutations(lifecycle.observations)].map((contents) => {
      const moved = movementsOf(
        orderSnapshots(
          contents.map((content) => ({ ...observe(content, { kind: lifecycle.kind }), epoch: 0 })),
          () => true,
        ).ascending,
      );
      return JSON.stringify(moved);
    }),
  );
  expect(histories.size).toBe(1);
  expect([...histories][0]).not.toBe('[]');
});

describe('T2: a movement has the time of its change', () => {
  const hold = { ...usd, ...created, captureMethod: 'manual' } as const;

  test('each capture of a hold has its own', () => {
    expect(
      history(
        'payment',
        { ...hold, status: 'requires_capture', amountCapturableMinor: 100, ...at(1) },
        {
          ...hold,
          status: 'partially_captured_and_capturable',
          amountReceivedMinor: 30,
          amountCapturableMinor: 70,
          ...at(2),
        },
        {
          ...hold,
          status: 'succeeded',
          amountReceivedMinor: 100,
          amountCapturableMinor: 0,
          ...at(3),
        },
      ),
    ).toEqual([
      'auth_opened 100 1 version',
      'auth_consumed 30 2 version',
      'captured 30 2 version',
      'auth_consumed 70 3 version',
      'captured 70 3 version',
    ]);
  });

  test('without a version, that of the observation', () => {
    expect(history('payment', { ...usd, status: 'succeeded', amountReceivedMinor: 100 })).toEqual([
      'captured 100 0 observed',
    ]);
  });

  test('money that a dispute held and returned was held in between', () => {
    const dispute = { ...usd, ...created, stage: 'dispute', paymentId: 'pay_1' };
    const opened = { ...dispute, status: 'opened', ...at(1) };
    const won = { ...dispute, status: 'won', ...at(9) };
    expect(history('dispute', won, opened)).toEqual(['held 100 1 version', 'held -100 9 version']);
  });
});

describe('T3: what began before the first sight of it began with the object', () => {
  test.each<[string, ResourceKind, SnapshotContent, readonly string[]]>([
    [
      'a refund that succeeded',
      'refund',
      { ...usd, ...created, status: 'succeeded', ...at(5) },
      ['requested 100 -3600 created', 'settled 100 5 version'],
    ],
    [
      'a refund without a time of creation',
      'refund',
      { ...usd, status: 'succeeded', ...at(5) },
      ['requested 100 5 version', 'settled 100 5 version'],
    ],
    [
      'a lost dispute',
      'dispute',
      { ...usd, ...created, status: 'lost', stage: 'dispute', ...at(5) },
      ['held 100 -3600 created', 'written_off 100 5 version'],
    ],
    [
      'a payout that was paid',
      'payout',
      { ...usd, ...created, status: 'success', ...at(5) },
      ['initiated 100 -3600 created', 'delivered 100 5 version'],
    ],
    [
      'a payout under way',
      'payout',
      { ...usd, ...created, status: 'initiated', ...at(5) },
      ['initiated 100 5 version'],
    ],
    ...['failed', 'cancelled', 'expired', 'ineligible'].map(
      (status): [string, ResourceKind, SnapshotContent, readonly string[]] => [
        `but a payout that is ${status}, which may never have been under way`,
        'payout',
        { ...usd, ...created, status, ...at(5) },
        ['initiated 100 5 version', 'returned 100 5 version'],
      ],
    ),
    [
      'a voided capture',
      'payment',
      {
        ...usd,
        ...created,
        status: 'cancelled_post_capture',
        amountReceivedMinor: 100,
        captureMethod: 'automatic',
        ...at(5),
      },
      ['captured 100 -3600 created', 'capture_voided 100 5 version'],
    ],
  ])('%s', (_name, kind, content, expected) => {
    expect(history(kind, content)).toEqual(expected);
  });

  test('a payout that was seen under way began then, however it ended', () => {
    const payout = { ...usd, ...created };
    expect(
      history(
        'payout',
        { ...payout, status: 'initiated', ...at(5) },
        { ...payout, status: 'failed', ...at(9) },
      ),
    ).toEqual(['initiated 100 5 version', 'returned 100 9 version']);
  });

  test('or with the snapshot below', () => {
    const dispute = { ...usd, ...created, paymentId: 'pay_1' };
    expect(
      history(
        'dispute',
        { ...dispute, stage: 'pre_dispute', status: 'opened', ...at(1) },
        { ...dispute, stage: 'dispute', status: 'lost', ...at(9) },
      ),
    ).toEqual(['held 100 1 previous', 'written_off 100 9 version']);
  });
});

describe('T4: corrections', () => {
  const moved = (movedMinor: number, second: number) => ({
    currency: 'USD',
    leg: 'captured',
    movedMinor,
    effectiveMicros: T0 + second * SECOND,
    source: 'version' as const,
    headHash: 'new',
  });
  const posted = (movedMinor: number, second: number) => ({
    ...moved(0, second),
    movedMinor: BigInt(movedMinor),
  });

  test('take back a movement and post it again with its own time', () => {
    expect(corrections([moved(30, 2), moved(70, 3)], [posted(100, 3)], 'head')).toEqual([
      moved(-30, 3),
      moved(30, 2),
    ]);
  });

  test('first add where a total would become negative', () => {
    const history = [moved(100, 1), moved(-100, 3)];
    expect(corrections(history, [posted(100, 2), posted(-100, 3)], 'head')).toEqual([
      moved(100, 1),
      { ...moved(-100, 2), source: 'observed', headHash: 'head' },
    ]);
  });

  test('take back what has no time in the history', () => {
    expect(corrections([moved(100, 2)], [posted(100, 3)], 'head')).toEqual([
      { ...moved(-100, 3), source: 'observed', headHash: 'head' },
      moved(100, 2),
    ]);
  });

  test('are none if the journal has the history', () => {
    const history = [moved(30, 2), moved(70, 3), moved(-70, 3), moved(70, 3)];
    expect(corrections(history, [posted(30, 2), posted(70, 3)], 'head')).toEqual([]);
  });

  test('with amounts near the greatest safe integer, no total exceeds it', () => {
    const whole = Number.MAX_SAFE_INTEGER;
    const half = (whole + 1) / 2;
    const moves = corrections([moved(whole, 2), moved(half - whole, 3)], [posted(half, 3)], 'head');
    const totals = [half];
    for (const { movedMinor } of moves) totals.push((totals.at(-1) ?? 0) + movedMinor);
    expect(totals).toEqual([half, 0, whole, half]);
  });

  test('transfers of an earlier version have the times of the movements of their leg', () => {
    const undated = (id: number, leg = 'captured') => ({
      id,
      leg,
      currency: 'USD',
      recordedMicros: T0 + 99 * SECOND,
    });
    const times = datesOf(
      [undated(1), undated(2), undated(3), undated(4, 'capture_voided')],
      [moved(30, 2), moved(70, 3)],
    );
    expect(times.map(({ effectiveMicros, source }) => [effectiveMicros, source])).toEqual([
      [T0 + 2 * SECOND, 'version'],
      [T0 + 3 * SECOND, 'version'],
      [T0 + 3 * SECOND, 'version'],
      [T0 + 99 * SECOND, 'observed'],
    ]);
  });
});

test('T5: a snapshot with an unknown status moves nothing, and later ones go on from before it', () => {
  expect(
    history(
      'payment',
      { ...usd, status: 'succeeded', amountReceivedMinor: 40, ...at(1) },
      { ...usd, status: 'something_new', amountReceivedMinor: 90, ...at(2) },
      { ...usd, status: 'succeeded', amountReceivedMinor: 100, ...at(3) },
    ),
  ).toEqual(['captured 40 1 version', 'captured 60 3 version']);
});
