/** Reads cron expressions. */
import cron from 'node-cron';
import type { SlotFields } from './domain/slots.ts';

/** @throws TypeError for an expression without a computable last slot (the last day of a month) */
export function fieldsOf({
  name,
  cron: expression,
}: {
  readonly name: string;
  readonly cron: string;
}): SlotFields {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek } = cron.parse(expression);
  const numbers = (values: readonly (number | string)[]): readonly number[] =>
    values.map((value) => {
      if (typeof value === 'number') return value;
      throw new TypeError(`schedule ${name}: ${value} in ${expression} is not a number`);
    });
  return {
    seconds: second,
    minutes: minute,
    hours: hour,
    daysOfMonth: numbers(dayOfMonth),
    months: month,
    daysOfWeek: numbers(dayOfWeek),
  };
}
