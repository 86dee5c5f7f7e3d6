/** The detail of a finding or an alert as JSON, with the field names of the API. */
import { fieldName } from './fieldName.ts';

type Detail = Readonly<Record<string, unknown>>;

/** A field of ours; keys such as currencies are kept. */
const CAMEL_CASE = /^[a-z]+(?:[A-Z][a-z0-9]*)+$/;

/** @param detail stored JSON: objects, arrays and plain values */
export function detailJson(detail: Detail): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(detail).map(([key, value]) => [
      CAMEL_CASE.test(key) ? fieldName(key) : key,
      detailValueJson(value),
    ]),
  );
}

/** The same for a detail of unknown form. */
export function detailValueJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(detailValueJson);
  return typeof value === 'object' && value !== null ? detailJson(value as Detail) : value;
}
