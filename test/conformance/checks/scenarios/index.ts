/** Every scenario by the name that statements use. */
import { ACCESS } from './access.ts';
import { ANALYTICS } from './analytics.ts';
import { CLIENT } from './client.ts';
import { CONVENTIONS } from './conventions.ts';
import { EVENTS } from './events.ts';
import { PAYMENTS } from './payments.ts';
import { RESOURCES } from './resources.ts';
import type { Scenarios } from './scenario.ts';

export const SCENARIOS: Scenarios = {
  ...CONVENTIONS,
  ...PAYMENTS,
  ...RESOURCES,
  ...ANALYTICS,
  ...ACCESS,
  ...EVENTS,
  ...CLIENT,
};
