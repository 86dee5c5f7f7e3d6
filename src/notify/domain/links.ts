/**
 * Links from messages to pages of the console.
 *
 * Ids come from outside: each is one encoded part of the path, so that it cannot lead to another
 * address.
 */
import type { Content, Notification } from './message.ts';

/** Where a message comes from. */
export interface Installation {
  readonly name: string;
  /** Without a slash at its end; undefined: messages have no links. */
  readonly consoleUrl: string | undefined;
}

export interface Link {
  readonly label: string;
  readonly url: string;
}

const FOLDERS: Readonly<Record<string, string>> = {
  payment: 'payments',
  refund: 'refunds',
  dispute: 'disputes',
  payout: 'payouts',
  event: 'inbox',
};

/** The page of what an alert or a finding is about; undefined if it has none. */
function pathOfSubject(subject: string): string | undefined {
  const [kind = '', ...rest] = subject.split(':');
  // An order is named by its key, `order:1001` or `payment:pay_1`.
  if (kind === 'order')
    return rest[0] === 'order' ? orderPath(idIn(rest)) : paymentPath(idIn(rest));
  const folder = FOLDERS[kind];
  return folder === undefined ? undefined : `/${folder}/${encodeURIComponent(rest.join(':'))}`;
}

function idIn([_kind, ...id]: readonly string[]): string {
  return id.join(':');
}

function orderPath(orderId: string): string {
  return `/orders/${encodeURIComponent(orderId)}`;
}

function paymentPath(paymentId: string): string {
  return `/payments/${encodeURIComponent(paymentId)}`;
}

/** The pages of a message, the one to open first before the others; none if there is no console. */
export function linksOf(content: Content, consoleUrl: string | undefined): readonly Link[] {
  if (consoleUrl === undefined) return [];
  const pages = pagesOf(content);
  return pages.map(([label, path]) => ({ label, url: `${consoleUrl}${path}` }));
}

type Page = readonly [label: string, path: string];

function pagesOf(content: Content): readonly Page[] {
  switch (content.kind) {
    case 'alert':
      return alertPages(content.alert);
    case 'digest':
      return [['Open the alerts', '/alerts']];
    case 'summary':
    case 'test':
      return [['Open the console', '/']];
    case 'order':
      // For the shop's program, which has the API.
      return [];
  }
}

function alertPages({ alertId, subject, orderId }: Notification): readonly Page[] {
  const [kind = ''] = subject.split(':');
  const path = pathOfSubject(subject);
  const order = orderId === null || kind === 'order' ? undefined : orderPath(orderId);
  return [
    ...(path === undefined ? [] : [[`Open the ${kind}`, path] as const]),
    ...(order === undefined ? [] : [['Open the order', order] as const]),
    ...(kind === 'system' ? [['Open the system page', '/system'] as const] : []),
    ['Open the alert', `/alerts/${alertId}`],
  ];
}
