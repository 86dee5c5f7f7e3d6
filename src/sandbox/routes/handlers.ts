/** The handlers of all endpoints in the contract's table; the compiler checks that none is missing. */
import type { EndpointName } from '../../contract/index.ts';
import { accept, type Decision } from '../domain/decision.ts';
import type { Services } from '../services.ts';
import { ANALYTICS_HANDLERS } from './analytics.ts';
import { API_KEY_HANDLERS } from './apiKeys.ts';
import { BUSINESS_PROFILE_HANDLERS } from './businessProfiles.ts';
import { CUSTOMER_HANDLERS } from './customers.ts';
import { DISPUTE_HANDLERS } from './disputes.ts';
import { EVIDENCE_HANDLERS } from './evidence.ts';
import type { Handlers } from './handler.ts';
import { PAYMENT_LINK_HANDLERS } from './paymentLinks.ts';
import { PAYMENT_HANDLERS } from './payments.ts';
import { PAYOUT_HANDLERS } from './payouts.ts';
import { REFUND_HANDLERS } from './refunds.ts';

const ALL: Handlers<EndpointName> = {
  /** 200 when the key is valid. service-interface.md §4.1. */
  health: () => Promise.resolve(accept({ status: 'health is good' })),
  ...API_KEY_HANDLERS,
  ...PAYMENT_HANDLERS,
  ...CUSTOMER_HANDLERS,
  ...REFUND_HANDLERS,
  ...DISPUTE_HANDLERS,
  ...EVIDENCE_HANDLERS,
  ...PAYMENT_LINK_HANDLERS,
  ...PAYOUT_HANDLERS,
  ...ANALYTICS_HANDLERS,
  ...BUSINESS_PROFILE_HANDLERS,
};

type CheckedCall = { readonly params: unknown; readonly input: unknown };

/**
 * The same table for callers that loop over it by name. They validate each call with the schemas of its
 * endpoint, which the compiler cannot follow through a loop.
 */
export const HANDLERS = ALL as unknown as Readonly<
  Record<EndpointName, (call: CheckedCall, services: Services) => Promise<Decision<object>>>
>;
