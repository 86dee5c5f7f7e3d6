/**
 * What the facts of a finding name. Resources of the order itself link to their pages. The others may be
 * unknown to the ledger, so they link to a search for their id, which leads to the page if there is one.
 */
import { resourceHref, searchHref, thingHref } from '../links.ts';

export interface Named {
  readonly id: string;
  readonly href: string;
}

const MOST = 20;

const LINKS = new Map<string, (id: string) => string | undefined>([
  ['paymentId', (id) => resourceHref('payment', id)],
  ['payments', (id) => resourceHref('payment', id)],
  ['refunds', (id) => resourceHref('refund', id)],
  ['disputes', (id) => resourceHref('dispute', id)],
  ['eventId', (id) => thingHref({ kind: 'event', id })],
  ['namedPayments', (id) => searchHref({ q: id })],
  ['parts', (id) => searchHref({ q: id })],
  // Named as `payment:pay_1`.
  ['resource', (text) => searchHref({ q: text.slice(text.indexOf(':') + 1) })],
]);

export function namedIn(detail: unknown): readonly Named[] {
  if (typeof detail !== 'object' || detail === null) return [];
  const found = new Map<string, Named>();
  for (const [name, value] of Object.entries(detail)) {
    for (const id of idsIn(value)) {
      const href = LINKS.get(name)?.(id);
      if (href !== undefined) found.set(href, { id, href });
    }
  }
  return [...found.values()].slice(0, MOST);
}

/** An id, or each of a list of ids or of parts with their ids. */
function idsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (Array.isArray(value)) return value.flatMap(idsIn);
  if (typeof value !== 'object' || value === null || !('id' in value)) return [];
  return idsIn(value.id);
}
