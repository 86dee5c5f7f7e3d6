/** The filter of the inbox as fields of a form. */
import { z } from 'zod';
import { eventFilters } from '../../console/eventFilter.ts';
import { parseInstantMicros } from '../../ledger/domain/time.ts';
import type { EventQuery } from '../../ledger/read/eventFilter.ts';
import type { LinkQuery } from '../links.ts';

const { state, type, order } = eventFilters;

const utc = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/, 'must be a time such as 2026-11-01T10:00')
  .refine((text) => parseInstantMicros(iso(text)) !== undefined, 'must be a time since 1970')
  .optional();

export const inboxFilter = { state, type, order, from: utc, to: utc };

export type InboxFilter = {
  readonly [Name in keyof typeof inboxFilter]?: z.output<(typeof inboxFilter)[Name]>;
};

/** With times in ISO. Fields of type `datetime-local` have no zone: they are UTC. */
export function timesOf({ state, type, order, from, to }: InboxFilter): EventQuery {
  return { state, type, order, from: from && iso(from), to: to && iso(to) };
}

function iso(text: string): string {
  return `${text.length === 16 ? `${text}:00` : text}Z`;
}

/** The filter alone, for links. */
export function filterQuery({ state, type, order, from, to }: InboxFilter): LinkQuery {
  return { state, type, order, from, to };
}
