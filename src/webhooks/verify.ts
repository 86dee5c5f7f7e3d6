/**
 * Verifies a webhook of Tallyhook in a shop: the scheme of Standard Webhooks, version 1.
 *
 * 1. The signature is HMAC-SHA-256 over the id, the time of the attempt and the body as it arrived.
 * 2. During a rotation, the sender signs with each of its secrets, and the receiver may accept several.
 * 3. A message that was signed too long ago, or in the future, is refused: somebody may have recorded it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { systemClock } from '../platform/clock.ts';
import type { OrderWebhook, TallyhookWebhook } from './webhooks.ts';

/** Why a webhook was refused. */
export type WebhookRefusal =
  | 'missing_headers'
  | 'invalid_timestamp'
  | 'too_old'
  | 'too_new'
  | 'wrong_signature'
  | 'unreadable_body';

/** Thrown for a request that is not a webhook of Tallyhook. Respond with 400 and do not process it. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  /** Why it was refused. */
  readonly reason: WebhookRefusal;

  constructor(reason: WebhookRefusal, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Headers as an object of Node.js or of fetch has them. */
export type WebhookHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request that may be a webhook of Tallyhook. */
export interface WebhookRequest {
  /** The body as it arrived. JSON that was parsed and written again has another signature. */
  readonly body: string | Uint8Array;
  readonly headers: WebhookHeaders;
}

/** Options of verifyTallyhookWebhook. */
export interface VerifyOptions {
  /**
   * The value of ORDER_WEBHOOK_SECRET or ALERT_WEBHOOK_SECRET: `whsec_…`, or during a rotation several, as a
   * list or with commas between them.
   */
  readonly secret: string | readonly string[];
  /** How far the time of the signature may differ from `nowMs`; 5 minutes by default. */
  readonly toleranceMs?: number | undefined;
  /** Milliseconds since 1970; the machine's clock by default. */
  readonly nowMs?: number | undefined;
}

/** A webhook with its id. */
export interface VerifiedWebhook {
  /** The same in every attempt to deliver it: process each id once. */
  readonly id: string;
  readonly webhook: TallyhookWebhook;
}

const TOLERANCE_MS = 5 * 60_000;

/**
 * Verifies the signature of a webhook and reads it.
 * @throws WebhookVerificationError if it is not signed with the secret, or not signed now
 * @throws TypeError for a secret that is not `whsec_` and base64, and for a body that was parsed
 */
export function verifyTallyhookWebhook(
  request: WebhookRequest,
  options: VerifyOptions,
): VerifiedWebhook {
  const { body, headers } = request;
  const { secret, toleranceMs = TOLERANCE_MS, nowMs = systemClock.nowMs() } = options;
  const keys = keysOf(secret);
  const bytes = bytesOf(body);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  if (id === undefined || timestamp === undefined || signatures === undefined) {
    throw new WebhookVerificationError(
      'missing_headers',
      'The request lacks webhook-id, webhook-timestamp or webhook-signature',
    );
  }
  if (!isSigned(`${id}.${timestamp}.`, bytes, keys, signatures)) {
    throw new WebhookVerificationError(
      'wrong_signature',
      'No signature of the request is by this secret over this body',
    );
  }
  expectRecent(timestamp, nowMs, toleranceMs);
  return { id, webhook: readWebhook(bytes) };
}

/** In plain JavaScript, the variable of a secret may not be set, also of one in a list. */
function keysOf(secret: string | readonly (string | undefined)[] | undefined): Buffer[] {
  const secrets = [secret].flat().flatMap((one) => (one ?? '').split(','));
  if (secrets.length === 0) throw new TypeError('secret is an empty list; nothing would verify');
  return secrets.map((one) => keyOf(one.trim()));
}

/** A body of plain JavaScript, or of `any`, can be what a parser of JSON made of it. */
function bytesOf(body: unknown): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  if (ArrayBuffer.isView(body)) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (isArrayBuffer(body)) return Buffer.from(body);
  throw new TypeError(
    'body must be the bytes or the text that arrived, because they are what was signed. On this route, use ' +
      "express.raw({ type: 'application/json' }) in place of express.json(), or await request.text()",
  );
}

/** Not by its class: a test runner has one of its own. */
function isArrayBuffer(body: unknown): body is ArrayBuffer {
  return Object.prototype.toString.call(body) === '[object ArrayBuffer]';
}

function keyOf(secret: string): Buffer {
  if (!secret) throw new TypeError('secret is empty; is the variable that holds it set?');
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  if (encoded === undefined) throw new TypeError('secret must be whsec_ and bytes in base64');
  return Buffer.from(encoded, 'base64');
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  // Not by its class: a framework, a test runner or the package undici has one of its own.
  if (isHeaders(headers)) return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : value?.[0];
}

function isHeaders(headers: WebhookHeaders): headers is Headers {
  return typeof headers.get === 'function';
}

function isSigned(
  prefix: string,
  body: Buffer,
  keys: readonly Buffer[],
  signatures: string,
): boolean {
  const given = signatures
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => Buffer.from(signature.slice('v1,'.length), 'base64'));
  return keys.some((key) => {
    const expected = createHmac('sha256', key).update(prefix).update(body).digest();
    return given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
  });
}

function expectRecent(timestamp: string, nowMs: number, toleranceMs: number): void {
  const signedMs = /^\d{1,11}$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN;
  if (Number.isNaN(signedMs)) {
    throw new WebhookVerificationError('invalid_timestamp', 'webhook-timestamp is not a time');
  }
  if (nowMs - signedMs > toleranceMs) {
    throw new WebhookVerificationError('too_old', 'The request was signed too long ago');
  }
  if (signedMs - nowMs > toleranceMs) {
    throw new WebhookVerificationError('too_new', 'The request was signed in the future');
  }
}

function readWebhook(bytes: Buffer): TallyhookWebhook {
  try {
    return JSON.parse(bytes.toString('utf8')) as TallyhookWebhook;
  } catch {
    throw new WebhookVerificationError('unreadable_body', 'The body is not JSON');
  }
}

/** Whether a webhook is about an order. */
export function isOrderWebhook(webhook: TallyhookWebhook): webhook is OrderWebhook {
  return webhook.type.startsWith('order.');
}
