/**
 * The page of the console of what an alert or a finding is about: the console links to it, and so do messages.
 *
 * 1. Ids come from outside: each is one encoded part of the path, so that it cannot lead to another address.
 * 2. A browser takes a part of one or two dots for a way to another folder, also if it is encoded. Such an id
 *    has a tilde before it, and so has one that looks as if it had: each part names one id.
 */
import { RESOURCE_KINDS, type ResourceKind } from '../../contract/resources/index.ts';

/** The part of a path that names an id. */
export function pathPart(id: string): string {
  return encodeURIComponent(/^~*\.{1,2}$/.test(id) ? `~${id}` : id);
}

/** The id that a part of a path names. @param part decoded */
export function idOfPart(part: string): string {
  return /^~+\.{1,2}$/.test(part) ? part.slice(1) : part;
}

/** @param by what the id is, if it is not the id of an order */
export function orderPath(id: string, by?: 'order' | 'payment'): string {
  return `/orders/${pathPart(id)}${by === 'payment' ? '?by=payment' : ''}`;
}

export function resourcePath(kind: ResourceKind, id: string): string {
  return `/${kind}s/${pathPart(id)}`;
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
      return `/inbox/${pathPart(id)}`;
    case 'message':
      return `/messages/${pathPart(id)}`;
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
