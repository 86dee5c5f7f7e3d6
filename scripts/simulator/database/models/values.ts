/** Conversions between parameters, rows and results. */
import type { Json } from '../tables.ts';

/** A time of a parameter, in milliseconds; null stays null. */
export function toMs(value: unknown): number | null {
  if (value === null || value === undefined) return null;
  return value instanceof Date ? value.getTime() : Date.parse(String(value));
}

export function requiredMs(value: unknown): number {
  const ms = toMs(value);
  if (ms === null || Number.isNaN(ms)) throw new Error(`${String(value)} is no time`);
  return ms;
}

export function toDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

/** An array literal of names, as `{a,b}`. */
export function names(literal: unknown): readonly string[] {
  const text = String(literal).slice(1, -1);
  return text === '' ? [] : text.split(',');
}

export function json(text: unknown): Json {
  return JSON.parse(String(text)) as Json;
}

/** Equal as `jsonb`: the order of the fields does not count. */
export function isSameJson(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

/** In the order of text with the collation C. */
export function byText<R>(...fields: ((row: R) => string)[]): (a: R, b: R) => number {
  return (a, b) => {
    for (const field of fields) {
      const [x, y] = [field(a), field(b)];
      if (x !== y) return x < y ? -1 : 1;
    }
    return 0;
  };
}

export function byNumber<R>(...fields: ((row: R) => number)[]): (a: R, b: R) => number {
  return (a, b) => {
    for (const field of fields) {
      const difference = field(a) - field(b);
      if (difference !== 0) return difference;
    }
    return 0;
  };
}

export const numbers = (value: unknown): readonly number[] => value as readonly number[];
export const texts = (value: unknown): readonly string[] => value as readonly string[];

export const MINUTE_MS = 60_000;
