/**
 * The fields of a verified body that intake needs: the ids under which it is stored. The ledger reads
 * everything else later, from the stored bytes.
 */
import { parseId } from '../contract/identifiers.ts';

export interface Envelope {
  /** Undefined if the body has no usable envelope; its hash identifies it then. */
  readonly eventId: string | undefined;
  readonly merchantId: string | undefined;
  readonly eventType: string | undefined;
}

const NO_ENVELOPE: Envelope = { eventId: undefined, merchantId: undefined, eventType: undefined };

/** Rejects invalid UTF-8, which PostgreSQL cannot store as text, and drops a byte order mark. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads the envelope of a verified body. Never throws: an unreadable body has no envelope. */
export function readEnvelope(body: Buffer): Envelope {
  const parsed = parse(body);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return NO_ENVELOPE;
  const own = (field: string): unknown =>
    Object.hasOwn(parsed, field) ? (parsed as Record<string, unknown>)[field] : undefined;
  const eventId = parseId(own('event_id'));
  if (eventId === undefined) return NO_ENVELOPE;
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
    // Not JSON, or not UTF-8. The bytes are stored, and the ledger opens a finding.
    return undefined;
  }
}
