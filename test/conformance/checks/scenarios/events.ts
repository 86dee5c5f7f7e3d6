/** Events and their signature. The digest is computed here by Node's own crypto. */
import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { testCard } from '../../../../src/sandbox/domain/outcomes.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { sign as signedByUs } from '../../../support/events.ts';
import { SANDBOX_SECRET } from '../../../support/sandbox.ts';
import { card } from '../../../support/sandboxRequests.ts';
import { startTallyhook } from '../../../support/tallyhook.ts';
import { verifySignature } from '../../../support/verifySignature.ts';
import type { ReceivedWebhook } from '../../../support/webhookListener.ts';
import { BILLING, ok, type Service } from '../service.ts';
import type { Scenarios } from './scenario.ts';

const typesOf = (events: readonly ReceivedWebhook[]): readonly string[] =>
  events.map(({ event }) => event.event_type);

async function aWebhook(service: Service): Promise<ReceivedWebhook> {
  const { payment_id } = await service.payment({ metadata: { order_id: 'ord_1' } });
  const [sent] = await service.eventsOf(payment_id);
  if (sent === undefined) throw new Error('no webhook came');
  return sent;
}

const verify = (body: Buffer, signature: string | undefined, secret = SANDBOX_SECRET) =>
  verifySignature(body, signature, [secret]).outcome;

const SENT: Scenarios = {
  sendsPaymentEvents: async (service) => {
    const { payment_id } = await service.hold();
    ok(await service.post(`/payments/${payment_id}/capture`, {}));
    const sent = await service.eventsOf(payment_id);
    expect(typesOf(sent)).toEqual(['payment_authorized', 'payment_succeeded']);
  },
  sendsRefundEvents: async (service) => {
    const { refund_id } = await service.refund();
    expect(typesOf(await service.eventsOf(refund_id))).toEqual(['refund_succeeded']);
  },
  sendsDisputeEvents: async (service) => {
    const { dispute_id } = await service.dispute();
    await service.control('POST', `/disputes/${dispute_id}/move`, { status: 'won' });
    expect(typesOf(await service.eventsOf(dispute_id))).toEqual(['dispute_opened', 'dispute_won']);
  },
  sendsPayoutEvents: async (service) => {
    const { payout_id } = await service.payout({ confirm: true });
    ok(await service.post(`/payouts/${payout_id}/fulfill`));
    expect(typesOf(await service.eventsOf(payout_id))).toEqual(['payout_success']);
  },
  sendsEveryChange: async (service) => {
    const first = await service.paymentOf('final', 'UE_1001');
    const again = { payment_method_data: card(testCard('final', 'UE_1007')), billing: BILLING };
    ok(await service.post(`/payments/${first.payment_id}/confirm`, again));
    const sent = await service.eventsOf(first.payment_id);
    expect(typesOf(sent)).toEqual(['payment_failed', 'payment_failed']);
    const { payment_id } = await service.payment();
    const opened = await service.control('POST', '/disputes', { payment_id });
    const path = `/disputes/${opened.dispute_id}/move`;
    await service.control('POST', path, { status: 'lost' });
    await service.control('POST', path, { stage: 'pre_arbitration', status: 'opened' });
    await service.control('POST', path, { status: 'lost' });
    const about = typesOf(await service.eventsOf(opened.dispute_id));
    expect(about).toEqual(['dispute_opened', 'dispute_lost', 'dispute_opened', 'dispute_lost']);
  },
  sendsSecondCapture: async (service) => {
    const { payment_id } = await service.hold({ capture_method: 'manual_multiple' });
    for (const amount_to_capture of [1000, 2000]) {
      ok(await service.post(`/payments/${payment_id}/capture`, { amount_to_capture }));
    }
    const sent = (await service.eventsOf(payment_id)).filter(
      ({ event }) => event.event_type === 'payment_captured',
    );
    expect(sent.map(({ event }) => event.content.object.amount_received)).toEqual([1000, 3000]);
  },
  sendsIneligiblePayout: async (service) => {
    const { payout_id } = await service.payout({ amount: 7740, confirm: true });
    const sent = await service.eventsOf(payout_id);
    expect(sent.map(({ event }) => event.content.object.status)).toEqual(['ineligible']);
  },
  sendsPaymentSucceeded: async (service) => {
    expect((await aWebhook(service)).event.event_type).toBe('payment_succeeded');
  },
  eventHoldsResource: async (service) => {
    const { event } = await aWebhook(service);
    const { object } = event.content;
    expect(await service.read('payments', String(object.payment_id))).toEqual(object);
  },
  failedEventHasCode: async (service) => {
    const { payment_id } = await service.paymentOf('final', 'UE_1001');
    const [sent] = await service.eventsOf(payment_id);
    expect(sent?.event.content.object).toMatchObject({ unified_code: 'UE_1001' });
  },
  eventIdsAreUnique: async (service) => {
    await service.control('POST', '/settle');
    const ids = service.listener.received.map(({ event }) => event.event_id);
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(ids.length);
  },
  serviceTakes2xxAsDelivered: async (service) => {
    const { payment_id } = await service.payment();
    await service.control('POST', '/settle');
    service.listener.respondWith(204);
    try {
      const { payment_id: other } = await service.payment();
      const first = await service.eventsOf(other);
      await service.advance(120_000);
      expect(await service.eventsOf(other)).toHaveLength(first.length);
    } finally {
      service.listener.respondWith(200);
    }
    service.listener.respondWith(500);
    try {
      const { payment_id: refusedId } = await service.payment();
      await service.eventsOf(refusedId);
      await service.advance(120_000);
      expect((await service.eventsOf(refusedId)).length).toBeGreaterThan(1);
    } finally {
      service.listener.respondWith(200);
      await service.advance(2 * 86_400_000);
    }
    expect(payment_id).toEqual(expect.any(String));
  },
};

const SIGNATURE: Scenarios = {
  webhookIsSigned: async (service) => {
    expect((await aWebhook(service)).signature).toEqual(expect.stringMatching(/./));
  },
  signatureIsHmacSha512: async (service) => {
    const { body, signature } = await aWebhook(service);
    expect(signature).toBe(createHmac('sha512', SANDBOX_SECRET).update(body).digest('hex'));
    expect(verify(body, signature)).toBe('verified');
  },
  signatureCoversEveryByte: async (service) => {
    const { body, signature } = await aWebhook(service);
    for (const at of [0, Math.floor(body.length / 2), body.length - 1]) {
      const bent = Buffer.from(body);
      bent[at] = (bent[at] ?? 0) ^ 1;
      expect(verify(bent, signature)).toBe('mismatch');
    }
  },
  signatureIsOfRawBytes: async (service) => {
    const { body } = await aWebhook(service);
    const spaced = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1));
    const signature = createHmac('sha512', SANDBOX_SECRET).update(spaced).digest('hex');
    expect(verify(spaced, signature)).toBe('verified');
    expect(verify(Buffer.from(JSON.stringify(JSON.parse(spaced.toString()))), signature)).toBe(
      'mismatch',
    );
  },
  signatureNeedsTheSecret: async (service) => {
    const { body, signature } = await aWebhook(service);
    expect(verify(body, signature, `${SANDBOX_SECRET}, but another`)).toBe('mismatch');
  },
};

/** The project's own receiver, over HTTP, with a database. */
export const RECEIVER: Scenarios = {
  receiverRefusesUnsigned: (service) =>
    withReceiver(service, async (send) => {
      const { body } = await aWebhook(service);
      expect((await send(body, undefined)).status).toBe(401);
      expect((await send(body, 'ab'.repeat(64))).status).toBe(401);
    }),
  receiverReturns2xx: (service) =>
    withReceiver(service, async (send, sign) => {
      const { body } = await aWebhook(service);
      expect((await send(body, sign(body))).status).toBe(200);
    }),
  eventIsProcessedOnce: (service) =>
    withReceiver(service, async (send, sign) => {
      const { body } = await aWebhook(service);
      const first = await send(body, sign(body));
      const second = await send(body, sign(body));
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(await second.json()).toMatchObject({ duplicate: true });
    }),
};

type SendWebhook = (body: Buffer, signature: string | undefined) => Promise<Response>;

async function withReceiver(
  _service: Service,
  act: (send: SendWebhook, sign: (body: Buffer) => string) => Promise<void>,
): Promise<void> {
  const db = await createTestDatabase();
  const tallyhook = await startTallyhook({ db, roles: ['receiver'] });
  try {
    await act(
      (body, signature) =>
        fetch(tallyhook.webhookUrl, {
          method: 'POST',
          body: new Uint8Array(body),
          headers: signature === undefined ? {} : { 'X-Webhook-Signature-512': signature },
        }),
      signedByUs,
    );
  } finally {
    await tallyhook.close();
    await db.drop();
  }
}

export const EVENTS: Scenarios = { ...SENT, ...SIGNATURE, ...RECEIVER };
