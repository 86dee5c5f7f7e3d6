/**
 * The page of the console of what an alert or a finding is about: the console links to it, and so do messages.
 *
 * Ids come from outside: each is one encoded part of the path, so that it cannot lead to another address.
 */
import { RESOURCE_KINDS, type ResourceKind } from '../../contract/resources/index.ts';

/** @param by what the id is, if it is not the id of an order */
export function orderPath(id: string, by?: 'order' | 'payment'): string {
  return `/orders/${encodeURIComponent(id)}${by === 'payment' ? '?by=payment' : ''}`;
}

export function resourcePath(kind: ResourceKind, id: string): string {
  return `/${kind}s/${encodeURIComponent(id)}`;
}

/** The pages of `system:…`, where that is not the page of the system. */
const SYSTEM_PAGES = new Map([
  ['webhooks', '/inbox'],
  ['events', '/inbox'],
  ['reconciliation', '/reconciliation'],
  ['queue', '/system/queues'],
  ['retention', '/system/retention'],
  ['bodies', '/system/retention'],
  ['erasures', '/system/erasures'],
]);

/** @returns undefined for a subject without a page */
export function subjectPath(subject: string): string | undefined {
  const [kind = '', first = '', ...rest] = subject.split(':');
  const id = [first, ...rest].join(':');
  if (isResourceKind(kind)) return resourcePath(kind, id);
  switch (kind) {
    case 'order':
      // An order is named by its key, `order:1001` or `payment:pay_1`.
      return orderPath(rest.join(':'), first === 'payment' ? 'payment' : undefined);
    case 'event':
      return `/inbox/${encodeURIComponent(id)}`;
    case 'message':
      return `/messages/${encodeURIComponent(id)}`;
    case 'system':
      return SYSTEM_PAGES.get(id) ?? '/system';
    case 'list':
    case 'totals':
      return '/reconciliation';
    case 'currency':
      return `/ledger/journal?${new URLSearchParams({ currency: id })}`;
    case 'channel':
      return '/alerts/channels';
    default:
      return undefined;
  }
}

export function isResourceKind(kind: string): kind is ResourceKind {
  return (RESOURCE_KINDS as readonly string[]).includes(kind);
}
