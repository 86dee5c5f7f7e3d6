import fc from 'fast-check';
import cron from 'node-cron';
import { expect, test } from 'vitest';
import { lastSlot, nextSlot, type SlotFields } from '../../../src/scheduler/domain/slots.ts';

function fieldsOf(expression: string): SlotFields {
  const fields = cron.parse(expression);
  return {
    seconds: fields.second,
    minutes: fields.minute,
    hours: fields.hour,
    daysOfMonth: fields.dayOfMonth.map(Number),
    months: fields.month,
    daysOfWeek: fields.dayOfWeek.map(Number),
  };
}

const last = (expression: string, now: string): string | undefined => {
  const slotMs = lastSlot(fieldsOf(expression), Date.parse(now));
  return slotMs === undefined ? undefined : new Date(slotMs).toISOString();
};

test('the last slot is now or before, across hours, days, months and leap years (rule 1)', () => {
  const now = '2026-03-01T10:06:59.999Z';
  expect(last('7 * * * *', now)).toBe('2026-03-01T09:07:00.000Z');
  expect(last('6 * * * *', now)).toBe('2026-03-01T10:06:00.000Z');
  expect(last('*/2 * * * * *', now)).toBe('2026-03-01T10:06:58.000Z');
  expect(last('0 3 * * *', now)).toBe('2026-03-01T03:00:00.000Z');
  expect(last('0 11 * * *', now)).toBe('2026-02-28T11:00:00.000Z');
  expect(last('0 3 31 * *', now)).toBe('2026-01-31T03:00:00.000Z');
  expect(last('0 3 * * 0', now)).toBe('2026-03-01T03:00:00.000Z');
  expect(last('0 3 29 2 *', now)).toBe('2024-02-29T03:00:00.000Z');
  const never = { ...fieldsOf('0 3 1 2 *'), daysOfMonth: [30] };
  expect(lastSlot(never, Date.parse(now))).toBeUndefined();
});

const part = (min: number, max: number) =>
  fc.oneof(
    fc.constant('*'),
    fc.integer({ min, max }).map(String),
    fc.integer({ min: 2, max: 7 }).map((step) => `*/${step}`),
  );
const expressions = fc
  .tuple(part(0, 59), part(0, 59), part(0, 23), part(1, 28), part(1, 12), part(0, 6))
  .map((parts) => parts.join(' '));
const instants = fc
  .integer({ min: Date.UTC(2025, 0, 1) / 1000, max: Date.UTC(2035, 0, 1) / 1000 })
  .map((seconds) => seconds * 1000);

test('it agrees with the library: the last slot matches, and no later instant does (rules 1 and 2)', () => {
  fc.assert(
    fc.property(expressions, instants, (expression, nowMs) => {
      const task = cron.createTask(expression, () => undefined, { timezone: 'UTC' });
      const slotMs = lastSlot(fieldsOf(expression), nowMs) ?? Number.NaN;
      expect(slotMs).toBeLessThanOrEqual(nowMs);
      expect(task.match(new Date(slotMs))).toBe(true);
      // After the slot, up to now, nothing matches.
      for (let place = 1; place <= 20; place += 1) {
        const betweenMs = slotMs + Math.ceil(((nowMs - slotMs) / 1000) * (place / 20)) * 1000;
        if (betweenMs > slotMs && betweenMs <= nowMs) {
          expect(task.match(new Date(betweenMs))).toBe(false);
        }
      }
      void task.destroy();
    }),
    { numRuns: 300 },
  );
});

test('a slot is its own last slot', () => {
  fc.assert(
    fc.property(expressions, instants, (expression, nowMs) => {
      const fields = fieldsOf(expression);
      const slotMs = lastSlot(fields, nowMs) ?? Number.NaN;
      expect(lastSlot(fields, slotMs)).toBe(slotMs);
      expect(lastSlot(fields, slotMs - 1)).toBeLessThan(slotMs);
    }),
  );
});

test('between two slots, the next one is the first that is its own last slot (rule 4)', () => {
  fc.assert(
    fc.property(expressions, instants, (expression, nowMs) => {
      const fields = fieldsOf(expression);
      const nextMs = nextSlot(fields, nowMs) ?? Number.NaN;
      expect(nextMs).toBeGreaterThan(nowMs);
      expect(lastSlot(fields, nextMs)).toBe(nextMs);
      expect(lastSlot(fields, nextMs - 1)).toBe(lastSlot(fields, nowMs));
    }),
  );
});
