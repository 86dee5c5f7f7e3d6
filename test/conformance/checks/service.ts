/** The sandbox that statements are checked against, with helpers that nearly every check needs. */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import {
  type CardFamily,
  testCard,
  type UnifiedCode,
} from '../../../src/sandbox/domain/outcomes.ts';
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts';
import { card, cardPayment } from '../../support/sandboxRequests.ts';
import type { Body, Reply } from '../../support/serviceApi.ts';
import type { ReceivedWebhook } from '../../support/webhookListener.ts';
import { freshId } from '../target.ts';

export interface Service extends TestSandbox {
  get(path: string): Promise<Reply>;
  post(path: string, body?: unknown): Promise<Reply>;
  put(path: string, body?: unknown): Promise<Reply>;
  delete(path: string, body?: unknown): Promise<Reply>;
  /** A request with an administrative key. */
  asAdmin(method: string, path: string, body?: unknown): Promise<Reply>;
  /** A payment by card, 65.40 USD, confirmed, with the fields given. */
  payment(fields?: object): Promise<Body>;
  paymentOf(family: CardFamily, code?: UnifiedCode, fields?: object): Promise<Body>;
  /** A payment that is authorized under manual capture. */
  hold(fields?: object): Promise<Body>;
  refund(fields?: object): Promise<Body>;
  dispute(fields?: object): Promise<Body>;
  /** A payout of 50.00 EUR by ACH with every field of a method. */
  payout(fields?: object): Promise<Body>;
  customer(fields?: object): Promise<Body>;
  uploadFile(disputeId: string): Promise<string>;
  read(
    kind: 'payments' | 'refunds' | 'disputes' | 'payouts' | 'customers',
    id: string,
  ): Promise<Body>;
  /** The webhooks about an object, after everything that is due was sent. */
  eventsOf(objectId: string): Promise<readonly ReceivedWebhook[]>;
  /** Runs `act` while a fault is on. */
  withFaults<T>(faults: object, act: () => Promise<T>): Promise<T>;
  /** One value for the whole run, created on first use. */
  once<T>(name: string, make: () => Promise<T>): Promise<T>;
}

export const ADDRESS = {
  line1: '1 Main Street',
  line2: 'Floor 2',
  city: 'Springfield',
  state: 'IL',
  zip: '62701',
  country: 'US',
  first_name: 'Ada',
  last_name: 'Lovelace',
};

export const BILLING = { address: ADDRESS, phone: { number: '5550100', country_code: '+1' } };

export const ACH = {
  bank_transfer: {
    payout_method_type: 'ach',
    bank_account_number: '000123456789',
    bank_routing_number: '110000000',
    account_holder_name: 'Ada Lovelace',
  },
};

const CUSTOMER = {
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  phone: '5550100',
  phone_country_code: '+1',
  description: 'Buys shirts',
  address: ADDRESS,
  metadata: { tier: 'gold' },
};

/** Expects a success. @returns its body */
export function ok(reply: Reply): Body {
  expect({ status: reply.status, body: reply.body }).toMatchObject({ status: 200 });
  return reply.body;
}

/** Expects an error of this status, and of this code if one is given, in the error envelope. */
export function refused(reply: Reply, status: number, code?: string): Body {
  expect({ status: reply.status, body: reply.body }).toMatchObject({
    status,
    body: {
      error: {
        type: expect.any(String),
        code: code ?? expect.any(String),
        message: expect.any(String),
      },
    },
  });
  return reply.body.error;
}

export async function openService(): Promise<Service> {
  const sandbox = await startTestSandbox();
  const call = sandbox.call;
  const made = new Map<string, Promise<unknown>>();
  const once = <T>(name: string, make: () => Promise<T>): Promise<T> => {
    const before = made.get(name) ?? make();
    made.set(name, before);
    return before as Promise<T>;
  };
  const adminKey = () =>
    once('admin key', async () => {
      const { api_key } = await sandbox.control('POST', '/api_keys', { kind: 'admin' });
      return String(api_key);
    });
  const post: Service['post'] = (path, body) => call('POST', path, body);
  const payment: Service['payment'] = async (fields = {}) =>
    ok(await post('/payments', cardPayment({ billing: BILLING, ...fields })));
  return Object.assign(sandbox, {
    once,
    post,
    payment,
    get: (path) => call('GET', path),
    put: (path, body) => call('PUT', path, body),
    delete: (path, body) => call('DELETE', path, body),
    asAdmin: async (method, path, body) =>
      call(method, path, body, { 'api-key': await adminKey(), 'content-type': 'application/json' }),
    paymentOf: (family, code, fields = {}) =>
      payment({ payment_method_data: card(testCard(family, code)), ...fields }),
    hold: (fields = {}) => payment({ capture_method: 'manual', ...fields }),
    refund: async (fields = {}) => {
      const { payment_id } = await payment();
      return ok(await post('/refunds', { payment_id, amount: 1000, ...fields }));
    },
    dispute: async (fields = {}) => {
      const { payment_id } = await payment();
      return sandbox.control('POST', '/disputes', { payment_id, ...fields });
    },
    payout: async (fields = {}) =>
      ok(
        await post('/payouts/create', {
          amount: 5000,
          currency: 'EUR',
          payout_type: 'bank',
          payout_method_data: ACH,
          ...fields,
        }),
      ),
    customer: async (fields = {}) => ok(await post('/customers', { ...CUSTOMER, ...fields })),
    uploadFile: (disputeId) => uploadFile(sandbox, disputeId),
    read: async (kind, id) => ok(await call('GET', `/${kind}/${id}`)),
    eventsOf: async (objectId) => {
      await sandbox.control('POST', '/settle');
      return sandbox.listener.received.filter(({ event }) =>
        OWN_IDS.some((name) => ownIdOf(event.content) === objectId && name in event.content.object),
      );
    },
    withFaults: async (faults, act) => {
      await sandbox.control('PUT', '/faults', faults);
      try {
        return await act();
      } finally {
        await sandbox.control('DELETE', '/faults');
      }
    },
  } satisfies Omit<Service, keyof TestSandbox>);
}

const OWN_IDS = ['refund_id', 'dispute_id', 'payout_id', 'payment_id'] as const;

/** Refunds and disputes have the id of their payment beside their own. */
function ownIdOf(content: ReceivedWebhook['event']['content']): unknown {
  const own = OWN_IDS.find((name) => name in content.object);
  return own && content.object[own];
}

async function uploadFile(sandbox: TestSandbox, disputeId: string): Promise<string> {
  const form = new FormData();
  form.append('purpose', 'dispute_evidence');
  form.append('dispute_id', disputeId);
  form.append('file', new File(['receipt'], 'receipt.txt', { type: 'text/plain' }));
  const response = await fetch(`${sandbox.baseUrl}/files`, {
    method: 'POST',
    headers: { 'api-key': sandbox.apiKey },
    body: form,
  });
  const body = (await response.json()) as { readonly file_id: string };
  return body.file_id;
}

/** An id as a merchant chooses one. */
export function chosenId(): string {
  return createHash('sha256').update(freshId('id')).digest('hex').slice(0, 32);
}
