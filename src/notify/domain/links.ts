/** Links from messages to pages of the console. */
import { orderPath, subjectPath } from '../../alerts/domain/subjectPath.ts';
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
  const path = subjectPath(subject);
  const order = orderId === null || kind === 'order' ? undefined : orderPath(orderId);
  return [
    ...(path === undefined ? [] : [[`Open the ${PAGE_NAMES[kind] ?? kind}`, path] as const]),
    ...(order === undefined ? [] : [['Open the order', order] as const]),
    ['Open the alert', `/alerts/${alertId}`],
  ];
}

/** What the page of a subject is called, where the subject is something else. */
const PAGE_NAMES: Readonly<Record<string, string>> = {
  system: 'page of the system',
  list: 'reconciliation',
  totals: 'reconciliation',
  currency: 'journal',
  channel: 'channels',
};
