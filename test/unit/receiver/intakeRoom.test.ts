/** Whether the receiver holds another verified event. */
import { expect, test } from 'vitest';
import { hasRoom, MAX_HELD_EVENTS, MAX_HELD_MS } from '../../../src/receiver/domain/intakeRoom.ts';

const MIB = 1024 * 1024;
const NONE = { events: 0, bytes: 0, oldestMs: 0 };

test('the last event that fits makes the number of held events complete (rule 1)', () => {
  expect(hasRoom({ ...NONE, events: MAX_HELD_EVENTS - 1 }, 1)).toBe(true);
  expect(hasRoom({ ...NONE, events: MAX_HELD_EVENTS }, 1)).toBe(false);
});

test('held events have 64 MiB at most, with the one that is added (rule 1)', () => {
  expect(hasRoom({ ...NONE, bytes: 63 * MIB }, MIB)).toBe(true);
  expect(hasRoom({ ...NONE, bytes: 63 * MIB }, MIB + 1)).toBe(false);
});

test('there is no room while the oldest event has waited for as long as it may (rule 4)', () => {
  expect(hasRoom({ ...NONE, oldestMs: MAX_HELD_MS - 1 }, 1)).toBe(true);
  expect(hasRoom({ ...NONE, oldestMs: MAX_HELD_MS }, 1)).toBe(false);
});
