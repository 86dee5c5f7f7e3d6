/** Every outcome of src/receiver/reply.ts: the response, what is stored, and what the ledger does with it. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, sign, unique } from '../support/events.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { startTcpProxy } from '../support/tcpProxy.ts';
import { waitFor } from '../support/waitFor.ts';
import {
  countSnapshots,
  countStored,
  countStoredBodies,
  deadErrors,
  findingsAbout,
  resourceState,
  rowsWithEventId,
  storedRow,
  untilAllApplied,
  untilApplied,
  variantsOf,
} from './inbox.ts';
import { openConnection, postHead, send } from './rawHttp.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;

beforeAll(async () => {
  db = await createTestDatabase();
  tallyhook = await startTallyhook({ db, roles: ['receiver', 'events'] });
});

afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

/** Delivers a body with a valid signature, expects 200, and returns the response body. */
async function acknowledged(body: Buffer): Promise<unknown> {
  const response = await tallyhook.deliver(body);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return response.json();
}

const reply = (eventId: string | null, duplicate: boolean) => ({
  received: true,
  event_id: eventId,
  duplicate,
});

describe('a new event', () => {
  it('is acknowledged, stored byte for byte and applied', async () => {
    const eventId = unique('evt');
    const payment = paymentObject({ metadata: { order_id: unique('ord') } });
    const body = eventBody(payment, { eventId });

    expect(await acknowledged(body)).toEqual(reply(eventId, false));

    const row = await storedRow(db, body);
    expect(row).toMatchObject({
      eventId,
      merchantId: 'merchant_test',
      eventType: 'payment_succeeded',
    });
    await untilApplied(db, row);
    expect(await findingsAbout(db, row)).toEqual([]);
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      status: 'succeeded',
      amountMinor: 6540,
      capturedMinor: 6540,
      isDue: false,
    });
  });
});

describe('a duplicate delivery', () => {
  it('is acknowledged as a duplicate, stored once and applied once', async () => {
    const eventId = unique('evt');
    const payment = paymentObject();
    const body = eventBody(payment, { eventId });
    await acknowledged(body);

    expect(await acknowledged(body)).toEqual(reply(eventId, true));
    expect(await acknowledged(body)).toEqual(reply(eventId, true));

    const row = await storedRow(db, body);
    await untilApplied(db, row);
    expect(await variantsOf(db, row)).toEqual([]);
    expect(await findingsAbout(db, row)).toEqual([]);
    expect(await countSnapshots(db, payment.payment_id)).toBe(1);
  });
});

describe('another body with a known event id', () => {
  const asTexts = (bodies: readonly Buffer[]) => bodies.map(String).sort();

  it('is stored as a variant of the first, and schedules a check of the resource', async () => {
    const eventId = unique('evt');
    const payment = paymentObject();
    const first = eventBody(payment, { eventId });
    const other = eventBody({ ...payment, amount: 1, amount_received: 1 }, { eventId });
    await acknowledged(first);
    const row = await storedRow(db, first);
    await untilApplied(db, row);
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({ isDue: false });

    expect(await acknowledged(other)).toEqual(reply(eventId, false));

    expect(await rowsWithEventId(db, eventId)).toEqual([row]);
    expect(await variantsOf(db, row)).toEqual([other]);
    await waitFor('the finding', async () => (await findingsAbout(db, row)).length > 0);
    expect(await findingsAbout(db, row)).toEqual(['event_id_reused']);
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      amountMinor: 6540,
      capturedMinor: 6540,
      isDue: true,
    });
    expect(await countSnapshots(db, payment.payment_id)).toBe(1);
  });

  it('schedules a check of what it is about, if that is something else', async () => {
    const eventId = unique('evt');
    const first = eventBody(paymentObject(), { eventId });
    const payment = paymentObject();
    const refund = { refund_id: unique('ref'), payment_id: payment.payment_id, status: 'failed' };
    await acknowledged(first);
    await acknowledged(eventBody(payment, { eventId }));
    await acknowledged(eventBody(refund, { eventId, contentType: 'refund_details' }));
    await acknowledged(eventBody(paymentObject(), { eventId, merchantId: 'another' }));
    for (const [kind, id] of [
      ['payment', payment.payment_id],
      ['refund', refund.refund_id],
    ] as const) {
      await waitFor(
        `the check of ${id}`,
        async () => (await resourceState(db, kind, id))?.isDue === true,
      );
      expect(await countSnapshots(db, id)).toBe(0);
    }
    const row = await storedRow(db, first);
    await untilApplied(db, row);
    expect(await findingsAbout(db, row)).toEqual(['event_id_reused']);
  });

  it('is stored once regardless of how often it is delivered, and so is each further body', async () => {
    const eventId = unique('evt');
    const bodies = [6540, 1, 2].map((amount) => eventBody(paymentObject({ amount }), { eventId }));
    const [first = Buffer.alloc(0), ...others] = bodies;
    await acknowledged(first);
    for (const other of [...others, ...others]) {
      expect(await acknowledged(other)).toEqual(reply(eventId, false));
    }

    expect(await acknowledged(first)).toEqual(reply(eventId, true));
    const variants = await variantsOf(db, await storedRow(db, first));
    expect(asTexts(variants)).toEqual(asTexts(others));
  });

  it('is stored even if both arrive at the same time', async () => {
    const eventId = unique('evt');
    const bodies = [1, 2, 3].map((amount) => eventBody(paymentObject({ amount }), { eventId }));

    const replies = await Promise.all(bodies.map(acknowledged));

    expect(replies).toEqual(bodies.map(() => reply(eventId, false)));
    const [row] = await rowsWithEventId(db, eventId);
    if (!row) throw new Error('nothing was stored');
    const kept = [row.body, ...(await variantsOf(db, row))];
    expect(asTexts(kept)).toEqual(asTexts(bodies));
    await waitFor('the finding', async () => (await findingsAbout(db, row)).length > 0);
    expect(await findingsAbout(db, row)).toEqual(['event_id_reused']);
  });
});

describe("another merchant's event", () => {
  it.each([
    ['another merchant id', { merchant_id: 'merchant_other' }],
    ['no merchant id', {}],
    ['a merchant id that is no text', { merchant_id: 7 }],
  ])('with %s is acknowledged and stored, and not applied', async (_, merchant) => {
    const eventId = unique('evt');
    const payment = paymentObject();
    const body = Buffer.from(
      JSON.stringify({
        ...merchant,
        event_id: eventId,
        event_type: 'payment_succeeded',
        content: { type: 'payment_details', object: payment },
        timestamp: '2026-11-01T10:00:00.000Z',
      }),
    );

    expect(await acknowledged(body)).toEqual(reply(eventId, false));

    const row = await storedRow(db, body);
    await untilApplied(db, row);
    expect(await findingsAbout(db, row)).toEqual(['foreign_merchant']);
    expect(await resourceState(db, 'payment', payment.payment_id)).toBeUndefined();
  });
});

describe("another merchant's object in an event of this account", () => {
  it.each([
    ['another merchant id', 'merchant_other'],
    ['a merchant id that is no text', 7],
    ['a merchant id that is no id', 'merchant\u0000other'],
  ])('with %s is acknowledged and stored, and not applied', async (_, merchantId) => {
    const eventId = unique('evt');
    const payment = paymentObject({ merchant_id: merchantId });
    const body = eventBody(payment, { eventId });

    expect(await acknowledged(body)).toEqual(reply(eventId, false));

    const row = await storedRow(db, body);
    await untilApplied(db, row);
    expect(await findingsAbout(db, row)).toEqual(['foreign_merchant']);
    expect(await resourceState(db, 'payment', payment.payment_id)).toBeUndefined();
  });

  it.each([
    ['a mandate', 'mandate_active', 'mandate_details', { mandate_id: 'man_1' }],
    ['an unknown resource', 'thing_created', 'thing_details', { thing_id: 'thing_1' }],
  ])('is a finding if it is %s', async (_, eventType, contentType, object) => {
    const body = eventBody(
      { ...object, merchant_id: 'merchant_other' },
      { eventType, contentType },
    );
    await acknowledged(body);
    const row = await storedRow(db, body);
    await untilApplied(db, row);
    expect(await findingsAbout(db, row)).toEqual(['foreign_merchant']);
  });

  it.each([
    ['the id of this account', MERCHANT_ID],
    ['null', null],
    ['empty text', ''],
  ])('is not assumed if its merchant id is %s', async (_, merchantId) => {
    const payment = paymentObject({ merchant_id: merchantId });
    const body = eventBody(payment);
    await acknowledged(body);
    const row = await storedRow(db, body);
    await untilApplied(db, row);
    expect(await findingsAbout(db, row)).toEqual([]);
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      capturedMinor: 6540,
    });
  });
});

/** A body with this `event_id`, different from every other body. */
const bodyWithEventId = (eventId: unknown): Buffer =>
  Buffer.from(
    JSON.stringify({
      merchant_id: 'merchant_test',
      event_id: eventId,
      event_type: 'payment_succeeded',
      content: { type: 'payment_details', object: paymentObject() },
    }),
  );

describe('a signed body without a usable envelope', () => {
  it.each<[string, Buffer]>([
    ['text that is not JSON', Buffer.from('not json at all')],
    ['truncated JSON', bodyWithEventId('evt_cut').subarray(0, 60)],
    ['a JSON array', Buffer.from('["event_id"]')],
    ['a JSON string', Buffer.from('"event_id"')],
    ['a JSON null', Buffer.from('null')],
    ['an empty body', Buffer.alloc(0)],
    ['white space alone', Buffer.from(' \n')],
    ['a zero byte', Buffer.from([0])],
    ['no event_id', bodyWithEventId(undefined)],
    ['an event_id that is null', bodyWithEventId(null)],
    ['an event_id that is a number', bodyWithEventId(17)],
    ['an event_id that is an object', bodyWithEventId({ event_id: 'evt_inner' })],
    ['an event_id that is empty', bodyWithEventId('')],
    ['an event_id of spaces', bodyWithEventId('   ')],
    ['an event_id of 256 characters', bodyWithEventId('e'.repeat(256))],
    ['an event_id of 3 kB', bodyWithEventId('e'.repeat(3_000))],
    ['an event_id with NUL', bodyWithEventId('evt\u0000')],
    ['an event_id with a line break', bodyWithEventId('evt\nfollows')],
    ['an event_id with an escape character', bodyWithEventId('evt\u001b[31m')],
    ['an event_id with a C1 control character', bodyWithEventId('evt\u0085x')],
    ['an event_id with a lone surrogate', bodyWithEventId('evt\ud800x')],
    [
      'invalid UTF-8',
      Buffer.concat([
        bodyWithEventId('evt_latin1').subarray(0, -1),
        Buffer.from(',"a":"\xe9"}', 'latin1'),
      ]),
    ],
    ['UTF-16', Buffer.from(bodyWithEventId('evt_utf16').toString(), 'utf16le')],
  ])('is stored unchanged and becomes a finding: %s', async (_, body) => {
    expect(await acknowledged(body)).toEqual(reply(null, false));
    expect(await acknowledged(body)).toEqual(reply(null, true));

    const row = await storedRow(db, body);
    expect(row.body.equals(body)).toBe(true);
    expect(row).toMatchObject({ eventId: null, merchantId: null, eventType: null });
    await untilApplied(db, row);
    expect(await findingsAbout(db, row)).toEqual(['unreadable_event']);
  });

  it('does not include a body with an event_id of 255 characters', async () => {
    const eventId = unique('evt').padEnd(255, '-');
    const body = eventBody(paymentObject(), { eventId });
    expect(await acknowledged(body)).toEqual(reply(eventId, false));
  });
});

describe('an unknown event type or content type', () => {
  it.each([
    ['event type', { eventType: 'payment_teleported' }],
    ['content type', { contentType: 'teleport_details' }],
  ])('is applied by the ids in its content: %s', async (_, labels) => {
    const payment = paymentObject();
    const body = eventBody(payment, labels);
    await acknowledged(body);

    const row = await storedRow(db, body);
    await untilApplied(db, row);
    expect(await findingsAbout(db, row)).toEqual([]);
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      capturedMinor: 6540,
    });
  });

  it('is stored, with a finding that it is ignored, if it has no known id', async () => {
    const body = eventBody(
      { loyalty_id: unique('loy'), status: 'active' },
      { eventType: 'loyalty_points_earned', contentType: 'loyalty_details' },
    );
    await acknowledged(body);

    const row = await storedRow(db, body);
    await untilApplied(db, row);
    expect(await findingsAbout(db, row)).toEqual(['event_ignored']);
  });
});

describe('a delivery without a valid signature', () => {
  const HEX = 'a'.repeat(128);
  const MISSING = 'The header X-Webhook-Signature-512 is missing.';
  const MALFORMED = 'The header X-Webhook-Signature-512 is not 64 bytes of hexadecimal or base64.';
  const MISMATCH = 'The header X-Webhook-Signature-512 does not match the bytes of the body.';

  it.each<[string, Record<string, string>, string]>([
    ['without the header', {}, MISSING],
    ['with an empty header', { 'X-Webhook-Signature-512': '' }, MISSING],
    ['with the signature under another name', { 'X-Webhook-Signature': HEX }, MISSING],
    ['with a signature that is too short', { 'X-Webhook-Signature-512': 'abcdef' }, MALFORMED],
    ['with a signature that is too long', { 'X-Webhook-Signature-512': `${HEX}aa` }, MALFORMED],
    ['with a prefixed signature', { 'X-Webhook-Signature-512': `sha512=${HEX}` }, MALFORMED],
    ['with a signature that is not ASCII', { 'X-Webhook-Signature-512': '\u00ff' }, MALFORMED],
    ['with a wrong signature', { 'X-Webhook-Signature-512': HEX }, MISMATCH],
  ])('is rejected %s, and nothing is stored', async (_, headers, message) => {
    const body = eventBody(paymentObject());
    const before = await countStoredBodies(db);

    const response = await tallyhook.deliver(body, headers);

    expect(response.status).toBe(401);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual({
      error: { type: 'authentication_error', code: 'AU_01', message },
    });
    expect(await countStoredBodies(db)).toBe(before);
  });

  it('is rejected if it is signed with an unknown secret', async () => {
    const body = eventBody(paymentObject());
    const signature = sign(body, 'another-secret-0123456789abcdefghijkl');

    const response = await tallyhook.deliver(body, { 'X-Webhook-Signature-512': signature });

    expect(response.status).toBe(401);
    expect(await countStored(db, body)).toBe(0);
  });
});

describe('a body that is too large', () => {
  const body = eventBody({ ...paymentObject(), description: 'x'.repeat(2 * 1024 * 1024) });
  const TOO_LARGE = {
    error: {
      type: 'invalid_request',
      code: 'IR_04',
      message: 'The body is larger than this receiver accepts.',
    },
  };

  it.each([
    ['with a Content-Length', { 'Content-Length': body.length }],
    ['in chunks', {}],
  ])('is rejected with 413, sent %s, even with a valid signature', async (_, length) => {
    const chunks: Buffer[] = [];
    for (let at = 0; at < body.length; at += 65_536) chunks.push(body.subarray(at, at + 65_536));

    const response = await send(tallyhook.webhookUrl, {
      headers: { 'X-Webhook-Signature-512': sign(body), ...length },
      chunks,
    });

    expect(response.status).toBe(413);
    expect(JSON.parse(response.body)).toEqual(TOO_LARGE);
    expect(await countStored(db, body)).toBe(0);
  });

  it('does not break its connection for the events that follow', async () => {
    const ordinary = eventBody(paymentObject());
    const connection = await openConnection(tallyhook.webhookUrl);
    connection.write(
      postHead({ 'Content-Length': body.length, 'X-Webhook-Signature-512': sign(body) }),
    );
    connection.write(body);
    connection.write(
      postHead({
        'Content-Length': ordinary.length,
        'X-Webhook-Signature-512': sign(ordinary),
        Connection: 'close',
      }),
    );
    connection.write(ordinary);

    const replies = (await connection.received()).match(/HTTP\/1\.1 \d+/g);

    expect(replies).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
    expect(await countStored(db, ordinary)).toBe(1);
  });

  it('is one byte above the limit', async () => {
    const limit = 1024 * 1024;
    const padded = (length: number) => {
      const bare = eventBody(paymentObject({ description: '' }));
      return Buffer.from(
        String(bare).replace('"description":""', (field) =>
          field.replace('""', `"${'x'.repeat(length - bare.length)}"`),
        ),
      );
    };
    const largest = padded(limit);
    const larger = padded(limit + 1);
    expect([largest.length, larger.length]).toEqual([limit, limit + 1]);

    expect((await tallyhook.deliver(largest)).status).toBe(200);
    expect((await tallyhook.deliver(larger)).status).toBe(413);

    expect((await storedRow(db, largest)).body.equals(largest)).toBe(true);
    expect(await countStored(db, larger)).toBe(0);
  });
});

describe('a body with Content-Encoding', () => {
  it.each(['gzip', 'deflate', 'br', 'zstd', 'GZIP'])(
    'is rejected with 415: %s',
    async (encoding) => {
      const plain = eventBody(paymentObject());
      const packed = gzipSync(plain);
      for (const signed of [plain, packed]) {
        const response = await tallyhook.deliver(packed, {
          'Content-Encoding': encoding,
          'X-Webhook-Signature-512': sign(signed),
        });

        expect(response.status).toBe(415);
        expect(await response.json()).toEqual({
          error: {
            type: 'invalid_request',
            code: 'IR_04',
            message: 'Send the body as signed, without Content-Encoding.',
          },
        });
      }
      expect(await countStored(db, plain)).toBe(0);
      expect(await countStored(db, packed)).toBe(0);
    },
  );

  it('is accepted unchanged if the encoding is "identity"', async () => {
    const body = eventBody(paymentObject());
    const response = await tallyhook.deliver(body, {
      'Content-Encoding': 'identity',
      'X-Webhook-Signature-512': sign(body),
    });
    expect(response.status).toBe(200);
    expect(await countStored(db, body)).toBe(1);
  });
});

describe('a request with another method or path', () => {
  it.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'is rejected with 405 and the method to use: %s',
    async (method) => {
      const body = method === 'GET' ? undefined : new Uint8Array(eventBody(paymentObject()));
      const response = await fetch(tallyhook.webhookUrl, { method, body: body ?? null });

      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
      expect(await response.json()).toEqual({
        error: {
          type: 'invalid_request',
          code: 'IR_04',
          message: 'Send events by POST.',
        },
      });
    },
  );

  it('is rejected with 405 without a body for HEAD', async () => {
    const response = await fetch(tallyhook.webhookUrl, { method: 'HEAD' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  it('is rejected with 404 and the path to use, and a signed event is not stored', async () => {
    const body = eventBody(paymentObject());
    const response = await fetch(new URL('/webhook', tallyhook.webhookUrl), {
      method: 'POST',
      headers: { 'X-Webhook-Signature-512': sign(body) },
      body: new Uint8Array(body),
    });

    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: {
        type: 'invalid_request',
        code: 'IR_05',
        message: 'There is nothing at /webhook. Send events to /webhooks.',
      },
    });
    expect(await countStored(db, body)).toBe(0);
  });
});

describe('while the database is unavailable', () => {
  it('no event is acknowledged; events are accepted again as soon as it is available', async () => {
    const ownDb = await createTestDatabase();
    const proxy = await startTcpProxy(ownDb.url);
    const receiver = await startTallyhook({ db: { url: proxy.url }, roles: ['receiver'] });
    const readyz = () => fetch(new URL('/readyz', receiver.healthUrl));
    try {
      const [before, during] = [eventBody(paymentObject()), eventBody(paymentObject())];
      expect((await receiver.deliver(before)).status).toBe(200);
      expect((await readyz()).status).toBe(200);

      proxy.refuse();
      const response = await receiver.deliver(during);

      expect(response.status).toBe(503);
      const retryAfterSeconds = Number(response.headers.get('retry-after'));
      expect(retryAfterSeconds).toBeGreaterThanOrEqual(5);
      expect(retryAfterSeconds).toBeLessThanOrEqual(60);
      expect(await response.json()).toEqual({
        error: {
          type: 'api_error',
          code: 'HE_00',
          message: 'The event was not confirmed as stored. Send it again later.',
        },
      });
      expect(await countStoredBodies(ownDb)).toBe(1);
      const unready = await readyz();
      expect(unready.status).toBe(503);
      expect(await unready.json()).toMatchObject({
        ready: false,
        checks: { database: 'unavailable' },
      });
      expect((await fetch(new URL('/healthz', receiver.healthUrl))).status).toBe(200);

      await proxy.resume();
      await waitFor('the event to be accepted', async () => {
        const again = await receiver.deliver(during);
        return again.status === 200;
      });
      expect(await countStored(ownDb, during)).toBe(1);
      await waitFor('the receiver to be ready', async () => (await readyz()).status === 200);
    } finally {
      await receiver.close();
      await proxy.close();
      await ownDb.drop();
    }
  });
});

it('no event is dead', async () => {
  await untilAllApplied(db);
  expect(await deadErrors(db)).toEqual([]);
});
