/** Values that several settings have. Each error states what the setting must be. */
import { z } from 'zod';

/** Digits only, because the other number formats of JavaScript are likely mistakes. */
export function wholeNumber(min: number, max: number) {
  const range = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .trim()
    .regex(/^\d+$/, range)
    .transform(Number)
    .pipe(z.int(range).min(min, range).max(max, range));
}

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, `must be one of ${values.join(', ')}`);
}

/** Text that is not empty. */
export function text(maxLength = Number.MAX_SAFE_INTEGER) {
  return z
    .string()
    .min(1, 'must not be empty')
    .max(maxLength, `must have at most ${maxLength} characters`);
}
