/**
 * Signature vectors made with openssl, so that one mistake cannot be on both sides: neither the signatures
 * nor the bodies were produced by the project's code.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { countStored, countStoredBodies, storedRow } from './inbox.ts';

interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly body_base64: string;
  readonly hex: string;
  readonly base64: string;
}

const VECTORS = JSON.parse(
  readFileSync(new URL('../fixtures/signatures.json', import.meta.url), 'utf8'),
) as readonly Vector[];

/** The expected event id of each vector; null if the body has none. */
const EVENT_IDS: Readonly<Record<string, string | null>> = {
  compact: 'evt_1',
  'odd white space, CRLF, trailing newlines': 'evt_2',
  'non-ASCII, escapes, escaped slash': 'evt_3',
  'byte order mark, amount as string': 'evt_4',
  'largest safe integer, extra envelope field': 'evt_5',
  'signed but not JSON': null,
  'empty body': null,
  'invalid UTF-8': null,
  'unknown event and content type': 'evt_9',
};

const urlSafe = (base64: string) => base64.replaceAll('+', '-').replaceAll('/', '_');

const FORMS: readonly (readonly [string, (vector: Vector) => string])[] = [
  ['lower-case hexadecimal', ({ hex }) => hex],
  ['upper-case hexadecimal', ({ hex }) => hex.toUpperCase()],
  ['base64', ({ base64 }) => base64],
  ['base64url with padding', ({ base64 }) => urlSafe(base64)],
  ['base64url without padding', ({ base64 }) => urlSafe(base64).replaceAll('=', '')],
];

let db: TestDatabase;
let tallyhook: TestTallyhook;

beforeAll(async () => {
  db = await createTestDatabase();
  const secrets = new Set(VECTORS.map(({ secret }) => secret));
  tallyhook = await startTallyhook({
    db,
    roles: ['receiver'],
    env: { WEBHOOK_SECRETS: [...secrets].join(','), PAYMENTS_MERCHANT_ID: 'm_1' },
  });
});

afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

const deliver = (body: Buffer, signature: string) =>
  tallyhook.deliver(body, { 'X-Webhook-Signature-512': signature });

describe.each(VECTORS)('the vector "$name"', (vector) => {
  const body = Buffer.from(vector.body_base64, 'base64');

  it.each(FORMS)('is accepted with its signature in %s', async (_, form) => {
    const isKnown = (await countStored(db, body)) > 0;

    const response = await deliver(body, form(vector));

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      received: true,
      event_id: EVENT_IDS[vector.name],
      duplicate: isKnown,
    });
    // The row is found by its bytes in SQL, and the bytes are compared again after reading them.
    const row = await storedRow(db, body);
    expect(row.body.equals(body)).toBe(true);
    expect(row.eventId).toBe(EVENT_IDS[vector.name]);
  });

  it.each(FORMS)('is rejected with one flipped bit in its signature, in %s', async (_, form) => {
    const before = await countStoredBodies(db);
    for (const position of [0, 31, 63]) {
      const digest = Buffer.from(vector.hex, 'hex');
      digest[position] = (digest[position] ?? 0) ^ 1;
      const flipped = {
        ...vector,
        hex: digest.toString('hex'),
        base64: digest.toString('base64'),
      };

      expect((await deliver(body, form(flipped))).status).toBe(401);
    }
    expect(await countStoredBodies(db)).toBe(before);
  });

  it('is rejected with one flipped bit in its body, and the changed body is not stored', async () => {
    // The empty body has no bit to flip, so one byte is added.
    const positions = body.length === 0 ? [0] : [0, body.length >> 1, body.length - 1];
    for (const position of positions) {
      const altered = body.length === 0 ? Buffer.from(' ') : Buffer.from(body);
      altered[position] = (altered[position] ?? 0) ^ 1;

      expect((await deliver(altered, vector.hex)).status).toBe(401);
      expect(await countStored(db, altered)).toBe(0);
    }
  });

  it('is rejected with the signature of another vector', async () => {
    const other = VECTORS.find(({ hex }) => hex !== vector.hex);
    expect((await deliver(body, other?.hex ?? '')).status).toBe(401);
  });
});

it('has an expectation for every vector of the fixture', () => {
  expect(VECTORS.map(({ name }) => name).sort()).toEqual(Object.keys(EVENT_IDS).sort());
});
