/**
 * Every outcome of a delivery and its HTTP reply. A sender retries everything but 2xx, so 2xx means a
 * committed row, 4xx means a mistake of the sender, and 503 means "retry later".
 */
import { type ErrorEnvelope, errorEnvelope } from '../contract/errors.ts';
import { SIGNATURE_HEADER } from '../contract/signature.ts';
import { assertNever } from '../platform/errors.ts';
import type { IntakeOutcome } from './intake.ts';

export type WebhookOutcome =
  | IntakeOutcome
  | { readonly outcome: 'signature_missing' | 'signature_malformed' | 'signature_mismatch' }
  | { readonly outcome: 'too_large' }
  | { readonly outcome: 'encoded_body' }
  | { readonly outcome: 'incomplete_body' }
  | { readonly outcome: 'over_budget' }
  | { readonly outcome: 'wrong_method' };

/** All outcomes, in the order of their replies. */
export const WEBHOOK_OUTCOMES = [
  'accepted',
  'duplicate',
  'id_reused',
  'unavailable',
  'overloaded',
  'signature_missing',
  'signature_malformed',
  'signature_mismatch',
  'too_large',
  'encoded_body',
  'incomplete_body',
  'over_budget',
  'wrong_method',
] as const satisfies readonly WebhookOutcome['outcome'][];

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body:
    | { readonly received: true; readonly event_id: string | null; readonly duplicate: boolean }
    | ErrorEnvelope;
}

/** Senders that were refused together come back spread over a minute, not together. */
const RETRY_AFTER_SECONDS = { least: 5, most: 60 };

/** @param random from 0 to 1, exclusive; spreads the retries of senders that honor `Retry-After` */
export function replyFor(outcome: WebhookOutcome, random: number): Reply {
  const unavailable = (message: string): Reply => unavailableUntil(message, random);
  switch (outcome.outcome) {
    case 'accepted':
    case 'id_reused':
      return received(outcome.eventId, false);
    case 'duplicate':
      return received(outcome.eventId, true);
    case 'unavailable':
      return unavailable('The event was not confirmed as stored. Send it again later.');
    case 'overloaded':
      return unavailable('Too many events are waiting to be stored. Send it again later.');
    case 'signature_missing':
      return unverified(`The header ${SIGNATURE_HEADER} is missing.`);
    case 'signature_malformed':
      return unverified(`The header ${SIGNATURE_HEADER} is not 64 bytes of hexadecimal or base64.`);
    case 'signature_mismatch':
      return unverified(`The header ${SIGNATURE_HEADER} does not match the bytes of the body.`);
    case 'too_large':
      return refused(413, 'The body is larger than this receiver accepts.');
    case 'encoded_body':
      return refused(415, 'Send the body as signed, without Content-Encoding.');
    case 'incomplete_body':
      return refused(400, 'The body ended before its declared length.');
    case 'over_budget':
      return unavailable('Too many bodies are being received. Send the event again later.');
    case 'wrong_method':
      return refused(405, 'Send events by POST.', { Allow: 'POST' });
    default:
      return assertNever(outcome);
  }
}

function received(eventId: string | undefined, duplicate: boolean): Reply {
  return {
    status: 200,
    headers: {},
    body: { received: true, event_id: eventId ?? null, duplicate },
  };
}

function unavailableUntil(message: string, random: number): Reply {
  const { least, most } = RETRY_AFTER_SECONDS;
  const seconds = least + Math.floor(random * (most - least + 1));
  return {
    status: 503,
    headers: { 'Retry-After': String(seconds) },
    body: errorEnvelope('api_error', 'HE_00', message),
  };
}

function unverified(message: string): Reply {
  return {
    status: 401,
    headers: {},
    body: errorEnvelope('authentication_error', 'AU_01', message),
  };
}

function refused(status: number, message: string, headers: Record<string, string> = {}): Reply {
  return { status, headers, body: errorEnvelope('invalid_request', 'IR_04', message) };
}
