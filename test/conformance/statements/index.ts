/** Every statement about the service, in the order of docs/service-interface.md. */
import { ANALYTICS_AND_ROUTES } from './analytics.ts';
import { CONVENTIONS } from './conventions.ts';
import { DECLINES } from './declines.ts';
import { ENDPOINTS_TO_LINKS } from './endpoints.ts';
import { PAYOUTS } from './payouts.ts';
import { PROTOCOL } from './protocol.ts';
import { RESOURCES_AND_FIELDS } from './resources.ts';
import type { Statement } from './statement.ts';
import { STATES } from './states.ts';

export const STATEMENTS: readonly Statement[] = [
  ...CONVENTIONS,
  ...RESOURCES_AND_FIELDS,
  ...STATES,
  ...ENDPOINTS_TO_LINKS,
  ...PAYOUTS,
  ...ANALYTICS_AND_ROUTES,
  ...PROTOCOL,
  ...DECLINES,
];

export type { Check, JsonType, Statement } from './statement.ts';
