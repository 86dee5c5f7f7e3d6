/**
 * Query parameters are text; the schemas of requests speak of numbers, flags and lists. Both ways
 * of that translation, so that they cannot drift apart: several values of a list are separated by
 * commas. service-interface.md §4.
 */
import type { z } from 'zod';

/** Values as a query carries them; what is undefined is left out. */
export function writeQuery(values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    query.set(name, Array.isArray(value) ? value.join(',') : String(value));
  }
  return query.toString();
}

/**
 * Values as `schema` speaks of them, not judged yet: text that is no number stays text, for the
 * schema to refuse, and so does a parameter that is sent twice.
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
