/**
 * The fields of a verified body that intake needs: the ids under which it is stored, and what it is about,
 * which only decides who applies it. The ledger reads everything else later, from the stored bytes.
 */
import { parseId } from '../contract/identifiers.ts';

export interface Envelope {
  /** Undefined if the body has no usable envelope; its hash identifies it then. */
  readonly eventId: string | undefined;
  readonly merchantId: string | undefined;
  readonly eventType: string | undefined;
  /** The payment or payout that the object names. Not checked against anything. */
  readonly subject: string | undefined;
}

const NO_ENVELOPE: Envelope = {
  eventId: undefined,
  merchantId: undefined,
  eventType: undefined,
  subject: undefined,
};

/** Rejects invalid UTF-8, which PostgreSQL cannot store as text, and drops a byte order mark. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads the envelope of a verified body. Never throws: an unreadable body has no envelope. */
export function readEnvelope(body: Buffer): Envelope {
  const parsed = parse(body);
  const eventId = parseId(own(parsed, 'event_id'));
  if (eventId === undefined) return NO_ENVELOPE;
  const object = own(own(parsed, 'content'), 'object');
  return {
    eventId,
    merchantId: parseId(own(parsed, 'merchant_id')),
    eventType: parseId(own(parsed, 'event_type')),
    subject: parseId(own(object, 'payment_id')) ?? parseId(own(object, 'payout_id')),
  };
}

/** A field of a JSON object; undefined if the value is none, or has no such field. */
function own(value: unknown, field: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, field) ? (value as Record<string, unknown>)[field] : undefined;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    // Not JSON, or not UTF-8. The bytes are stored, and the ledger opens a finding.
    return undefined;
  }
}
