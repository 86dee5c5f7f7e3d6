/** Parses what a caller sent. */
import { z } from 'zod';

const MESSAGE = 'must not contain a NUL or an unpaired surrogate';

type Parsed<Data> =
  | { readonly success: true; readonly data: Data }
  | { readonly success: false; readonly error: z.ZodError };

/**
 * Text that PostgreSQL cannot store is a mistake of the caller, wherever it is. A schema of its own for
 * each text would be forgotten where somebody writes `z.string()`.
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  sent: unknown,
): Parsed<z.output<Schema>> {
  const parsed = schema.safeParse(sent);
  const path = parsed.success ? findUnstorable(parsed.data) : undefined;
  if (path === undefined) return parsed;
  return {
    success: false,
    error: new z.ZodError([{ code: 'custom', path, message: MESSAGE }]),
  };
}

type Path = readonly string[];

/** Where the first such text is. */
function findUnstorable(value: unknown, path: Path = []): string[] | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : [...path];
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = isStorable(name) ? findUnstorable(inner, [...path, name]) : [...path];
    if (found) return found;
  }
  return undefined;
}

/** Whether PostgreSQL can store the text. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
