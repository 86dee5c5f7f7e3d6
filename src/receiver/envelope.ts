/**
 * What intake needs of a verified body: the name under which it is kept. Everything else is read
 * later, by the ledger, from the stored bytes.
 */
import { parseId } from '../contract/identifiers.ts';

export interface Envelope {
  /** Undefined when the body has no usable envelope; it is then known by its bytes alone. */
  readonly eventId: string | undefined;
  readonly merchantId: string | undefined;
  readonly eventType: string | undefined;
}

const UNNAMED: Envelope = { eventId: undefined, merchantId: undefined, eventType: undefined };

/** Refuses invalid UTF-8, which PostgreSQL could not hold as text, and drops a byte order mark. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads the envelope of a verified body. Never throws: what cannot be read is unnamed. */
export function readEnvelope(body: Buffer): Envelope {
  const parsed = parse(body);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return UNNAMED;
  const own = (field: string): unknown =>
    Object.hasOwn(parsed, field) ? (parsed as Record<string, unknown>)[field] : undefined;
  const eventId = parseId(own('event_id'));
  if (eventId === undefined) return UNNAMED;
  return {
    eventId,
    merchantId: parseId(own('merchant_id')),
    eventType: parseId(own('event_type')),
  };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    // Not JSON, or not UTF-8: either way the bytes are kept and a finding says so.
    return undefined;
  }
}
