/**
 * The table of endpoints. The client, the sandbox and the OpenAPI document are built from it, so
 * all of them have the same routes. service-interface.md §4.
 */
import { z } from 'zod';
import { API_KEY_PREFIXES, type ApiKeyKind } from '../limits.ts';
import { ANALYTICS_ENDPOINTS } from './analytics.ts';
import { API_KEY_ENDPOINTS } from './apiKeys.ts';
import { BUSINESS_PROFILE_ENDPOINTS } from './businessProfiles.ts';
import { CUSTOMER_ENDPOINTS } from './customers.ts';
import { DISPUTE_ENDPOINTS } from './disputes.ts';
import { type Endpoint, noParams, SAFE } from './endpoint.ts';
import { EVIDENCE_ENDPOINTS } from './evidence.ts';
import { PAYMENT_LINK_ENDPOINTS } from './paymentLinks.ts';
import { PAYMENT_ENDPOINTS } from './payments.ts';
import { PAYOUT_ENDPOINTS } from './payouts.ts';
import { REFUND_ENDPOINTS } from './refunds.ts';

/**
 * The contract leaves the body open. A page is none of the service: websites return one with 200 for any path
 * and any key. service-interface.md §4.1.
 */
const healthResponse = z
  .unknown()
  .refine((body) => typeof body !== 'string' || !body.trimStart().startsWith('<'));

const HEALTH_ENDPOINTS = {
  health: {
    method: 'GET',
    path: '/health',
    summary: 'Check whether the key is valid',
    params: noParams,
    response: healthResponse,
    success: 200,
    errors: [],
    repetition: SAFE,
    keys: Object.keys(API_KEY_PREFIXES) as ApiKeyKind[],
  },
} as const satisfies Record<string, Endpoint>;

/** Named part by part: the declarations of the package would otherwise repeat every schema here. */
type EndpointTable = typeof HEALTH_ENDPOINTS &
  typeof API_KEY_ENDPOINTS &
  typeof PAYMENT_ENDPOINTS &
  typeof CUSTOMER_ENDPOINTS &
  typeof REFUND_ENDPOINTS &
  typeof DISPUTE_ENDPOINTS &
  typeof EVIDENCE_ENDPOINTS &
  typeof PAYMENT_LINK_ENDPOINTS &
  typeof PAYOUT_ENDPOINTS &
  typeof ANALYTICS_ENDPOINTS &
  typeof BUSINESS_PROFILE_ENDPOINTS;

export const ENDPOINTS: EndpointTable = {
  ...HEALTH_ENDPOINTS,
  ...API_KEY_ENDPOINTS,
  ...PAYMENT_ENDPOINTS,
  ...CUSTOMER_ENDPOINTS,
  ...REFUND_ENDPOINTS,
  ...DISPUTE_ENDPOINTS,
  ...EVIDENCE_ENDPOINTS,
  ...PAYMENT_LINK_ENDPOINTS,
  ...PAYOUT_ENDPOINTS,
  ...ANALYTICS_ENDPOINTS,
  ...BUSINESS_PROFILE_ENDPOINTS,
};
export type EndpointName = keyof typeof ENDPOINTS;

export {
  COMMON_ERRORS,
  type Endpoint,
  type EndpointError,
  type Repetition,
} from './endpoint.ts';
