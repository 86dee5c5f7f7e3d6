/** Walks through a parsed body. */

/** An object of a body. */
export interface BodyObject {
  readonly fields: Readonly<Record<string, unknown>>;
  /** The field that it is the value of; of an object in a list, the field of the list. */
  readonly name: string;
  /** Whether it is in a field of the shop. */
  readonly isOfShop: boolean;
}

/** Texts and objects of the shop, where it may write anything. */
export const FIELDS_OF_SHOP: ReadonlySet<string> = new Set([
  'description',
  'metadata',
  'return_url',
]);

/** The parsed body; undefined if it is no JSON. A byte order mark is dropped. */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

interface Open {
  readonly item: object;
  readonly name: string;
  readonly isOfShop: boolean;
}

/**
 * Every object of a body, at any depth. Without recursion: a sender may nest a body deeper than the stack, and the
 * person whom it names could not be erased then.
 */
export function* bodyObjects(body: unknown): Generator<BodyObject, void, undefined> {
  const open: Open[] = isObject(body) ? [{ item: body, name: '', isOfShop: false }] : [];
  for (let next = open.pop(); next; next = open.pop()) {
    const { item, name, isOfShop } = next;
    const isList = Array.isArray(item);
    const fields = item as Readonly<Record<string, unknown>>;
    if (!isList) yield { fields, name, isOfShop };
    for (const [field, value] of Object.entries(fields).toReversed()) {
      if (!isObject(value)) continue;
      if (isList) open.push({ item: value, name, isOfShop });
      else open.push({ item: value, name: field, isOfShop: isOfShop || FIELDS_OF_SHOP.has(field) });
    }
  }
}

function isObject(item: unknown): item is object {
  return typeof item === 'object' && item !== null;
}
