/** When a standby may be read: invariants 1 to 3 of src/platform/db/reads.ts. */
import { describe, expect, test } from 'vitest';
import { judgeStandby } from '../../../src/doctor/domain/judgeStandby.ts';
import {
  createProof,
  type LogPosition,
  MAX_AGE_MS,
  problemOf,
} from '../../../src/platform/db/reads.ts';

const at = (position: number | null, fields: Partial<LogPosition> = {}): LogPosition => ({
  system: '7',
  timeline: '1',
  position,
  ...fields,
});

describe('a standby', () => {
  test('is as old as the newest position of the primary that it has replayed', () => {
    const proof = createProof();
    proof.add(1_000, at(100), at(100));
    expect(proof.ageMs(1_000)).toBe(0);
    proof.add(2_000, at(200), at(150));
    expect(proof.ageMs(2_000)).toBe(1_000);
    proof.add(3_000, at(300), at(250));
    expect(proof.ageMs(3_500)).toBe(1_500);
  });

  test('is not used when it is more than ten seconds behind, and is again when it caught up', () => {
    const proof = createProof();
    proof.add(0, at(100), at(100));
    for (let ms = 1_000; ms <= 12_000; ms += 1_000) proof.add(ms, at(100 + ms), at(100));
    expect(proof.ageMs(MAX_AGE_MS)).toBe(MAX_AGE_MS);
    expect(proof.ageMs(MAX_AGE_MS + 1)).toBeUndefined();
    proof.add(13_000, at(20_000), at(12_100));
    expect(proof.ageMs(13_000)).toBe(1_000);
  });

  test('is not used after a write until it has it', () => {
    const proof = createProof();
    proof.add(1_000, at(100), at(100));
    proof.require(1_500);
    expect(proof.ageMs(1_500)).toBeUndefined();
    proof.add(2_000, at(200), at(150));
    expect(proof.ageMs(2_000)).toBeUndefined();
    proof.add(3_000, at(300), at(200));
    expect(proof.ageMs(3_000)).toBe(1_000);
  });

  test.each([
    ['is no standby', at(null)],
    ['is a standby of another cluster', at(100, { system: '8' })],
    ['has not recorded the timeline', at(100, { timeline: '2' })],
  ])('proves nothing if it %s', (reason, standby) => {
    const proof = createProof();
    proof.add(1_000, at(100), at(100));
    expect(proof.add(2_000, at(100), standby)).toContain(reason);
    expect(proof.ageMs(2_000)).toBeUndefined();
    const problem = problemOf(at(100), standby);
    expect(judgeStandby({ problem, behindBytes: 0 })).toMatchObject({ state: 'warning' });
  });

  test('is judged by doctor', () => {
    expect(judgeStandby({ problem: undefined, behindBytes: 1_000 })).toMatchObject({ state: 'ok' });
    expect(judgeStandby({ problem: undefined, behindBytes: 50_000_000 })).toMatchObject({
      state: 'warning',
    });
    expect(judgeStandby(new Error('connection refused'))).toMatchObject({
      state: 'warning',
      result: expect.stringContaining('connection refused'),
    });
  });
});
