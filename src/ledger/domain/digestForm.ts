/**
 * What digests of the chain cover: fields, each with a type, a length and its value. So two contents have the
 * same bytes only if they are equal, and nothing depends on how a text or JSON is written.
 */

const NONE = 0;
const INTEGER = 1;
const BYTES = 2;
const TEXT = 3;

function field(type: number, value: Uint8Array): Uint8Array {
  const whole = new Uint8Array(5 + value.length);
  const view = new DataView(whole.buffer);
  view.setUint8(0, type);
  view.setUint32(1, value.length);
  whole.set(value, 5);
  return whole;
}

export function integer(value: number): Uint8Array {
  const whole = new Uint8Array(8);
  new DataView(whole.buffer).setBigInt64(0, BigInt(value));
  return field(INTEGER, whole);
}

export function bytes(hex: string): Uint8Array {
  const pairs = hex.match(/../g) ?? [];
  return field(
    BYTES,
    Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16)),
  );
}

export function text(value: string): Uint8Array {
  return field(TEXT, new TextEncoder().encode(value));
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A text, or a null that differs from every text. */
export function textOrNone(value: string | null): Uint8Array {
  return value === null ? field(NONE, new Uint8Array()) : text(value);
}

/** A list, which begins with its length. */
export function list<One>(all: readonly One[], fieldsOf: (one: One) => Uint8Array): Uint8Array {
  return joined([integer(all.length), ...all.map(fieldsOf)]);
}
