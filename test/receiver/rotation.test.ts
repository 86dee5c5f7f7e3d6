/**
 * Secrets are rotated without an interruption: while two are set, either verifies, and the metrics show
 * when the old one is no longer used.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatFingerprint, secretFingerprint } from '../../src/platform/secretFingerprint.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, SECRET, sign } from '../support/events.ts';
import { openPages } from '../support/pages.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { metricsUrl, readCounter, readMetrics } from './counters.ts';
import { countStored } from './inbox.ts';

const NEW_SECRET = 'new-secret-0123456789abcdefghijkl';
const REMOVED_SECRET = 'removed-secret-0123456789abcdefghijkl';

let db: TestDatabase;
let tallyhook: TestTallyhook;

beforeAll(async () => {
  db = await createTestDatabase();
  tallyhook = await startTallyhook({
    db,
    roles: ['receiver', 'console'],
    env: { WEBHOOK_SECRETS: `${NEW_SECRET},${SECRET}` },
  });
});

afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

const deliver = (body: Buffer, secret: string) =>
  tallyhook.deliver(body, { 'X-Webhook-Signature-512': sign(body, secret) });

const usesOf = (position: number) =>
  readCounter(tallyhook, `tallyhook_webhook_secret_used_total{secret="${position}"}`);

const countOf = (outcome: string) =>
  readCounter(tallyhook, `tallyhook_webhooks_total{outcome="${outcome}"}`);

describe('two secrets', () => {
  it.each([
    ['the new one', NEW_SECRET],
    ['the old one', SECRET],
  ])('verify either: %s', async (_, secret) => {
    const body = eventBody(paymentObject());
    expect((await deliver(body, secret)).status).toBe(200);
    expect(await countStored(db, body)).toBe(1);
  });

  it('verify neither a third secret nor the two joined', async () => {
    for (const secret of [REMOVED_SECRET, `${NEW_SECRET},${SECRET}`]) {
      const body = eventBody(paymentObject());
      expect((await deliver(body, secret)).status).toBe(401);
      expect(await countStored(db, body)).toBe(0);
    }
  });

  it('make an event a duplicate that was delivered before with the other secret', async () => {
    const body = eventBody(paymentObject());
    expect(await (await deliver(body, SECRET)).json()).toMatchObject({ duplicate: false });
    expect(await (await deliver(body, NEW_SECRET)).json()).toMatchObject({ duplicate: true });
  });

  it('leave their fingerprints on events, which a change of their order does not change', async () => {
    const [withNew, withOld] = [eventBody(paymentObject()), eventBody(paymentObject())];
    await deliver(withNew, NEW_SECRET);
    await deliver(withOld, SECRET);
    // The first delivery counts.
    await deliver(withOld, NEW_SECRET);
    const eventIdOf = (body: Buffer): string => JSON.parse(String(body)).event_id;
    const listed = await fetch(`http://127.0.0.1:${tallyhook.consolePort}/api/v1/events`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    const { events } = await listed.json();
    const secretOf = (body: Buffer) =>
      events.find((one: { readonly event_id: string }) => one.event_id === eventIdOf(body)).secret;
    const fingerprints = [secretOf(withNew), secretOf(withOld)];
    expect(fingerprints).toEqual(
      [NEW_SECRET, SECRET].map((secret) => formatFingerprint(secretFingerprint(secret))),
    );
    expect(new Set(fingerprints).size).toBe(2);

    const env = { WEBHOOK_SECRETS: `${SECRET},${NEW_SECRET}` };
    const { stdout } = await runTallyhook(['settings'], { env });
    expect(stdout).toContain(`fingerprints ${fingerprints.toReversed().join(', ')}`);
    const pages = await openPages(tallyhook);
    for (const path of [`/inbox/${eventIdOf(withOld)}`, '/system/settings']) {
      const { html } = await pages.get(path);
      expect(html).toContain(fingerprints[1]);
      expect(html).not.toContain(SECRET);
    }
    const columns = await db.query(
      `select pg_column_size(secret_fingerprint) as bytes from webhook_events limit 1`,
    );
    expect(columns).toEqual([{ bytes: 4 }]);
  });

  it('are counted by their position in the list', async () => {
    const [first, second] = [await usesOf(1), await usesOf(2)];

    await deliver(eventBody(paymentObject()), NEW_SECRET);
    await deliver(eventBody(paymentObject()), SECRET);
    await deliver(eventBody(paymentObject()), SECRET);
    await deliver(eventBody(paymentObject()), REMOVED_SECRET);

    expect([await usesOf(1), await usesOf(2)]).toEqual([first + 1, second + 2]);
  });
});

describe('the metrics page', () => {
  it.each<[string, Record<string, string>]>([
    ['no token', {}],
    ['a wrong token', { authorization: 'Bearer wrong-token-0123456789abcdef' }],
    ['half of the token', { authorization: `Bearer ${ADMIN_TOKEN.slice(0, 12)}` }],
    ['the token without its scheme', { authorization: ADMIN_TOKEN }],
    ['the webhook secret', { authorization: `Bearer ${SECRET}` }],
  ])('is rejected with %s', async (_, headers) => {
    const response = await fetch(metricsUrl(tallyhook), { headers });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({
      error: {
        type: 'authentication_error',
        code: 'AU_01',
        message:
          'Send a valid token: Authorization: Bearer <token>. `tallyhook tokens create` creates one.',
      },
    });
  });

  it('is not served on the public port', async () => {
    const response = await fetch(new URL('/metrics', tallyhook.webhookUrl), {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    expect(response.status).toBe(404);
  });

  it('counts deliveries by their outcome', async () => {
    const signature = (body: Buffer) => ({ 'X-Webhook-Signature-512': sign(body) });
    const body = eventBody(paymentObject());
    const eventId = JSON.parse(String(body)).event_id;
    const reused = eventBody(paymentObject(), { eventId });
    const tooLarge = eventBody(paymentObject({ description: 'x'.repeat(2 * 1024 * 1024) }));
    const deliveries: readonly (readonly [string, () => Promise<Response>])[] = [
      ['accepted', () => tallyhook.deliver(body)],
      ['duplicate', () => tallyhook.deliver(body)],
      ['id_reused', () => tallyhook.deliver(reused)],
      ['signature_missing', () => tallyhook.deliver(body, {})],
      ['signature_malformed', () => tallyhook.deliver(body, { 'X-Webhook-Signature-512': 'x' })],
      ['signature_mismatch', () => tallyhook.deliver(body, signature(reused))],
      ['too_large', () => tallyhook.deliver(tooLarge)],
      [
        'encoded_body',
        () => tallyhook.deliver(body, { ...signature(body), 'Content-Encoding': 'gzip' }),
      ],
      ['wrong_method', () => fetch(tallyhook.webhookUrl)],
    ];
    for (const [outcome, delivery] of deliveries) {
      const before = await countOf(outcome);
      await delivery();
      expect([outcome, await countOf(outcome)]).toEqual([outcome, before + 1]);
    }
  });

  it('contains no secret and no token', async () => {
    const page = await readMetrics(tallyhook);
    expect(page).toContain('tallyhook_webhook_secret_used_total');
    for (const hidden of [SECRET, NEW_SECRET, ADMIN_TOKEN]) expect(page).not.toContain(hidden);
  });
});
