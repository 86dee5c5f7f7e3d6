/** The filter of events in a query or a body. */
import { z } from 'zod';
import { EVENT_STATES } from '../ledger/read/store/parts.ts';
import { id, listTime, number } from './schemas.ts';

const eventType = z
  .string()
  .regex(/^[a-z][a-z0-9_.]{0,99}$/, 'must be a type such as payment_succeeded')
  .optional()
  .describe('Only events of this type.');

export const eventFilters = {
  state: z.enum(EVENT_STATES).optional(),
  type: eventType,
  order: id.optional().describe('Only events that brought something new about this order.'),
  from: listTime('Only events received at this time or later. UTC.'),
  to: listTime('Only events received before this time. UTC.'),
};

/** Of lists only: a replay is chosen by what events are, not by an earlier replay. */
export const ofReplay = number
  .optional()
  .describe('Only events that this replay of many events has chosen.');
