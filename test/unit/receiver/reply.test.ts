import { describe, expect, it } from 'vitest';
import { errorEnvelopeSchema } from '../../../src/contract/errors.ts';
import { type Reply, replyFor, type WebhookOutcome } from '../../../src/receiver/reply.ts';

const error = (type: string, code: string, message: string) => ({ error: { type, code, message } });

const refusal = (status: number, message: string, headers = {}) => ({
  status,
  headers,
  body: error('invalid_request', 'IR_04', message),
});

const unverified = (message: string) => ({
  status: 401,
  headers: {},
  body: error('authentication_error', 'AU_01', message),
});

const comeAgain = (message: string) => ({
  status: 503,
  headers: { 'Retry-After': '33' },
  body: error('api_error', 'HE_00', message),
});

const received = (duplicate: boolean) => ({
  status: 200,
  headers: {},
  body: { received: true, event_id: 'evt_1', duplicate } as const,
});

/** Every outcome: the compiler reports missing ones. */
const REPLIES = {
  accepted: received(false),
  duplicate: received(true),
  id_reused: received(false),
  unavailable: comeAgain('The event was not confirmed as stored. Send it again later.'),
  overloaded: comeAgain('Too many events are waiting to be stored. Send it again later.'),
  signature_missing: unverified('The header X-Webhook-Signature-512 is missing.'),
  signature_malformed: unverified(
    'The header X-Webhook-Signature-512 is not 64 bytes of hexadecimal or base64.',
  ),
  signature_mismatch: unverified(
    'The header X-Webhook-Signature-512 does not match the bytes of the body.',
  ),
  too_large: refusal(413, 'The body is larger than this receiver accepts.'),
  encoded_body: refusal(415, 'Send the body as signed, without Content-Encoding.'),
  incomplete_body: refusal(400, 'The body ended before its declared length.'),
  over_budget: comeAgain('Too many bodies are being received. Send the event again later.'),
  wrong_method: refusal(405, 'Send events by POST.', { Allow: 'POST' }),
} as const satisfies Record<WebhookOutcome['outcome'], Reply>;

const OUTCOMES = Object.keys(REPLIES) as WebhookOutcome['outcome'][];

const replyTo = (outcome: WebhookOutcome['outcome'], eventId: string | undefined = 'evt_1') =>
  replyFor({ outcome, eventId } as WebhookOutcome, 0.5);

describe('the reply', () => {
  it.each(OUTCOMES)('reports the outcome of a delivery in exactly these words: %s', (outcome) => {
    expect(replyTo(outcome)).toEqual(REPLIES[outcome]);
  });

  it.each(['accepted', 'duplicate', 'id_reused'] as const)(
    'names no event if the body named none: %s',
    (outcome) => {
      expect(replyFor({ outcome, eventId: undefined }, 0.5).body).toMatchObject({ event_id: null });
    },
  );

  it('is 2xx for exactly those outcomes that are in the inbox', () => {
    const acknowledged = OUTCOMES.filter((outcome) => replyTo(outcome).status < 300);
    expect(acknowledged).toEqual(['accepted', 'duplicate', 'id_reused']);
  });

  it('has Retry-After for exactly those outcomes that are not the fault of the sender', () => {
    const retryable = OUTCOMES.filter((outcome) => 'Retry-After' in replyTo(outcome).headers);
    expect(retryable).toEqual(['unavailable', 'overloaded', 'over_budget']);
    expect(retryable.map((outcome) => replyTo(outcome).status)).toEqual([503, 503, 503]);
  });

  it('spreads retries evenly over 5 to 60 seconds', () => {
    const seconds = Array.from({ length: 5_600 }, (_, n) => {
      const { headers } = replyFor({ outcome: 'overloaded' }, n / 5_600);
      return Number(headers['Retry-After']);
    });
    const counts = new Map<number, number>();
    for (const one of seconds) counts.set(one, (counts.get(one) ?? 0) + 1);
    expect([...counts]).toEqual(Array.from({ length: 56 }, (_, n) => [5 + n, 100]));
  });

  it.each(OUTCOMES.filter((outcome) => REPLIES[outcome].status >= 400))(
    'is the error envelope of the contract: %s',
    (outcome) => {
      expect(errorEnvelopeSchema.parse(replyTo(outcome).body)).toEqual(REPLIES[outcome].body);
    },
  );
});
