/** Assembles the client. */
import { type AnalyticsCalls, createAnalyticsCalls } from './analytics.ts';
import { type BusinessProfileCalls, createBusinessProfileCalls } from './businessProfiles.ts';
import { createCalls } from './calls.ts';
import { type CustomerCalls, createCustomerCalls } from './customers.ts';
import { createDisputeCalls, type DisputeCalls } from './disputes.ts';
import { createPaymentLinkCalls, type PaymentLinkCalls } from './paymentLinks.ts';
import { createPaymentCalls, type PaymentCalls } from './payments.ts';
import { createPayoutCalls, type PayoutCalls } from './payouts.ts';
import { createRefundCalls, type RefundCalls } from './refunds.ts';
import type { CallOptions } from './send.ts';
import { type ClientOptions, readSettings } from './settings.ts';

/** The payment service. Every call throws PaymentServiceError and nothing else. */
export interface PaymentServiceClient {
  readonly payments: PaymentCalls;
  readonly customers: CustomerCalls;
  readonly refunds: RefundCalls;
  readonly disputes: DisputeCalls;
  readonly payouts: PayoutCalls;
  readonly paymentLinks: PaymentLinkCalls;
  readonly analytics: AnalyticsCalls;
  readonly businessProfiles: BusinessProfileCalls;
  /** Resolves when the service accepts the key. service-interface.md §4.1. */
  readonly health: (options?: CallOptions) => Promise<void>;
}

/**
 * Creates a client. It holds no connection of its own and needs no closing.
 * @throws TypeError for a URL that is neither https nor this machine, a key that is not a secret
 * key, or an invalid retry option.
 */
export function createClient(options: ClientOptions): PaymentServiceClient {
  const calls = createCalls(readSettings(options));
  return {
    payments: createPaymentCalls(calls),
    customers: createCustomerCalls(calls),
    refunds: createRefundCalls(calls),
    disputes: createDisputeCalls(calls),
    payouts: createPayoutCalls(calls),
    paymentLinks: createPaymentLinkCalls(calls),
    analytics: createAnalyticsCalls(calls),
    businessProfiles: createBusinessProfileCalls(calls),
    health: async (callOptions) => {
      await calls.call('health', {}, callOptions);
    },
  };
}
