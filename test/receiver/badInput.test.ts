/**
 * Malformed and malicious input. Three guarantees hold for all of it: nothing crashes the receiver, no
 * signed body is lost, and no unsigned body is stored.
 */
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, sign, unique } from '../support/events.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';
import { readCounter } from './counters.ts';
import {
  countSnapshots,
  countStored,
  countStoredBodies,
  deadErrors,
  findingsAbout,
  type InboxRow,
  resourceState,
  storedRow,
  untilAllApplied,
  untilApplied,
} from './inbox.ts';
import { openConnection, postHead, send } from './rawHttp.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;

beforeAll(async () => {
  db = await createTestDatabase();
  tallyhook = await startTallyhook({ db, roles: ['receiver', 'events', 'console'] });
});

afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

afterEach(async () => {
  const ordinary = eventBody(paymentObject());
  expect((await tallyhook.deliver(ordinary)).status).toBe(200);
  expect(await countStored(db, ordinary)).toBe(1);
});

const SIGNATURE = 'X-Webhook-Signature-512';

/** Delivers a signed body, expects 200, and returns its row once the worker has applied it. */
async function acceptedRow(body: Buffer): Promise<InboxRow> {
  const response = await tallyhook.deliver(body);
  expect(response.status).toBe(200);
  const row = await storedRow(db, body);
  expect(row.body.equals(body)).toBe(true);
  await untilApplied(db, row);
  return row;
}

/** Delivers a body, and expects an error with this status and no new row in the inbox. */
async function expectRejected(
  status: number,
  { body, headers }: { readonly body: Buffer; readonly headers: Record<string, string> },
): Promise<void> {
  const before = await countStoredBodies(db);
  const response = await tallyhook.deliver(body, headers);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } });
  expect(await countStoredBodies(db)).toBe(before);
}

describe('a delivery is rejected', () => {
  it('without a signature', async () => {
    await expectRejected(401, { body: eventBody(paymentObject()), headers: {} });
  });

  it('with the signature of another body', async () => {
    const body = eventBody(paymentObject());
    await expectRejected(401, { body, headers: { [SIGNATURE]: sign(eventBody(paymentObject())) } });
  });

  it.each([
    ['indented', (json: string) => JSON.stringify(JSON.parse(json), null, 2)],
    ['with a line break at the end', (json: string) => `${json}\n`],
    ['with its keys in another order', reversedKeys],
    ['with a character escaped', (json: string) => json.replace('m', '\\u006d')],
  ])('if its JSON was reformatted after signing: %s', async (_, reformat) => {
    const signed = eventBody(paymentObject());
    const reformatted = Buffer.from(reformat(String(signed)));
    expect(JSON.parse(String(reformatted))).toEqual(JSON.parse(String(signed)));
    expect(reformatted.equals(signed)).toBe(false);

    await expectRejected(401, { body: reformatted, headers: { [SIGNATURE]: sign(signed) } });
  });

  it('with two signature headers, even if both are valid', async () => {
    const body = eventBody(paymentObject());
    for (const second of [sign(body), 'a'.repeat(128)]) {
      const response = await send(tallyhook.webhookUrl, {
        headers: { [SIGNATURE]: [sign(body), second], 'Content-Length': body.length },
        chunks: [body],
      });
      expect(response.status).toBe(401);
    }
    expect(await countStored(db, body)).toBe(0);
  });
});

function reversedKeys(json: string): string {
  return JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(json)).reverse()));
}

describe('a malformed request', () => {
  it('is rejected if its headers are too large', async () => {
    const body = eventBody(paymentObject());
    const response = await send(tallyhook.webhookUrl, {
      headers: {
        [SIGNATURE]: sign(body),
        'Content-Length': body.length,
        // Above the limit, but small enough to be read at once: a server that closes a connection with
        // unread bytes resets it, and its response may be lost.
        'X-Padding': 'x'.repeat(20 * 1024),
      },
      chunks: [body],
    });
    expect(response.status).toBe(431);
    expect(await countStored(db, body)).toBe(0);
  });

  it('is rejected if the signature is too long', async () => {
    await expectRejected(401, {
      body: eventBody(paymentObject()),
      headers: { [SIGNATURE]: 'a'.repeat(8 * 1024) },
    });
  });

  it.each(['end', 'abort'] as const)(
    'is not stored if its body ends before its Content-Length: %s',
    async (how) => {
      const counter = 'tallyhook_webhooks_total{outcome="incomplete_body"}';
      const incompleteBefore = await readCounter(tallyhook, counter);
      const whole = eventBody(paymentObject());
      const part = whole.subarray(0, 50);
      const before = await countStoredBodies(db);
      const connection = await openConnection(tallyhook.webhookUrl);
      // The part has a valid signature, so that only its length is wrong.
      connection.write(postHead({ 'Content-Length': whole.length, [SIGNATURE]: sign(part) }));
      connection.write(part);
      connection[how]();

      await waitFor(
        'the receiver to count an incomplete body',
        async () => (await readCounter(tallyhook, counter)) > incompleteBefore,
      );
      expect(await countStoredBodies(db)).toBe(before);
    },
  );

  it('is not stored if its last chunk is missing', async () => {
    const counter = 'tallyhook_webhooks_total{outcome="incomplete_body"}';
    const incompleteBefore = await readCounter(tallyhook, counter);
    const body = eventBody(paymentObject());
    const before = await countStoredBodies(db);
    const connection = await openConnection(tallyhook.webhookUrl);
    connection.write(postHead({ 'Transfer-Encoding': 'chunked', [SIGNATURE]: sign(body) }));
    connection.write(`${body.length.toString(16)}\r\n`);
    connection.write(body);
    // The body is complete, but the chunk of length 0 that ends it is missing.
    connection.abort();

    await waitFor(
      'the receiver to count an incomplete body',
      async () => (await readCounter(tallyhook, counter)) > incompleteBefore,
    );
    expect(await countStoredBodies(db)).toBe(before);
  });

  it('is rejected if its body exceeds its Content-Length', async () => {
    const whole = eventBody(paymentObject());
    const before = await countStoredBodies(db);
    const connection = await openConnection(tallyhook.webhookUrl);
    connection.write(postHead({ 'Content-Length': 50, [SIGNATURE]: sign(whole) }));
    connection.write(whole);
    // The excess bytes are parsed as the next request and are not valid HTTP.
    expect(await connection.received()).toMatch(/^HTTP\/1\.1 40[01] /);
    expect(await countStoredBodies(db)).toBe(before);
  });

  it('is rejected if it is not HTTP', async () => {
    const connection = await openConnection(tallyhook.webhookUrl);
    connection.write(Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 13, 10, 13, 10]));
    expect(await connection.received()).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('a complete delivery', () => {
  it.each(['1.1', '1.0'])(
    'is acknowledged if the sender ends its side of the connection, HTTP/%s',
    async (version) => {
      const body = eventBody(paymentObject());
      const connection = await openConnection(tallyhook.webhookUrl);
      const head = postHead({ 'Content-Length': body.length, [SIGNATURE]: sign(body) });
      connection.write(head.replace('HTTP/1.1', `HTTP/${version}`));
      connection.write(body);
      connection.end();
      expect(await connection.received()).toMatch(/^HTTP\/1\.1 200 .*"received":true/s);
      expect(await countStored(db, body)).toBe(1);
    },
  );
});

describe('a body in an unusual form', () => {
  it('is rejected at 2 MiB, even with a valid signature', async () => {
    const body = eventBody(paymentObject({ description: 'x'.repeat(2 * 1024 * 1024) }));
    await expectRejected(413, { body, headers: { [SIGNATURE]: sign(body) } });
  });

  it('is rejected if it is compressed with gzip, even with a valid signature', async () => {
    const body = gzipSync(eventBody(paymentObject()));
    await expectRejected(415, {
      body,
      headers: { [SIGNATURE]: sign(body), 'Content-Encoding': 'gzip' },
    });
  });

  it('is accepted in chunks that split characters', async () => {
    const body = eventBody(paymentObject({ description: 'Größe 42 👟' }));
    const response = await send(tallyhook.webhookUrl, {
      headers: { [SIGNATURE]: sign(body) },
      // One byte at a time, so that every multibyte character is split.
      chunks: [...body].map((byte) => Buffer.from([byte])),
    });
    expect(response.status).toBe(200);
    const row = await storedRow(db, body);
    await untilApplied(db, row);
    expect(await findingsAbout(db, row)).toEqual([]);
  });

  it.each([
    'application/json',
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    'nonsense',
  ])('is stored as received with any content type: %s', async (contentType) => {
    const body = eventBody(paymentObject());
    const response = await tallyhook.deliver(body, {
      [SIGNATURE]: sign(body),
      'Content-Type': contentType,
    });
    expect(response.status).toBe(200);
    expect((await storedRow(db, body)).eventId).not.toBeNull();
  });

  it('is stored if it is empty, with and without a Content-Length', async () => {
    const empty = Buffer.alloc(0);
    const headers = { [SIGNATURE]: sign(empty) };
    const bodiless = await send(tallyhook.webhookUrl, { headers });
    const chunked = await send(tallyhook.webhookUrl, {
      headers: { ...headers, 'Transfer-Encoding': 'chunked' },
    });
    const measured = await send(tallyhook.webhookUrl, {
      headers: { ...headers, 'Content-Length': 0 },
    });
    expect([bodiless, chunked, measured].map(({ body }) => JSON.parse(body))).toEqual([
      { received: true, event_id: null, duplicate: false },
      { received: true, event_id: null, duplicate: true },
      { received: true, event_id: null, duplicate: true },
    ]);
    const row = await storedRow(db, empty);
    await untilApplied(db, row);
    expect(await findingsAbout(db, row)).toEqual(['unreadable_event']);
  });
});

const DEPTH = 100_000;

/** An event with `object` as raw text, for JSON that JSON.stringify cannot produce. */
const eventText = (
  object: string,
  { eventType = 'payment_succeeded', contentType = 'payment_details' } = {},
): Buffer =>
  Buffer.from(
    `{"merchant_id":"${MERCHANT_ID}","event_id":"${unique('evt')}","event_type":"${eventType}",` +
      `"content":{"type":"${contentType}","object":${object}},"timestamp":"2026-11-01T10:00:00Z"}`,
  );

describe('deep nesting', () => {
  it.each([
    ['arrays', `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`],
    ['objects', `${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`],
  ])('of %s in the metadata does not affect the amounts', async (_, deep) => {
    const paymentId = unique('pay');
    const row = await acceptedRow(
      eventText(
        `{"payment_id":"${paymentId}","status":"succeeded","amount":6540,"amount_received":6540,` +
          `"currency":"USD","modified_at":"2026-11-01T10:00:00Z","metadata":{"deep":${deep}}}`,
      ),
    );
    expect(await findingsAbout(db, row)).toEqual([]);
    expect(await resourceState(db, 'payment', paymentId)).toMatchObject({ capturedMinor: 6540 });
  });

  it.each([
    ['the whole body', Buffer.from(`${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`), 'unreadable_event'],
    ['an unclosed body', Buffer.from('['.repeat(DEPTH)), 'unreadable_event'],
    ['the object', eventText(`${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`), 'event_ignored'],
  ])('in place of %s is stored and becomes a finding', async (_, body, finding) => {
    const row = await acceptedRow(body);
    expect(await findingsAbout(db, row)).toEqual([finding]);
  });
});

describe('names with a meaning in JavaScript', () => {
  const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];

  it('do not pollute prototypes as keys at any depth', async () => {
    const poison = '{"polluted":"yes","event_id":"evt_x","merchant_id":"m"}';
    const paymentId = unique('pay');
    const keys = `"__proto__":${poison},"constructor":{"prototype":${poison}}`;
    const row = await acceptedRow(
      Buffer.from(
        `{${keys},"merchant_id":"${MERCHANT_ID}","event_id":"${unique('evt')}",` +
          `"event_type":"payment_succeeded","content":{${keys},"type":"payment_details",` +
          `"object":{${keys},"payment_id":"${paymentId}","status":"succeeded","amount":6540,` +
          `"amount_received":6540,"currency":"USD","modified_at":"2026-11-01T10:00:00Z",` +
          `"metadata":{${keys}}}},"timestamp":"2026-11-01T10:00:00Z"}`,
      ),
    );
    expect(await findingsAbout(db, row)).toEqual([]);
    expect(await resourceState(db, 'payment', paymentId)).toMatchObject({ capturedMinor: 6540 });
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(Reflect.get(Object, 'polluted')).toBeUndefined();
  });

  it('do not provide an event id through __proto__', async () => {
    const row = await acceptedRow(
      Buffer.from(
        `{"__proto__":{"event_id":"${unique('evt')}","merchant_id":"${MERCHANT_ID}"},` +
          `"content":{"object":{"payment_id":"${unique('pay')}"}}}`,
      ),
    );
    expect(row).toMatchObject({ eventId: null, merchantId: null });
    expect(await findingsAbout(db, row)).toEqual(['unreadable_event']);
  });

  it('do not provide a resource id through __proto__', async () => {
    const paymentId = unique('pay');
    const row = await acceptedRow(
      eventText(`{"__proto__":{"payment_id":"${paymentId}","status":"succeeded","amount":1}}`),
    );
    expect(await findingsAbout(db, row)).toEqual(['event_ignored']);
    expect(await resourceState(db, 'payment', paymentId)).toBeUndefined();
  });

  it.each(NAMES)('are accepted as labels: %s', async (name) => {
    const payment = paymentObject();
    const row = await acceptedRow(eventBody(payment, { eventType: name, contentType: name }));
    expect(await findingsAbout(db, row)).toEqual([]);
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      capturedMinor: 6540,
    });
  });

  it.each(NAMES)('are unknown statuses, stored as sent: %s', async (status) => {
    const payment = paymentObject({ status });
    const row = await acceptedRow(eventBody(payment));
    expect(await findingsAbout(db, row)).toEqual([]);
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      status,
      isDue: true,
      findings: ['unknown_status'],
    });
  });

  it.each(NAMES)('are accepted as ids: %s', async (name) => {
    const payment = paymentObject({ payment_id: name, metadata: { order_id: name } });
    const row = await acceptedRow(eventBody(payment, { eventId: name }));
    expect(row.eventId).toBe(name);
    expect(await resourceState(db, 'payment', name)).toMatchObject({
      orderKey: `order:${name}`,
      capturedMinor: 6540,
    });
  });
});

describe('an amount', () => {
  it.each([
    ['2^53', '9007199254740992'],
    ['2^53 + 1', '9007199254740993'],
    ['a number with 400 digits', '9'.repeat(400)],
    ['a number beyond all floats', '1e400'],
    ['2^53 + 1 as text', '"9007199254740993"'],
    ['400 digits as text', `"${'9'.repeat(400)}"`],
    ['a fraction', '65.4'],
    ['a fraction as text', '"65.40"'],
    ['a negative number', '-6540'],
    ['a negative number as text', '"-6540"'],
    ['a signed number as text', '"+6540"'],
    ['a small exponent', '6540e-5'],
    ['an exponent as text', '"1e3"'],
    ['hexadecimal text', '"0x10"'],
    ['text with a space', '" 6540"'],
    ['text with a thousands separator', '"6,540"'],
    ['digits that are not ASCII', '"٦٥٤٠"'],
    ['text', '"much"'],
    ['a boolean', 'true'],
    ['an array', '[6540]'],
    ['an object', '{"value":6540}'],
  ])(
    'that is invalid posts nothing, becomes a finding and schedules a check: %s',
    async (_, amount) => {
      for (const field of ['amount', 'amount_received', 'amount_capturable']) {
        const paymentId = unique('pay');
        const fields = { amount: '6540', amount_received: '6540', amount_capturable: '0' };
        const money = Object.entries({ ...fields, [field]: amount })
          .map(([name, value]) => `"${name}":${value}`)
          .join(',');
        const row = await acceptedRow(
          eventText(
            `{"payment_id":"${paymentId}","status":"succeeded",${money},"currency":"USD",` +
              `"modified_at":"2026-11-01T10:00:00Z"}`,
          ),
        );
        expect(await findingsAbout(db, row)).toEqual(['amount']);
        expect(await resourceState(db, 'payment', paymentId)).toMatchObject({
          status: null,
          amountMinor: null,
          capturedMinor: 0,
          isDue: true,
        });
        expect(await countSnapshots(db, paymentId)).toBe(0);
      }
    },
  );

  it('that is invalid does not change the known state of the resource', async () => {
    const payment = paymentObject();
    await acceptedRow(eventBody(payment));

    const row = await acceptedRow(eventBody({ ...payment, amount_received: -1 }));

    expect(await findingsAbout(db, row)).toEqual(['amount']);
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      capturedMinor: 6540,
      isDue: true,
    });
  });

  it.each([
    ['USDX', '"USDX"'],
    ['a number', '840'],
    ['letters that are not ASCII', '"ÜSD"'],
  ])('in an invalid currency posts nothing: %s', async (_, currency) => {
    const paymentId = unique('pay');
    const row = await acceptedRow(
      eventText(
        `{"payment_id":"${paymentId}","status":"succeeded","amount":1,"currency":${currency}}`,
      ),
    );
    expect(await findingsAbout(db, row)).toEqual(['amount']);
    expect(await resourceState(db, 'payment', paymentId)).toMatchObject({
      capturedMinor: 0,
      isDue: true,
    });
  });

  it.each([
    ['a string of digits, as disputes send it', '"6540"', 6540],
    ['an integer', '6540', 6540],
    ['an integer written as a fraction', '6540.0', 6540],
    ['an integer written with an exponent', '654e1', 6540],
    ['zero', '0', 0],
    ['2^53 - 1', '9007199254740991', Number.MAX_SAFE_INTEGER],
    ['2^53 - 1 as text', '"9007199254740991"', Number.MAX_SAFE_INTEGER],
  ])('of a dispute is read exactly: %s', async (_, amount, amountMinor) => {
    const disputeId = unique('dp');
    const row = await acceptedRow(
      eventText(
        `{"dispute_id":"${disputeId}","payment_id":"${unique('pay')}","amount":${amount},` +
          `"currency":"USD","dispute_status":"dispute_opened","dispute_stage":"dispute"}`,
        { eventType: 'dispute_opened', contentType: 'dispute_details' },
      ),
    );
    expect(await findingsAbout(db, row)).toEqual([]);
    expect(await resourceState(db, 'dispute', disputeId)).toMatchObject({
      status: 'opened',
      amountMinor,
    });
  });
});

describe('an event without usable content', () => {
  it.each([
    ['no content', {}],
    ['a content that is null', { content: null }],
    ['a content that is text', { content: 'payment_details' }],
    ['a content that is an array', { content: [] }],
    ['no object', { content: { type: 'payment_details' } }],
    ['an object that is null', { content: { type: 'payment_details', object: null } }],
    ['an object that is an array', { content: { type: 'payment_details', object: [] } }],
    ['an object that is text', { content: { type: 'payment_details', object: 'pay_1' } }],
    ['an object without an id', { content: { type: 'payment_details', object: {} } }],
    ['an id that is a number', { content: { object: { payment_id: 7 } } }],
    ['an id of 3 kB', { content: { object: { payment_id: 'p'.repeat(3_000) } } }],
    ['an id with NUL', { content: { object: { payment_id: 'pay\u0000' } } }],
    ['an id with a lone surrogate', { content: { object: { payment_id: 'pay\udc00' } } }],
  ])('is stored, with a finding that it is ignored: %s', async (_, content) => {
    const body = JSON.stringify({
      merchant_id: MERCHANT_ID,
      event_id: unique('evt'),
      event_type: 'payment_succeeded',
      ...content,
    });
    const row = await acceptedRow(Buffer.from(body));
    expect(await findingsAbout(db, row)).toEqual(['event_ignored']);
  });
});

describe('text that PostgreSQL cannot store', () => {
  const TEXTS = [
    ['NUL', 'a\u0000b'],
    ['a lone high surrogate', 'a\ud83d'],
    ['a lone low surrogate', '\udc5fb'],
    ['a surrogate pair split by the length limit', `${'x'.repeat(499)}👟`],
    ['200 kB', 'x'.repeat(200_000)],
  ] as const;

  it.each(TEXTS)('is accepted in every text field of a payment: %s', async (_, text) => {
    const fields = ['unified_message', 'unified_code', 'error_code', 'capture_method', 'created'];
    for (const field of fields) {
      const payment = paymentObject({ [field]: text });
      await acceptedRow(eventBody(payment));
      expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
        status: 'succeeded',
      });
    }
  });

  it.each(TEXTS)('is an unknown status: %s', async (_, status) => {
    const payment = paymentObject({ status });
    await acceptedRow(eventBody(payment));
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      isDue: true,
      findings: ['unknown_status'],
    });
  });

  it.each(TEXTS)(
    'is not used as an order id, so the payment is its own order: %s',
    async (_, text) => {
      const payment = paymentObject({ metadata: { order_id: text } });
      await acceptedRow(eventBody(payment));
      expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
        orderKey: `payment:${payment.payment_id}`,
        capturedMinor: 6540,
      });
    },
  );

  it.each(TEXTS)('is accepted in the labels of an event: %s', async (_, text) => {
    const payment = paymentObject();
    const row = await acceptedRow(eventBody(payment, { eventType: text, contentType: text }));
    expect(row.eventType).toBeNull();
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      capturedMinor: 6540,
    });
    const ignored = await acceptedRow(
      eventBody({ other: 1 }, { eventType: text, contentType: text }),
    );
    expect(await findingsAbout(db, ignored)).toEqual(['event_ignored']);
  });

  it.each(TEXTS)('is the merchant id of another account: %s', async (_, merchantId) => {
    const row = await acceptedRow(eventBody(paymentObject(), { merchantId }));
    expect(row.merchantId).toBeNull();
    expect(await findingsAbout(db, row)).toEqual(['foreign_merchant']);
  });

  it('is accepted in the text fields of refunds, disputes and payouts', async () => {
    for (const [, text] of TEXTS) {
      const money = { amount: 100, currency: 'USD', status: 'succeeded' };
      await acceptedRow(
        eventBody({ refund_id: unique('ref'), payment_id: unique('pay'), ...money, reason: text }),
      );
      await acceptedRow(eventBody({ refund_id: unique('ref'), payment_id: text, ...money }));
      await acceptedRow(
        eventBody({ dispute_id: unique('dp'), payment_id: text, ...money, dispute_stage: text }),
      );
      await acceptedRow(
        eventBody({
          payout_id: unique('po'),
          ...money,
          status: text,
          merchant_order_reference_id: text,
          unified_message: text,
        }),
      );
    }
  });
});

describe('ids of unusual length or characters', () => {
  it.each([
    ['letters of four bytes', '👟'.repeat(127)],
    ['255 characters', 'o'.repeat(255)],
    ['letters that need escaping', `'"; drop table orders; -- \\ %00 ../ {} $1 é`],
    ['digits alone', '12345678901234567890'],
  ])('are stored unchanged for events, payments and orders: %s', async (_, name) => {
    const row = await acceptedRow(
      eventBody(paymentObject({ payment_id: name, metadata: { order_id: name } }), {
        eventId: name,
      }),
    );
    expect(row.eventId).toBe(name);
    expect(await resourceState(db, 'payment', name)).toMatchObject({
      orderKey: `order:${name}`,
      capturedMinor: 6540,
    });
  });

  it('above 255 characters are not used as order ids, so the payment is its own order', async () => {
    const payment = paymentObject({ metadata: { order_id: 'o'.repeat(256) } });
    await acceptedRow(eventBody(payment));
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      orderKey: `payment:${payment.payment_id}`,
      capturedMinor: 6540,
    });
  });
});

describe('invalid times', () => {
  it.each([
    ['a number', 1_793_527_200],
    ['a word', 'yesterday'],
    ['a day that does not exist', '2026-02-30T10:00:00Z'],
    ['the year 10000', '10000-01-01T00:00:00Z'],
    ['the end of the year 9999', '9999-12-31T23:59:59-23:59'],
    ['the first day and a zone before it', '1970-01-01T00:00:00+99:99'],
    ['the year 0', '0000-01-01T00:00:00Z'],
  ])('are ignored: %s', async (_, time) => {
    const payment = paymentObject({ modified_at: time, created: time, capture_before: time });
    const body = JSON.stringify({
      merchant_id: MERCHANT_ID,
      event_id: unique('evt'),
      event_type: 'payment_succeeded',
      content: { type: 'payment_details', object: payment },
      timestamp: time,
    });
    await acceptedRow(Buffer.from(body));
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      capturedMinor: 6540,
    });
  });
});

describe('a misleading event', () => {
  it('with a known event id and another body is stored as a variant', async () => {
    const eventId = unique('evt');
    const first = eventBody(paymentObject(), { eventId });
    const second = eventBody(paymentObject(), { eventId });
    const row = await acceptedRow(first);
    expect((await tallyhook.deliver(second)).status).toBe(200);
    expect(await countStored(db, second)).toBe(1);
    await waitFor('the finding', async () => (await findingsAbout(db, row)).length > 0);
    expect(await findingsAbout(db, row)).toEqual(['event_id_reused']);
  });

  it('of another merchant is stored and not applied', async () => {
    const payment = paymentObject();
    const row = await acceptedRow(eventBody(payment, { merchantId: 'merchant_other' }));
    expect(await findingsAbout(db, row)).toEqual(['foreign_merchant']);
    expect(await resourceState(db, 'payment', payment.payment_id)).toBeUndefined();
  });
});

it('no event is dead', async () => {
  await untilAllApplied(db);
  expect(await deadErrors(db)).toEqual([]);
});
