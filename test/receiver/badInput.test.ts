/**
 * What senders, networks and attackers can send. Three promises hold for all of it: nothing crashes
 * the receiver, nothing that was signed is lost, nothing that was not signed is kept.
 */
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, sign, unique } from '../support/events.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';
import { readCounter } from './counters.ts';
import {
  allHandled,
  countAll,
  countKept,
  countSnapshots,
  deadErrors,
  findingsAbout,
  handled,
  type InboxRow,
  resourceState,
  storedRow,
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
  expect(await countKept(db, ordinary)).toBe(1);
});

const SIGNATURE = 'X-Webhook-Signature-512';

/** Delivers a signed body, expects 200, and returns its row once the worker is done with it. */
async function kept(body: Buffer): Promise<InboxRow> {
  const response = await tallyhook.deliver(body);
  expect(response.status).toBe(200);
  const row = await storedRow(db, body);
  expect(row.body.equals(body)).toBe(true);
  await handled(db, row);
  return row;
}

/** Delivers a body that is refused, and expects nothing new in the inbox. */
async function refused(
  status: number,
  { body, headers }: { readonly body: Buffer; readonly headers: Record<string, string> },
): Promise<void> {
  const before = await countAll(db);
  const response = await tallyhook.deliver(body, headers);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } });
  expect(await countAll(db)).toBe(before);
}

describe('a signature that does not fit', () => {
  it('keeps a delivery without one out', async () => {
    await refused(401, { body: eventBody(paymentObject()), headers: {} });
  });

  it('keeps a delivery with a wrong one out', async () => {
    const body = eventBody(paymentObject());
    await refused(401, { body, headers: { [SIGNATURE]: sign(eventBody(paymentObject())) } });
  });

  it.each([
    ['indented', (json: string) => JSON.stringify(JSON.parse(json), null, 2)],
    ['with a line break behind it', (json: string) => `${json}\n`],
    ['with its keys in another order', reversedKeys],
    ['with a character escaped', (json: string) => json.replace('m', '\\u006d')],
  ])('keeps reformatted JSON out that means the same: %s', async (_, reformat) => {
    const signed = eventBody(paymentObject());
    const reformatted = Buffer.from(reformat(String(signed)));
    expect(JSON.parse(String(reformatted))).toEqual(JSON.parse(String(signed)));
    expect(reformatted.equals(signed)).toBe(false);

    await refused(401, { body: reformatted, headers: { [SIGNATURE]: sign(signed) } });
  });

  it('keeps a delivery out whose header comes twice, even right both times', async () => {
    const body = eventBody(paymentObject());
    for (const second of [sign(body), 'a'.repeat(128)]) {
      const response = await send(tallyhook.webhookUrl, {
        headers: { [SIGNATURE]: [sign(body), second], 'Content-Length': body.length },
        chunks: [body],
      });
      expect(response.status).toBe(401);
    }
    expect(await countKept(db, body)).toBe(0);
  });
});

function reversedKeys(json: string): string {
  return JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(json)).reverse()));
}

describe('a request that is no proper request', () => {
  it('is refused when its headers are huge', async () => {
    const body = eventBody(paymentObject());
    const response = await send(tallyhook.webhookUrl, {
      headers: {
        [SIGNATURE]: sign(body),
        'Content-Length': body.length,
        // Beyond the limit, and read in one piece: a server that closes with bytes unread resets the
        // connection, and its answer may be lost with it.
        'X-Padding': 'x'.repeat(20 * 1024),
      },
      chunks: [body],
    });
    expect(response.status).toBe(431);
    expect(await countKept(db, body)).toBe(0);
  });

  it('is refused when the signature itself is huge', async () => {
    await refused(401, {
      body: eventBody(paymentObject()),
      headers: { [SIGNATURE]: 'a'.repeat(8 * 1024) },
    });
  });

  it.each(['end', 'reset'] as const)(
    'is kept nowhere when its body breaks off before its length: %s',
    async (how) => {
      const counter = 'tallyhook_webhooks_total{outcome="incomplete_body"}';
      const incompleteBefore = await readCounter(tallyhook, counter);
      const whole = eventBody(paymentObject());
      const part = whole.subarray(0, 50);
      const before = await countAll(db);
      const connection = await openConnection(tallyhook.webhookUrl);
      // The part is signed too, so that only its length speaks against it.
      connection.write(postHead({ 'Content-Length': whole.length, [SIGNATURE]: sign(part) }));
      connection.write(part);
      connection[how]();

      await waitFor(
        'the receiver to notice',
        async () => (await readCounter(tallyhook, counter)) > incompleteBefore,
      );
      expect(await countAll(db)).toBe(before);
    },
  );

  it('is kept nowhere when its chunks break off', async () => {
    const counter = 'tallyhook_webhooks_total{outcome="incomplete_body"}';
    const incompleteBefore = await readCounter(tallyhook, counter);
    const body = eventBody(paymentObject());
    const before = await countAll(db);
    const connection = await openConnection(tallyhook.webhookUrl);
    connection.write(postHead({ 'Transfer-Encoding': 'chunked', [SIGNATURE]: sign(body) }));
    connection.write(`${body.length.toString(16)}\r\n`);
    connection.write(body);
    // The body is whole, but the chunk of length 0 that says so never comes.
    connection.reset();

    await waitFor(
      'the receiver to notice',
      async () => (await readCounter(tallyhook, counter)) > incompleteBefore,
    );
    expect(await countAll(db)).toBe(before);
  });

  it('is refused when it sends more than its length', async () => {
    const whole = eventBody(paymentObject());
    const before = await countAll(db);
    const connection = await openConnection(tallyhook.webhookUrl);
    connection.write(postHead({ 'Content-Length': 50, [SIGNATURE]: sign(whole) }));
    connection.write(whole);
    // What lies beyond the length is taken for the next request, which is none.
    expect(await connection.rest()).toMatch(/^HTTP\/1\.1 40[01] /);
    expect(await countAll(db)).toBe(before);
  });

  it('is refused when it is no HTTP', async () => {
    const connection = await openConnection(tallyhook.webhookUrl);
    connection.write(Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 13, 10, 13, 10]));
    expect(await connection.rest()).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('a body in an unusual shape', () => {
  it('is refused at 2 MiB, though it is signed', async () => {
    const body = eventBody(paymentObject({ description: 'x'.repeat(2 * 1024 * 1024) }));
    await refused(413, { body, headers: { [SIGNATURE]: sign(body) } });
  });

  it('is refused when it is packed with gzip, though it is signed', async () => {
    const body = gzipSync(eventBody(paymentObject()));
    await refused(415, {
      body,
      headers: { [SIGNATURE]: sign(body), 'Content-Encoding': 'gzip' },
    });
  });

  it('is accepted in chunks, cut anywhere', async () => {
    const body = eventBody(paymentObject({ description: 'Größe 42 👟' }));
    const response = await send(tallyhook.webhookUrl, {
      headers: { [SIGNATURE]: sign(body) },
      // One byte at a time: every character of more than one byte is cut.
      chunks: [...body].map((byte) => Buffer.from([byte])),
    });
    expect(response.status).toBe(200);
    const row = await storedRow(db, body);
    await handled(db, row);
    expect(await findingsAbout(db, row)).toEqual([]);
  });

  it.each([
    'application/json',
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    'nonsense',
  ])('is kept as it came whatever its content type says: %s', async (contentType) => {
    const body = eventBody(paymentObject());
    const response = await tallyhook.deliver(body, {
      [SIGNATURE]: sign(body),
      'Content-Type': contentType,
    });
    expect(response.status).toBe(200);
    expect((await storedRow(db, body)).eventId).not.toBeNull();
  });

  it('is kept when it is empty, with and without a length', async () => {
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
    await handled(db, row);
    expect(await findingsAbout(db, row)).toEqual(['unreadable_event']);
  });
});

const DEPTH = 100_000;

/** An event as text, for JSON that JSON.stringify would not write. */
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
  ])('of %s beside the money does not hinder the money', async (_, deep) => {
    const paymentId = unique('pay');
    const row = await kept(
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
  ])('in place of %s is kept and reported', async (_, body, finding) => {
    const row = await kept(body);
    expect(await findingsAbout(db, row)).toEqual([finding]);
  });
});

describe('names that JavaScript gives a meaning to', () => {
  const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];

  it('pollute nothing as keys, at any depth', async () => {
    const poison = '{"polluted":"yes","event_id":"evt_x","merchant_id":"m"}';
    const paymentId = unique('pay');
    const keys = `"__proto__":${poison},"constructor":{"prototype":${poison}}`;
    const row = await kept(
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

  it('give no event id from a prototype', async () => {
    const row = await kept(
      Buffer.from(
        `{"__proto__":{"event_id":"${unique('evt')}","merchant_id":"${MERCHANT_ID}"},` +
          `"content":{"object":{"payment_id":"${unique('pay')}"}}}`,
      ),
    );
    expect(row).toMatchObject({ eventId: null, merchantId: null });
    expect(await findingsAbout(db, row)).toEqual(['unreadable_event']);
  });

  it('give no resource id from a prototype', async () => {
    const paymentId = unique('pay');
    const row = await kept(
      eventText(`{"__proto__":{"payment_id":"${paymentId}","status":"succeeded","amount":1}}`),
    );
    expect(await findingsAbout(db, row)).toEqual(['event_ignored']);
    expect(await resourceState(db, 'payment', paymentId)).toBeUndefined();
  });

  it.each(NAMES)('are ordinary words as labels: %s', async (name) => {
    const payment = paymentObject();
    const row = await kept(eventBody(payment, { eventType: name, contentType: name }));
    expect(await findingsAbout(db, row)).toEqual([]);
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      capturedMinor: 6540,
    });
  });

  it.each(NAMES)('are unknown statuses, kept as they were sent: %s', async (status) => {
    const payment = paymentObject({ status });
    const row = await kept(eventBody(payment));
    expect(await findingsAbout(db, row)).toEqual([]);
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      status,
      isDue: true,
      findings: ['unknown_status'],
    });
  });

  it.each(NAMES)('are ordinary ids: %s', async (name) => {
    const payment = paymentObject({ payment_id: name, metadata: { order_id: name } });
    const row = await kept(eventBody(payment, { eventId: name }));
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
    ['text with a thousands mark', '"6,540"'],
    ['digits that are not ASCII', '"٦٥٤٠"'],
    ['words', '"much"'],
    ['a truth value', 'true'],
    ['an array', '[6540]'],
    ['an object', '{"value":6540}'],
  ])('posts nothing, is reported and makes the resource due: %s', async (_, amount) => {
    for (const field of ['amount', 'amount_received', 'amount_capturable']) {
      const paymentId = unique('pay');
      const fields = { amount: '6540', amount_received: '6540', amount_capturable: '0' };
      const money = Object.entries({ ...fields, [field]: amount })
        .map(([name, value]) => `"${name}":${value}`)
        .join(',');
      const row = await kept(
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
  });

  it('that cannot be read leaves what is known of the resource as it is', async () => {
    const payment = paymentObject();
    await kept(eventBody(payment));

    const row = await kept(eventBody({ ...payment, amount_received: -1 }));

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
  ])('posts nothing in a currency that cannot be read: %s', async (_, currency) => {
    const paymentId = unique('pay');
    const row = await kept(
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
  ])('of a dispute is read to the last unit: %s', async (_, amount, amountMinor) => {
    const disputeId = unique('dp');
    const row = await kept(
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

describe('content that is not there', () => {
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
  ])('is kept and reported as ignored: %s', async (_, content) => {
    const body = JSON.stringify({
      merchant_id: MERCHANT_ID,
      event_id: unique('evt'),
      event_type: 'payment_succeeded',
      ...content,
    });
    const row = await kept(Buffer.from(body));
    expect(await findingsAbout(db, row)).toEqual(['event_ignored']);
  });
});

describe('text that PostgreSQL cannot hold', () => {
  const TEXTS = [
    ['NUL', 'a\u0000b'],
    ['a lone high surrogate', 'a\ud83d'],
    ['a lone low surrogate', '\udc5fb'],
    ['a pair cut in two by the length limit', `${'x'.repeat(499)}👟`],
    ['200 kB of it', 'x'.repeat(200_000)],
  ] as const;

  it.each(TEXTS)('is no hindrance in any free text of a payment: %s', async (_, text) => {
    const fields = ['unified_message', 'unified_code', 'error_code', 'capture_method', 'created'];
    for (const field of fields) {
      const payment = paymentObject({ [field]: text });
      await kept(eventBody(payment));
      expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
        status: 'succeeded',
      });
    }
  });

  it.each(TEXTS)('makes an unknown status of a status: %s', async (_, status) => {
    const payment = paymentObject({ status });
    await kept(eventBody(payment));
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      isDue: true,
      findings: ['unknown_status'],
    });
  });

  it.each(TEXTS)(
    'files a payment under its own id when it is the order id: %s',
    async (_, text) => {
      const payment = paymentObject({ metadata: { order_id: text } });
      await kept(eventBody(payment));
      expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
        orderKey: `payment:${payment.payment_id}`,
        capturedMinor: 6540,
      });
    },
  );

  it.each(TEXTS)('is no hindrance in the labels of an event: %s', async (_, text) => {
    const payment = paymentObject();
    const row = await kept(eventBody(payment, { eventType: text, contentType: text }));
    expect(row.eventType).toBeNull();
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      capturedMinor: 6540,
    });
    const ignored = await kept(eventBody({ other: 1 }, { eventType: text, contentType: text }));
    expect(await findingsAbout(db, ignored)).toEqual(['event_ignored']);
  });

  it.each(TEXTS)('makes an event foreign as its merchant id: %s', async (_, merchantId) => {
    const row = await kept(eventBody(paymentObject(), { merchantId }));
    expect(row.merchantId).toBeNull();
    expect(await findingsAbout(db, row)).toEqual(['foreign_merchant']);
  });

  it('is no hindrance in the texts of refunds, disputes and payouts', async () => {
    for (const [, text] of TEXTS) {
      const money = { amount: 100, currency: 'USD', status: 'succeeded' };
      await kept(
        eventBody({ refund_id: unique('ref'), payment_id: unique('pay'), ...money, reason: text }),
      );
      await kept(eventBody({ refund_id: unique('ref'), payment_id: text, ...money }));
      await kept(
        eventBody({ dispute_id: unique('dp'), payment_id: text, ...money, dispute_stage: text }),
      );
      await kept(
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

describe('ids of unusual length or letters', () => {
  it.each([
    ['letters of four bytes', '👟'.repeat(127)],
    ['255 characters', 'o'.repeat(255)],
    ['letters that need escaping', `'"; drop table orders; -- \\ %00 ../ {} $1 é`],
    ['digits alone', '12345678901234567890'],
  ])('name events, payments and orders as they are: %s', async (_, name) => {
    const row = await kept(
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

  it('name no order above 255 characters: the payment is its own order', async () => {
    const payment = paymentObject({ metadata: { order_id: 'o'.repeat(256) } });
    await kept(eventBody(payment));
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      orderKey: `payment:${payment.payment_id}`,
      capturedMinor: 6540,
    });
  });
});

describe('times that are no times', () => {
  it.each([
    ['a number', 1_793_527_200],
    ['a word', 'yesterday'],
    ['a day that does not exist', '2026-02-30T10:00:00Z'],
    ['the year 10000', '10000-01-01T00:00:00Z'],
    ['the end of the year 9999', '9999-12-31T23:59:59-23:59'],
    ['the first day and a zone before it', '1970-01-01T00:00:00+99:99'],
    ['the year 0', '0000-01-01T00:00:00Z'],
  ])('are no hindrance: %s', async (_, time) => {
    const payment = paymentObject({ modified_at: time, created: time, capture_before: time });
    const body = JSON.stringify({
      merchant_id: MERCHANT_ID,
      event_id: unique('evt'),
      event_type: 'payment_succeeded',
      content: { type: 'payment_details', object: payment },
      timestamp: time,
    });
    await kept(Buffer.from(body));
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      capturedMinor: 6540,
    });
  });
});

describe('an event that is not what it seems', () => {
  it('is kept beside the first when it is a second body under a known event id', async () => {
    const eventId = unique('evt');
    const first = eventBody(paymentObject(), { eventId });
    const second = eventBody(paymentObject(), { eventId });
    const row = await kept(first);
    expect((await tallyhook.deliver(second)).status).toBe(200);
    expect(await countKept(db, second)).toBe(1);
    await waitFor('the finding', async () => (await findingsAbout(db, row)).length > 0);
    expect(await findingsAbout(db, row)).toEqual(['event_id_reused']);
  });

  it("is kept and not applied when it is another merchant's", async () => {
    const payment = paymentObject();
    const row = await kept(eventBody(payment, { merchantId: 'merchant_other' }));
    expect(await findingsAbout(db, row)).toEqual(['foreign_merchant']);
    expect(await resourceState(db, 'payment', payment.payment_id)).toBeUndefined();
  });
});

it('leaves no event dead', async () => {
  await allHandled(db);
  expect(await deadErrors(db)).toEqual([]);
});
