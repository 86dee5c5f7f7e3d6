/** When the stage of a dispute began, from which a deadline is assumed where the service gives none. */
import { expect, test } from 'vitest';
import { foldSnapshots } from '../../../src/ledger/domain/merge.ts';
import type { SnapshotContent } from '../../../src/ledger/domain/snapshot.ts';
import { DAY_MS } from '../../../src/platform/time.ts';
import { observe, T0 } from '../../support/observations.ts';

const DAY = DAY_MS * 1000;

/** A body of a dispute, changed on a day; without one, it was observed then and has no version. */
const on = (day: number, fields: SnapshotContent, isDated = true) => ({
  day,
  content: { status: 'opened', ...(isDated && { versionMicros: T0 + day * DAY }), ...fields },
});

test.each<[string, readonly ReturnType<typeof on>[], number]>([
  ['created, at the first stage', [on(3, { createdMicros: T0 + DAY, stage: 'dispute' })], 1],
  ['first changed, without a time of creation', [on(3, {}), on(5, {})], 3],
  [
    'the first body of a later stage, and not the later ones',
    [
      on(1, { stage: 'dispute', status: 'lost', createdMicros: T0 }),
      on(40, { stage: 'pre_arbitration' }),
      on(43, { stage: 'pre_arbitration' }),
    ],
    40,
  ],
  [
    'the first body after an inquiry',
    [on(0, { stage: 'pre_dispute', createdMicros: T0 }), on(30, { stage: 'dispute' })],
    30,
  ],
  [
    'observed first at that stage, by bodies without a version',
    [
      on(1, { stage: 'dispute', status: 'lost', createdMicros: T0 }, false),
      on(40, { stage: 'arbitration' }, false),
    ],
    40,
  ],
  [
    'first seen at that stage, and not by a later body without a version',
    [
      on(1, { stage: 'dispute', status: 'lost', createdMicros: T0 }),
      on(40, { stage: 'arbitration' }),
      on(45, { stage: 'arbitration' }, false),
    ],
    40,
  ],
])('the stage began when it was %s', (_what, bodies, day) => {
  const snapshots = bodies.map(({ content, day: observed }) => ({
    ...observe(content, { kind: 'dispute', observedMicros: T0 + observed * DAY }),
    epoch: 0,
  }));
  for (const order of [snapshots, snapshots.toReversed()]) {
    expect(foldSnapshots(order).stageSinceMicros).toBe(T0 + day * DAY);
  }
});

test('other resources have no stage', () => {
  const paid = observe({ status: 'succeeded' }, { kind: 'payment', observedMicros: T0 });
  expect(foldSnapshots([{ ...paid, epoch: 0 }]).stageSinceMicros).toBeUndefined();
});
