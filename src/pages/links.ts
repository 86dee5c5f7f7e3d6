/** The addresses of pages. Every link is made here, so text from outside cannot become an address. */

import {
  isResourceKind,
  orderPath,
  pathPart,
  resourcePath,
  subjectPath,
} from '../alerts/domain/subjectPath.ts';
import type { ResourceKind } from '../contract/resources/index.ts';
import type { EntryFormatName } from '../ledger/domain/entryFormats.ts';
import { queryOf, withQuery } from '../platform/query.ts';

/** Values of a query; undefined and empty ones are left out. */
export type LinkQuery = Readonly<Record<string, string | number | undefined>>;

/** @param address keeps the values of its own query that are not named */
function href(address: string, query: LinkQuery = {}): string {
  const sent = queryOf(address);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') sent.delete(name);
    else sent.set(name, String(value));
  }
  return withQuery(address, sent);
}

const segment = pathPart;

export const overviewHref = (): string => '/';
export const ordersHref = (query?: LinkQuery): string => href('/orders', query);

export const systemHref = (): string => '/system';
export const queuesHref = (): string => '/system/queues';
export const scheduleHref = (): string => '/system/schedule';
export const settingsHref = (): string => '/system/settings';
export const retentionHref = (): string => '/system/retention';
export const erasuresHref = (query?: LinkQuery): string => href('/system/erasures', query);
export const erasureHref = (number: number): string => href(`/system/erasures/${number}`);
export const erasurePlanHref = (id: string): string =>
  href(`/system/erasures/plans/${segment(id)}`);
export const auditHref = (query?: LinkQuery): string => href('/system/audit', query);
export const auditCsvHref = (query: LinkQuery): string => href('/system/audit.csv', query);
export const tokensHref = (query?: LinkQuery): string => href('/system/tokens', query);
export const sessionsHref = (query?: LinkQuery): string => href('/sessions', query);
export const sessionHref = (id: number): string => `/sessions/${id}`;
export const accountHref = (): string => '/account';

/** @param by what the id is, if it is not the id of an order */
export const orderHref = orderPath;

/** The page that is shown, with its timeline by the other time. @param url its path and query */
export const timelineHref = (url: string, recorded: '1' | undefined): string =>
  href(url, { recorded, notice: undefined });

/** The bodies of an order, side by side. */
export const bodiesHref = (id: string, by?: 'order' | 'payment'): string =>
  href(`/orders/${segment(id)}/bodies`, { by: by === 'payment' ? by : undefined });

/** The list of one kind of resource. */
export const resourcesHref = (kind: ResourceKind, query?: LinkQuery): string =>
  href(`/${kind}s`, query);

export const resourceHref = resourcePath;

/** The bodies and snapshots of a resource, side by side. */
export const resourceBodiesHref = (kind: ResourceKind, id: string): string =>
  href(`/${kind}s/${segment(id)}/bodies`);

/** The form with the evidence of a dispute. */
export const evidenceHref = (disputeId: string): string =>
  href(`/disputes/${segment(disputeId)}/evidence`);

/** The form that pays a failed payout again. @param to the method to type details of */
export const retryPayoutHref = (payoutId: string, to?: string): string =>
  href(`/payouts/${segment(payoutId)}/retry`, { to });

export const authorizationsHref = (query?: LinkQuery): string => href('/authorizations', query);

/**
 * The page that confirms what is captured or released.
 * @param hold as `holdValue` writes it
 * @param url of the page that is shown, to which it leads back
 */
export const confirmHoldsHref = (
  action?: 'capture' | 'cancel',
  hold?: string,
  url?: string,
): string =>
  href('/authorizations/confirm', { action, hold, next: url && href(url, { notice: undefined }) });

/** Balances. @param query `at`, an effective time, and `known`, a time of recording */
export const ledgerHref = (query?: LinkQuery): string => href('/ledger', query);
export const journalHref = (query?: LinkQuery): string => href('/ledger/journal', query);
export const clearingHref = (query?: LinkQuery): string => href('/ledger/clearing', query);
export const ledgerAccountHref = (account: string, query?: LinkQuery): string =>
  href(`/ledger/accounts/${segment(account)}`, query);

/** The statement of a month such as `2026-10`. */
export const statementHref = (month: string, query?: LinkQuery): string =>
  href(`/ledger/statements/${segment(month)}`, query);
/** The page that closes a month, or reopens it. */
export const closingHref = (month: string, query?: LinkQuery): string =>
  href(`/ledger/statements/${segment(month)}/closing`, query);
export const statementCsvHref = (query: LinkQuery): string => href('/ledger/statement.csv', query);

/** The entries of a month for an accounting program. */
export const entriesFileHref = (format: EntryFormatName, query: LinkQuery): string =>
  href(`/ledger/entries.${format}`, query);

/** The transfers of a filter as a file. */
export const journalFileHref = (format: 'csv' | 'jsonl', query: LinkQuery): string =>
  href(`/ledger/journal.${format}`, query);

/** A list as CSV, with the filter of its page. */
export const csvHref = (list: 'order' | ResourceKind, query: LinkQuery): string =>
  href(`/${list}s.csv`, query);
export const reconciliationHref = (query?: LinkQuery): string => href('/reconciliation', query);
export const runHref = (number: number): string => href(`/reconciliation/${number}`);
export const searchHref = (query?: LinkQuery): string => href('/search', query);
export const inboxHref = (query?: LinkQuery): string => href('/inbox', query);
export const eventHref = (number: number): string => href(`/inbox/${number}`);
export const replaysHref = (query?: LinkQuery): string => href('/replays', query);
export const replayHref = (number: number): string => href(`/replays/${number}`);
/** The page that confirms a replay of many events, with the filter of the inbox. */
export const newReplayHref = (query?: LinkQuery): string => href('/replays/new', query);
export const findingsHref = (query?: LinkQuery): string => href('/findings', query);
/** The page that confirms the acceptance of several findings. */
export const acceptFindingsHref = (query?: LinkQuery): string => href('/findings/accept', query);
export const findingHref = (number: number): string => href(`/findings/${number}`);
export const alertsHref = (query?: LinkQuery): string => href('/alerts', query);
export const channelsHref = (): string => '/alerts/channels';
export const alertHref = (number: number): string => href(`/alerts/${number}`);
export const messagesHref = (query?: LinkQuery): string => href('/messages', query);
export const messageHref = (number: number): string => href(`/messages/${number}`);

export const sandboxHref = (): string => '/sandbox';
export const scenarioHref = (name: string, orderId?: string): string =>
  href(`/sandbox/scenarios/${segment(name)}`, { order: orderId });

/**
 * The page of what an entry of the audit log or an erasure names. An order is named by its id.
 * @returns undefined for what has no page, such as a customer
 */
export function thingHref({
  kind,
  id,
}: {
  readonly kind: string;
  readonly id: string;
}): string | undefined {
  return isResourceKind(kind) ? resourceHref(kind, id) : THING_PAGES.get(kind)?.(id);
}

/** By kind; the text of an id is one part of the path, so that it cannot lead elsewhere. */
const THING_PAGES = new Map<string, (id: string) => string | undefined>([
  ['order', (id) => orderHref(id)],
  ['event', (id) => subjectPath(`event:${id}`)],
  ['finding', (id) => href(`/findings/${segment(id)}`)],
  ['alert', (id) => href(`/alerts/${segment(id)}`)],
  ['message', (id) => subjectPath(`message:${id}`)],
  ['replay', (id) => href(`/replays/${segment(id)}`)],
  ['session', (id) => href(`/sessions/${segment(id)}`)],
  ['erasure', (id) => href(`/system/erasures/${segment(id)}`)],
  // A run has a number; the switch and starts name lists.
  [
    'reconciliation',
    (id) => (/^\d+$/.test(id) ? href(`/reconciliation/${id}`) : reconciliationHref()),
  ],
  ['schedule', scheduleHref],
  ['retention', retentionHref],
  ['archive', retentionHref],
  ['channel', (id) => subjectPath(`channel:${id}`)],
  ['token', () => tokensHref()],
  ['journal', () => journalHref()],
  ['month', (id) => closingHref(id)],
  ['process', systemHref],
]);

/** The page of what an alert, a finding or an entry is about; undefined if it has none. */
export function subjectHref(subject: string): string | undefined {
  const [kind = '', ...id] = subject.split(':');
  return subjectPath(subject) ?? thingHref({ kind, id: id.join(':') });
}

/** The address of an action, with its parameters in place. */
export function actionHref(
  path: string,
  params: Readonly<Record<string, string | number>>,
): string {
  return path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => segment(String(params[name])));
}
