/** What people see of a schedule. */
import { expect, test } from 'vitest';
import { type Known, stateOf } from '../../../src/scheduler/domain/state.ts';
import { plannedSchedules, TIMETABLE } from '../../../src/scheduler/domain/timetable.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12, 30);
const ago = (seconds: number) => new Date(NOW_MS - seconds * 1000);
const RETENTION = { name: 'retention', ...TIMETABLE.retention };

const run = (secondsAgo: number, changes: Partial<NonNullable<Known['run']>> = {}) => ({
  schedule: 'retention',
  at: ago(secondsAgo),
  claimedAt: ago(secondsAgo),
  finishedAt: ago(secondsAgo - 2),
  error: null,
  isHeld: false,
  ...changes,
});

const unfinished = { finishedAt: null };

interface Case {
  readonly name: string;
  /** How long ago its last slot was due. */
  readonly due: number;
  readonly latest: Known['run'];
  readonly result: string;
  readonly isOverdue: boolean;
}

const [isOverdue, notOverdue] = [{ isOverdue: true }, { isOverdue: false }];
const held = { ...unfinished, isHeld: true };

test.each<Case>([
  { name: 'was run', due: 420, latest: run(420), result: 'done', ...notOverdue },
  { name: 'failed', due: 420, latest: run(420, { error: 'no' }), result: 'failed', ...notOverdue },
  { name: 'is running', due: 420, latest: run(420, held), result: 'running', ...notOverdue },
  {
    name: 'lost its process',
    due: 420,
    latest: run(420, unfinished),
    result: 'interrupted',
    ...isOverdue,
  },
  { name: 'is due for two minutes', due: 120, latest: run(3720), result: 'done', ...notOverdue },
  { name: 'is due for longer', due: 121, latest: run(3721), result: 'done', ...isOverdue },
  {
    name: 'still runs the slot before',
    due: 121,
    latest: run(3721, held),
    result: 'running',
    ...notOverdue,
  },
  { name: 'was run on request', due: 420, latest: run(10), result: 'done', ...notOverdue },
  { name: 'never ran', due: 420, latest: undefined, result: 'never', ...isOverdue },
])('a schedule that $name', ({ due, latest, result, ...expected }) => {
  const lastSlotMs = ago(due).getTime();
  const known = { nowMs: NOW_MS, lastSlotMs, nextSlotMs: NOW_MS + 1, run: latest };
  const state = stateOf(RETENTION, { ...known, request: undefined });
  expect(state).toMatchObject({ result, isOverdue: expected.isOverdue });
});

test('the schedules follow from the settings', () => {
  const names = (isReconciling: boolean, summaryHour?: number) =>
    plannedSchedules({ isReconciling, summaryHour }).map(({ name }) => name);
  expect(names(true, 7)).toContain('summary');
  expect(names(true)).toContain('reconcile_tail');
  expect(names(false)).not.toContain('reconcile_tail');
  expect(names(false)).not.toContain('summary');
});
