/** A sandbox for each test file, which its worker shares with no other, and the shop in front of it. */
import { createClient, type PaymentServiceClient } from '@tallyhook/client';
import type { ResetSettings, Sandbox } from '@tallyhook/sandbox';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Card, createShop, type Order, type Shop } from '../src/shop.ts';

export interface Bench {
  sandbox: Sandbox;
  service: PaymentServiceClient;
  shop: Shop;
}

/** What the tests of a file use; it is there once they run, and empty before each of them. */
export function useBench(settings: ResetSettings): Bench {
  const bench = {} as Bench;
  beforeAll(async () => {
    const start = performance.now();
    const { startSandbox } = await import('@tallyhook/sandbox');
    const sandbox = await startSandbox(settings);
    console.log(
      `ready in ${Math.round(performance.now() - start)} ms at ${sandbox.now().toISOString()}`,
    );
    // Retries wait for milliseconds instead of seconds.
    const retry = { baseDelayMs: 1, maxDelayMs: 5, maxAttempts: 20 };
    const { baseUrl, apiKey, profileId } = sandbox;
    const service = createClient({ baseUrl, apiKey, retry });
    Object.assign(bench, { sandbox, service, shop: createShop(service, profileId) });
  });
  beforeEach(() => bench.sandbox.reset());
  afterAll(() => bench.sandbox.stop());
  return bench;
}

export const CARD: Card = {
  payment_method_data: {
    card: {
      card_number: '4242424242424242',
      card_exp_month: '12',
      card_exp_year: '2039',
      card_cvc: '123',
    },
  },
  billing: {
    address: {
      first_name: 'Ada',
      last_name: 'Lovelace',
      line1: '1 Main Street',
      city: 'Springfield',
      state: 'IL',
      zip: '62701',
      country: 'US',
    },
    phone: { country_code: '+1', number: '5550100' },
  },
};

export const order = (fields: Partial<Order> = {}): Order => ({
  id: '1001',
  amount: 6540,
  currency: 'USD',
  ...fields,
});
