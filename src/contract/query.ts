/**
 * Converts query parameters, which are text, to and from the numbers, booleans and lists of request
 * schemas. Both directions are here so that they stay consistent: list values are separated by
 * commas. service-interface.md §4.
 */
import type { z } from 'zod';

/** Encodes values as a query string; undefined values are left out. */
export function writeQuery(values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    query.set(name, Array.isArray(value) ? value.join(',') : String(value));
  }
  return query.toString();
}

/**
 * Decodes values for `schema` without validating them: text that is not a number stays text, and a
 * repeated parameter becomes a list, for the schema to reject.
 */
export function readQuery(schema: z.ZodObject, query: URLSearchParams): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name of new Set(query.keys())) {
    const sent = query.getAll(name);
    const field = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
    Object.defineProperty(values, name, {
      value: sent.length === 1 ? readValue(field, sent[0] ?? '') : sent,
      enumerable: true,
    });
  }
  return values;
}

function readValue(field: z.core.$ZodType | undefined, text: string): unknown {
  switch (kindOf(field)) {
    case 'number':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'array':
      return text.split(',');
    default:
      return text;
  }
}

function kindOf(field: z.core.$ZodType | undefined): string | undefined {
  const def = field?._zod.def as z.core.$ZodTypeDef & { innerType?: z.core.$ZodType };
  return def?.type === 'optional' ? kindOf(def.innerType) : def?.type;
}
