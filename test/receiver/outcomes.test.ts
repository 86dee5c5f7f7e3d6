/** Every row of the outcome table: what the sender is told, what is kept, and what comes of it. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, sign, unique } from '../support/events.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { startTcpProxy } from '../support/tcpProxy.ts';
import { waitFor } from '../support/waitFor.ts';
import {
  allHandled,
  countAll,
  countKept,
  countSnapshots,
  deadErrors,
  findingsAbout,
  handled,
  resourceState,
  rowsWithEventId,
  storedRow,
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

/** Delivers a body with its right signature, expects 200, and returns the reply. */
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
  it('is acknowledged, kept byte for byte and applied', async () => {
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
    await handled(db, row);
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
  it('is acknowledged as one, stored once and applied once', async () => {
    const eventId = unique('evt');
    const payment = paymentObject();
    const body = eventBody(payment, { eventId });
    await acknowledged(body);

    expect(await acknowledged(body)).toEqual(reply(eventId, true));
    expect(await acknowledged(body)).toEqual(reply(eventId, true));

    const row = await storedRow(db, body);
    await handled(db, row);
    expect(await variantsOf(db, row)).toEqual([]);
    expect(await findingsAbout(db, row)).toEqual([]);
    expect(await countSnapshots(db, payment.payment_id)).toBe(1);
  });
});

describe('another body under a known event id', () => {
  const asTexts = (bodies: readonly Buffer[]) => bodies.map(String).sort();

  it('is kept beside the first, which stays the event, and makes the resource due', async () => {
    const eventId = unique('evt');
    const payment = paymentObject();
    const first = eventBody(payment, { eventId });
    const other = eventBody({ ...payment, amount: 1, amount_received: 1 }, { eventId });
    await acknowledged(first);
    const row = await storedRow(db, first);
    await handled(db, row);
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

  it('is kept once however often it comes, and so is each further one', async () => {
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

  it('is kept too when both arrive at once', async () => {
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
  ])('with %s is acknowledged and kept, and not applied', async (_, merchant) => {
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
    await handled(db, row);
    expect(await findingsAbout(db, row)).toEqual(['foreign_merchant']);
    expect(await resourceState(db, 'payment', payment.payment_id)).toBeUndefined();
  });
});

/** A signed body whose `event_id` is as given; each body is another one. */
const named = (eventId: unknown): Buffer =>
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
    ['JSON that breaks off', named('evt_cut').subarray(0, 60)],
    ['a JSON array', Buffer.from('["event_id"]')],
    ['a JSON string', Buffer.from('"event_id"')],
    ['a JSON null', Buffer.from('null')],
    ['an empty body', Buffer.alloc(0)],
    ['white space alone', Buffer.from(' \n')],
    ['a zero byte', Buffer.from([0])],
    ['no event_id', named(undefined)],
    ['an event_id that is null', named(null)],
    ['an event_id that is a number', named(17)],
    ['an event_id that is an object', named({ event_id: 'evt_inner' })],
    ['an event_id that is empty', named('')],
    ['an event_id of spaces', named('   ')],
    ['an event_id of 256 characters', named('e'.repeat(256))],
    ['an event_id of 3 kB', named('e'.repeat(3_000))],
    ['an event_id with NUL', named('evt\u0000')],
    ['an event_id with a line break', named('evt\nfollows')],
    ['an event_id with an escape character', named('evt\u001b[31m')],
    ['an event_id with a C1 control character', named('evt\u0085x')],
    ['an event_id with a lone surrogate', named('evt\ud800x')],
    [
      'invalid UTF-8',
      Buffer.concat([named('evt_latin1').subarray(0, -1), Buffer.from(',"a":"\xe9"}', 'latin1')]),
    ],
    ['UTF-16', Buffer.from(named('evt_utf16').toString(), 'utf16le')],
  ])('is kept whole and reported: %s', async (_, body) => {
    expect(await acknowledged(body)).toEqual(reply(null, false));
    expect(await acknowledged(body)).toEqual(reply(null, true));

    const row = await storedRow(db, body);
    expect(row.body.equals(body)).toBe(true);
    expect(row).toMatchObject({ eventId: null, merchantId: null, eventType: null });
    await handled(db, row);
    expect(await findingsAbout(db, row)).toEqual(['unreadable_event']);
  });

  it('is not taken for one when its event_id has 255 characters', async () => {
    const eventId = unique('evt').padEnd(255, '-');
    const body = eventBody(paymentObject(), { eventId });
    expect(await acknowledged(body)).toEqual(reply(eventId, false));
  });
});

describe('an unknown event type or content type', () => {
  it.each([
    ['event type', { eventType: 'payment_teleported' }],
    ['content type', { contentType: 'teleport_details' }],
  ])('is applied by the ids that it carries: %s', async (_, labels) => {
    const payment = paymentObject();
    const body = eventBody(payment, labels);
    await acknowledged(body);

    const row = await storedRow(db, body);
    await handled(db, row);
    expect(await findingsAbout(db, row)).toEqual([]);
    expect(await resourceState(db, 'payment', payment.payment_id)).toMatchObject({
      capturedMinor: 6540,
    });
  });

  it('is kept and reported as ignored when it carries no id that the ledger knows', async () => {
    const body = eventBody(
      { loyalty_id: unique('loy'), status: 'active' },
      { eventType: 'loyalty_points_earned', contentType: 'loyalty_details' },
    );
    await acknowledged(body);

    const row = await storedRow(db, body);
    await handled(db, row);
    expect(await findingsAbout(db, row)).toEqual(['event_ignored']);
  });
});

describe('a delivery that is not signed', () => {
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
    ['with a signature that is no text', { 'X-Webhook-Signature-512': '\u00ff' }, MALFORMED],
    ['with a wrong signature', { 'X-Webhook-Signature-512': HEX }, MISMATCH],
  ])('is refused %s, and nothing of it is kept', async (_, headers, message) => {
    const body = eventBody(paymentObject());
    const before = await countAll(db);

    const response = await tallyhook.deliver(body, headers);

    expect(response.status).toBe(401);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual({
      error: { type: 'authentication_error', code: 'AU_01', message },
    });
    expect(await countAll(db)).toBe(before);
  });

  it('is refused when it is signed with a secret that is not ours', async () => {
    const body = eventBody(paymentObject());
    const signature = sign(body, 'another-secret-0123456789abcdef');

    const response = await tallyhook.deliver(body, { 'X-Webhook-Signature-512': signature });

    expect(response.status).toBe(401);
    expect(await countKept(db, body)).toBe(0);
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
  ])('is refused with 413, sent %s, though it is signed', async (_, length) => {
    const chunks: Buffer[] = [];
    for (let at = 0; at < body.length; at += 65_536) chunks.push(body.subarray(at, at + 65_536));

    const response = await send(tallyhook.webhookUrl, {
      headers: { 'X-Webhook-Signature-512': sign(body), ...length },
      chunks,
    });

    expect(response.status).toBe(413);
    expect(JSON.parse(response.body)).toEqual(TOO_LARGE);
    expect(await countKept(db, body)).toBe(0);
  });

  it('leaves its connection to the events that follow', async () => {
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

    const replies = (await connection.rest()).match(/HTTP\/1\.1 \d+/g);

    expect(replies).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
    expect(await countKept(db, ordinary)).toBe(1);
  });

  it('begins one byte above the limit', async () => {
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
    expect(await countKept(db, larger)).toBe(0);
  });
});

describe('a body with Content-Encoding', () => {
  it.each(['gzip', 'deflate', 'br', 'zstd', 'GZIP'])(
    'is refused with 415: %s',
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
      expect(await countKept(db, plain)).toBe(0);
      expect(await countKept(db, packed)).toBe(0);
    },
  );

  it('is accepted as it is when the encoding is "identity"', async () => {
    const body = eventBody(paymentObject());
    const response = await tallyhook.deliver(body, {
      'Content-Encoding': 'identity',
      'X-Webhook-Signature-512': sign(body),
    });
    expect(response.status).toBe(200);
    expect(await countKept(db, body)).toBe(1);
  });
});

describe('another method or path', () => {
  it.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'is told that events are sent by POST: %s',
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

  it('answers HEAD without a body', async () => {
    const response = await fetch(tallyhook.webhookUrl, { method: 'HEAD' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  it('is told where events go, and a signed event sent there is not kept', async () => {
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
    expect(await countKept(db, body)).toBe(0);
  });
});

describe('while the database is away', () => {
  it('no event is acknowledged, and events are taken again as soon as it is back', async () => {
    const ownDb = await createTestDatabase();
    const wire = await startTcpProxy(ownDb.url);
    const receiver = await startTallyhook({ db: { url: wire.url }, roles: ['receiver'] });
    const readyz = () => fetch(new URL('/readyz', receiver.healthUrl));
    try {
      const [before, during] = [eventBody(paymentObject()), eventBody(paymentObject())];
      expect((await receiver.deliver(before)).status).toBe(200);
      expect((await readyz()).status).toBe(200);

      wire.refuse();
      const response = await receiver.deliver(during);

      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('5');
      expect(await response.json()).toEqual({
        error: {
          type: 'api_error',
          code: 'HE_00',
          message: 'The event could not be stored. Send it again later.',
        },
      });
      expect(await countAll(ownDb)).toBe(1);
      const unready = await readyz();
      expect(unready.status).toBe(503);
      expect(await unready.json()).toMatchObject({
        ready: false,
        checks: { database: 'unavailable' },
      });
      expect((await fetch(new URL('/healthz', receiver.healthUrl))).status).toBe(200);

      await wire.resume();
      await waitFor('the event to be taken', async () => {
        const again = await receiver.deliver(during);
        return again.status === 200;
      });
      expect(await countKept(ownDb, during)).toBe(1);
      await waitFor('the receiver to be ready', async () => (await readyz()).status === 200);
    } finally {
      await receiver.close();
      await wire.close();
      await ownDb.drop();
    }
  });
});

it('leaves no event dead', async () => {
  await allHandled(db);
  expect(await deadErrors(db)).toEqual([]);
});
