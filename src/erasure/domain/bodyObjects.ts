/** Walks through a parsed body. */

/** An object of a body. */
export interface BodyObject {
  readonly fields: Readonly<Record<string, unknown>>;
  /** The field that it is the value of; of an object in a list, the field of the list. */
  readonly name: string;
  /** The fields around it, outermost first, its own included. */
  readonly path: readonly string[];
}

/** The parsed body; undefined if it is no JSON. A byte order mark is dropped. */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

/** Every object of a body, at any depth. */
export function* bodyObjects(
  item: unknown,
  path: readonly string[] = [],
): Generator<BodyObject, void, undefined> {
  if (typeof item !== 'object' || item === null) return;
  if (Array.isArray(item)) {
    for (const one of item) yield* bodyObjects(one, path);
    return;
  }
  const fields = item as Readonly<Record<string, unknown>>;
  yield { fields, name: path.at(-1) ?? '', path };
  for (const [field, value] of Object.entries(fields)) yield* bodyObjects(value, [...path, field]);
}
