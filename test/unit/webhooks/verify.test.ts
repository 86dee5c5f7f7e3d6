/** verifyTallyhookWebhook against the library that the sender signs with. */
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { SECOND_MS } from '../../../src/platform/time.ts';
import {
  verifyTallyhookWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from '../../../src/webhooks/verify.ts';

const secretOf = (key: string) => `whsec_${Buffer.from(key).toString('base64')}`;
const SECRET = secretOf('a secret of 24 bytes ...');
const OTHER = secretOf('another of 24 bytes ....');
const AT = new Date('2026-11-21T10:00:00.000Z');
const BODY = '{"type":"order.paid","timestamp":"2026-11-21T10:00:00.000Z","data":{"é":1}}';

function signed(secrets: readonly string[] = [SECRET], body = BODY, at = AT) {
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(at.getTime() / SECOND_MS),
    'webhook-signature': secrets
      .map((secret) => new Webhook(secret).sign('msg_1', at, body))
      .join(' '),
  };
}

/** As the package undici, frameworks and test runners have a class of their own. */
class OtherHeaders {
  readonly #headers: Headers;
  constructor(init: Record<string, string>) {
    this.#headers = new Headers(init);
  }
  get(name: string): string | null {
    return this.#headers.get(name);
  }
}

const HEADERS: readonly (readonly [string, WebhookHeaders])[] = [
  ['an object in lower case', signed()],
  ['an object in another case', { 'Webhook-Id': 'msg_1', ...upper(signed()) }],
  ['lists of values', Object.fromEntries(Object.entries(signed()).map(([k, v]) => [k, [v]]))],
  ['headers of fetch', new Headers(signed())],
  ['headers of another fetch', new OtherHeaders(signed()) as unknown as Headers],
];

function upper(headers: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  );
}

test.each(HEADERS)('a signed webhook is verified and read: %s', (_form, headers) => {
  const verified = verifyTallyhookWebhook(
    { body: BODY, headers },
    { secret: SECRET, nowMs: AT.getTime() },
  );
  expect(verified).toEqual({ id: 'msg_1', webhook: JSON.parse(BODY) });
});

test('the body may be bytes, and several secrets sign or are accepted during a rotation', () => {
  const body = new TextEncoder().encode(BODY);
  const nowMs = AT.getTime();
  for (const [signers, secret] of [
    [[SECRET], SECRET],
    [[OTHER, SECRET], SECRET],
    [[SECRET], [OTHER, SECRET]],
  ] as const) {
    expect(verifyTallyhookWebhook({ body, headers: signed(signers) }, { secret, nowMs }).id).toBe(
      'msg_1',
    );
  }
});

function reasonFor(headers: WebhookHeaders, body = BODY, nowMs = AT.getTime()): string {
  try {
    verifyTallyhookWebhook({ body, headers }, { secret: SECRET, nowMs });
    return 'accepted';
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return error.reason;
  }
}

test.each([
  ['another secret', signed([OTHER]), 'wrong_signature'],
  ['another id', { ...signed(), 'webhook-id': 'msg_2' }, 'wrong_signature'],
  ['another time', { ...signed(), 'webhook-timestamp': '1795255201' }, 'wrong_signature'],
  [
    'a signature of another version',
    { ...signed(), 'webhook-signature': signed()['webhook-signature'].replace('v1,', 'v2,') },
    'wrong_signature',
  ],
  [
    'a part of the signature',
    { ...signed(), 'webhook-signature': signed()['webhook-signature'].slice(0, 20) },
    'wrong_signature',
  ],
  ['no signature', { ...signed(), 'webhook-signature': undefined }, 'missing_headers'],
  ['no id', { ...signed(), 'webhook-id': undefined }, 'missing_headers'],
] as const)('%s is refused', (_what, headers, reason) => {
  expect(reasonFor(headers)).toBe(reason);
});

test('a changed body is refused, and so is one that is not JSON', () => {
  expect(reasonFor(signed(), BODY.replace('1', '2'))).toBe('wrong_signature');
  expect(reasonFor(signed([SECRET], 'order'), 'order')).toBe('unreadable_body');
});

test('a signature holds for five minutes in both directions', () => {
  const limitMs = 300 * SECOND_MS;
  const now = AT.getTime();
  expect(reasonFor(signed(), BODY, now + limitMs)).toBe('accepted');
  expect(reasonFor(signed(), BODY, now + limitMs + 1)).toBe('too_old');
  expect(reasonFor(signed(), BODY, now - limitMs)).toBe('accepted');
  expect(reasonFor(signed(), BODY, now - limitMs - 1)).toBe('too_new');
});

test('a secret of another form is a mistake of the caller, and is not repeated', () => {
  const attempt = () =>
    verifyTallyhookWebhook({ body: BODY, headers: signed() }, { secret: 'sk_not_this' });
  expect(attempt).toThrow(TypeError);
  expect(attempt).not.toThrow('sk_not_this');
});

test('the setting of Tallyhook with two secrets verifies as it is, during a rotation', () => {
  const request = { body: BODY, headers: signed([OTHER]) };
  for (const secret of [`${SECRET},${OTHER}`, `${SECRET}, ${OTHER}`, [`${OTHER},${SECRET}`]]) {
    expect(verifyTallyhookWebhook(request, { secret, nowMs: AT.getTime() }).id).toBe('msg_1');
  }
});

// With express.json() in front of the route, request.body is of type any and compiles.
test.each([
  ['what express.json() made of it', JSON.parse(BODY)],
  ['an empty object of express.raw() for another content type', {}],
  ['nothing, without any parser', undefined],
  ['a list', [1]],
])('a body that is not what arrived is an error that names the remedy: %s', (_form, body) => {
  const attempt = () => verifyTallyhookWebhook({ body, headers: signed() }, { secret: SECRET });
  expect(attempt).toThrow(TypeError);
  expect(attempt).toThrow('express.raw');
});

test('a part of a larger buffer is verified alone', () => {
  const whole = Buffer.from(`{}${BODY}{}`);
  const body = new Uint8Array(whole.buffer, whole.byteOffset + 2, Buffer.byteLength(BODY));
  const request = { body, headers: signed() };
  expect(verifyTallyhookWebhook(request, { secret: SECRET, nowMs: AT.getTime() }).id).toBe('msg_1');
});

test('the arrayBuffer() of a request of fetch verifies, also for plain JavaScript', async () => {
  const body = (await new Response(BODY).arrayBuffer()) as unknown as Uint8Array;
  const request = { body, headers: signed() };
  expect(verifyTallyhookWebhook(request, { secret: SECRET, nowMs: AT.getTime() }).id).toBe('msg_1');
});
