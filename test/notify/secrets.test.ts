/**
 * Messages, stored messages and log lines contain no secrets and no personal data. Every channel fails
 * first, and the log level is the most verbose.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { raiseOneTimeAlerts } from '../../src/alerts/syncAlerts.ts';
import { alertOf } from '../support/alerts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, SECRET, sign } from '../support/events.ts';
import { readMessages } from '../support/notifier.ts';
import { type Program, settingsFor, spawnProgram, webhookUrlOf } from '../support/program.ts';
import {
  ACCEPT,
  type Behavior,
  type HttpReceiver,
  type MailServer,
  SIGNING_SECRET,
  SMTP_PASSWORD,
  startHttpReceiver,
  startMailServer,
} from '../support/receivers.ts';
import { ADMIN_TOKEN } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let hook: HttpReceiver;
let shop: HttpReceiver;
let chat: HttpReceiver;
let mail: MailServer;
let program: Program | undefined;
beforeEach(async () => {
  db = await createTestDatabase();
  hook = await startHttpReceiver(SIGNING_SECRET);
  shop = await startHttpReceiver(SIGNING_SECRET);
  chat = await startHttpReceiver();
  mail = await startMailServer();
});
afterEach(async () => {
  program?.kill('SIGKILL');
  await program?.exit;
  await Promise.all([hook.close(), shop.close(), chat.close(), mail.close()]);
  await db.drop();
});

const API_KEY = 'snd_secret-key-of-the-service-0123';
const CHAT_TOKEN = 'T0000-B0000-chat-token-0123456789';

/** Personal data of a customer, as the service's bodies contain it. */
const PERSONAL = {
  name: 'Wilhelmina Achterberg',
  email: 'wilhelmina@customer.example',
  phone: '5551234567',
  line1: 'Prinsengracht 263',
  card_holder_name: 'W ACHTERBERG-VISSER',
  last4: '4242',
  card_number: '4242424242424242',
  client_secret: 'pay_1_secret_abcdefghijklmnop',
  ip_address: '203.0.113.77',
};

const payment = paymentObject({
  payment_id: 'pay_personal',
  metadata: { order_id: 'ord_personal' },
  client_secret: PERSONAL.client_secret,
  email: PERSONAL.email,
  name: PERSONAL.name,
  phone: PERSONAL.phone,
  billing: { address: { line1: PERSONAL.line1, first_name: PERSONAL.name }, email: PERSONAL.email },
  payment_method_data: {
    card: {
      last4: PERSONAL.last4,
      card_number: PERSONAL.card_number,
      card_holder_name: PERSONAL.card_holder_name,
    },
  },
  browser_info: { ip_address: PERSONAL.ip_address },
});

const dispute = {
  dispute_id: 'dp_personal',
  payment_id: 'pay_personal',
  dispute_stage: 'dispute',
  dispute_status: 'dispute_opened',
  amount: '6540',
  currency: 'USD',
  modified_at: '2026-11-02T10:00:00.000Z',
  // The alert quotes the reason, in which card numbers can be recognized and names cannot.
  connector_reason: `not as described, card ${PERSONAL.card_number}`,
  customer_email: PERSONAL.email,
};

async function deliver(url: string, body: Buffer): Promise<void> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'X-Webhook-Signature-512': sign(body) },
    body: new Uint8Array(body),
  });
  expect(reply.status).toBe(200);
}

/** Failed attempts are retried after five and ten seconds; generous, for a busy machine. */
const DELIVERED_WITHIN_MS = 240_000;

test('neither messages nor log lines carry secrets or personal data', async () => {
  const chatUrl = chat.url.replace('/hook', `/services/${CHAT_TOKEN}`);
  program = spawnProgram('bin/tallyhook.js', ['start'], {
    env: settingsFor(db.url, {
      LOG_LEVEL: 'trace',
      PAYMENTS_BASE_URL: 'http://127.0.0.1:1',
      PAYMENTS_API_KEY: API_KEY,
      ALERT_WEBHOOK_URL: hook.url,
      ALERT_WEBHOOK_SECRET: SIGNING_SECRET,
      ALERT_SLACK_URL: chatUrl,
      ALERT_MAIL_TO: 'ops@shop.example',
      ALERT_MAIL_FROM: 'tallyhook@shop.example',
      SMTP_URL: mail.url,
      ORDER_WEBHOOK_URL: shop.url,
      ORDER_WEBHOOK_SECRET: SIGNING_SECRET,
    }),
  });
  const url = await webhookUrlOf(program);
  await waitFor('the position in the feed to be stored', async () => {
    const rows = await db.query('select change_number from order_webhook_position');
    return rows.length > 0;
  });
  const failsFirst = (receiver: HttpReceiver, failing: Behavior) =>
    receiver.behave(({ body }) =>
      receiver.posts.some((post) => post.body === body) ? ACCEPT : failing,
    );
  failsFirst(hook, { does: 'read_and_disconnect' });
  failsFirst(shop, { does: 'respond', status: 500 });
  failsFirst(chat, { does: 'respond', status: 403 });
  mail.behave('tempfail');

  await deliver(url, eventBody(payment));
  await deliver(url, eventBody(dispute, { contentType: 'dispute_details' }));
  await waitFor('every channel to fail once', async () => {
    const rows = await db.query(`select channel from messages where last_error is not null`);
    return new Set(rows.map((row) => JSON.stringify(row))).size === 4;
  });
  mail.behave('accept');
  // The chat rejected its message and gets it again after half a minute; the test does not wait for that.
  await db.query(`update messages set next_attempt_at = now() where channel = 'slack'`);
  await db.transaction((tx) =>
    raiseOneTimeAlerts(tx, [alertOf({ subject: 'payment:pay_personal' })]),
  );
  const isDelivered = async (): Promise<boolean> => {
    const left = (await readMessages(db)).filter(({ state }) => state === 'due');
    return left.every(({ channel }) => channel === 'slack');
  };
  await waitFor(
    'the shop and the webhook channel to get their messages',
    isDelivered,
    DELIVERED_WITHIN_MS,
  );
  program.kill('SIGTERM');
  const exit = await program.exit;

  const kept = await db.query(
    `select content::text, last_error from messages
     union all select subject || sentence || detail::text, null from alerts
     union all select last_error, null from channel_health`,
  );
  const output = [
    ...[hook, shop, chat].flatMap(({ posts }) => posts.map((post) => post.body)),
    ...mail.mails.map(({ raw }) => raw),
  ];
  // There must be output to search.
  expect(output.length).toBeGreaterThanOrEqual(6);
  expect(exit.stdout).toContain('notify.retry_scheduled');
  expect(shop.accepted().map(({ type }) => type)).toContain('order.disputed');
  expect(output.join('\n')).toContain('Dispute dp_personal about 65.40 USD');

  const places = {
    log: exit.stdout + exit.stderr,
    output: output.join('\n'),
    kept: JSON.stringify(kept),
  };
  const secrets = {
    signing: SIGNING_SECRET,
    signingKey: SIGNING_SECRET.slice('whsec_'.length),
    anySigning: 'whsec_',
    smtp: SMTP_PASSWORD,
    smtpBase64: Buffer.from(SMTP_PASSWORD).toString('base64'),
    chat: CHAT_TOKEN,
    apiKey: API_KEY,
    admin: ADMIN_TOKEN,
    webhooks: SECRET,
    database: new URL(db.url).password || 'no password',
    ...PERSONAL,
  };
  for (const [where, text] of Object.entries(places)) {
    for (const [what, secret] of Object.entries(secrets)) {
      // The four digits may be part of any number or time; only the quoted value would be the card's.
      const isFound = what === 'last4' ? /"last4"|"4242"/.test(text) : text.includes(secret);
      expect([where, what, isFound]).toEqual([where, what, false]);
    }
  }
});
