/** Endpoints of business profiles. service-interface.md §4.10. */
import { z } from 'zod';
import { businessProfileSchema } from '../resources/businessProfile.ts';
import { type Endpoint, merchantParams, notFound, SAFE, SECRET_KEYS } from './endpoint.ts';

export const BUSINESS_PROFILE_ENDPOINTS = {
  /** The contract leaves the response open; the family returns an array without an envelope. */
  listBusinessProfiles: {
    method: 'GET',
    path: '/account/:merchant_id/business_profile',
    summary: "Retrieve the account's business profiles with their webhook URLs and signing secrets",
    params: merchantParams,
    response: z.array(businessProfileSchema),
    item: businessProfileSchema,
    success: 200,
    errors: [notFound('merchant')],
    repetition: SAFE,
    keys: SECRET_KEYS,
  },
} as const satisfies Record<string, Endpoint>;
