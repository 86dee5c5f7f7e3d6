/**
 * Composes messages for one channel from the notifications that wait.
 *
 * Terms. *Notification*: an alert and why to notify of it: it opened, a reminder, it was resolved.
 * *Batch*: the notifications that a worker claims together. *Message*: what is delivered in one piece,
 * before it is put into a channel's form. *Digest*: one message about many notifications.
 *
 * 1. A channel gets notifications of its minimum severity and above, none of snoozed alerts, and none
 *    about its own outage: when it could be delivered, the outage is over.
 * 2. A batch sends one notification for each alert: the last one. If the alert opened and was resolved
 *    within the batch, one notification reports both.
 * 3. If an alert is resolved by the time of the batch, it is not reported as new or as still open:
 *    its resolution, or what resolved it, is reported instead. One-time alerts are resolved from the
 *    start and are reported.
 *    A less severe alert that opened in the transaction of a resolution reports it to the channels that get both.
 * 4. A rule with more than SINGLES_PER_RULE notifications in a batch goes into a digest. Everything
 *    does once a channel got SINGLES_PER_WINDOW single messages within WINDOW_MS.
 * 5. After a batch with a digest, the next batch is DIGEST_INTERVAL_MS away: a burst of any size ends
 *    in a few messages. Notifications that arrive meanwhile are part of the next batch.
 */

import { type Money, rankOf, SEVERITIES, type Severity } from '../../alerts/domain/alert.ts';
import { sumMinor } from '../../contract/money.ts';
import { groupBy } from '../../platform/collections.ts';
import { MINUTE_MS } from '../../platform/time.ts';

/** The channels of operators, and `shop`, which gets order webhooks only. */
export const CHANNELS = ['log', 'webhook', 'slack', 'mail', 'shop'] as const;
export type ChannelName = (typeof CHANNELS)[number];

/** `opened_and_resolved`: opened and resolved before anyone was notified. */
export type NotificationType = 'opened' | 'reminder' | 'resolved' | 'opened_and_resolved';

/** Times are ISO 8601 in UTC, so that a message is unchanged after it was stored as JSON. */
export interface Notification {
  readonly alertId: number;
  readonly rule: string;
  readonly subject: string;
  readonly severity: Severity;
  readonly type: NotificationType;
  readonly sentence: string;
  readonly nextStep: string;
  readonly orderId: string | null;
  readonly paymentId: string | null;
  readonly deadlineAt: string | null;
  readonly openedAt: string;
  readonly resolvedAt: string | null;
  /** The amount that the alert is about, if any. */
  readonly money: Money | null;
}

/** A notification of a batch. */
export interface WaitingNotification extends Notification {
  /** When it was written; the same for all that one transaction wrote about a subject. */
  readonly writtenAt: string;
}

/** Notifications of one rule and type, counted. */
export interface NotificationGroup {
  readonly rule: string;
  readonly type: NotificationType;
  readonly severity: Severity;
  readonly count: number;
  /** One entry for each currency. The amount is null if the sum is not exact. */
  readonly sums: readonly { readonly currency: string; readonly amountMinor: number | null }[];
}

/** The money that moved on one UTC day, and what is open now. */
export interface DaySummary {
  /** For example `2026-11-20`. */
  readonly day: string;
  readonly currencies: readonly {
    readonly currency: string;
    readonly capturedMinor: number;
    readonly refundedMinor: number;
    readonly disputedMinor: number;
    readonly paidOutMinor: number;
  }[];
  readonly openFindings: number;
  readonly openAlerts: Readonly<Record<Severity, number>>;
  /** `NUMBER:DIGEST`; null before the first block, and undefined in messages of an earlier version. */
  readonly chainHead?: string | null;
}

export type Content =
  | { readonly kind: 'alert'; readonly alert: Notification }
  | {
      readonly kind: 'digest';
      readonly severity: Severity;
      readonly count: number;
      readonly groups: readonly NotificationGroup[];
      /** The first ones to look at. */
      readonly urgent: readonly Notification[];
    }
  | { readonly kind: 'summary'; readonly summary: DaySummary }
  | {
      readonly kind: 'order';
      /** For example `order.paid`. */
      readonly type: string;
      readonly orderId: string;
      readonly at: string;
      readonly data: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'test'; readonly at: string };

export const SINGLES_PER_RULE = 5;
export const SINGLES_PER_WINDOW = 10;
export const WINDOW_MS = 10 * MINUTE_MS;
export const DIGEST_INTERVAL_MS = MINUTE_MS;
const MOST_URGENT = 5;

/** A channel that gets alerts. */
export interface Subscriber {
  readonly channel: ChannelName;
  /** The minimum severity. */
  readonly severity: Severity;
  /** Single alerts that it got within WINDOW_MS. */
  readonly recentSingles: number;
}

/** The messages of a batch for one channel, most severe first. */
export function composeMessages(
  subscriber: Subscriber,
  batch: readonly WaitingNotification[],
): readonly Content[] {
  const wanted = withoutReplaced(
    onePerAlert(batch).filter(
      ({ severity, subject }) =>
        rankOf(severity) >= rankOf(subscriber.severity) &&
        subject !== `channel:${subscriber.channel}`,
    ),
  );
  const singles: Notification[] = [];
  const digested: Notification[] = [];
  for (const ofRule of groupBy(wanted, ({ rule }) => rule).values()) {
    (ofRule.length > SINGLES_PER_RULE ? digested : singles).push(...ofRule);
  }
  const isOverLimit = subscriber.recentSingles + singles.length > SINGLES_PER_WINDOW;
  if (isOverLimit) digested.push(...singles.splice(0));
  const messages: Content[] = singles
    .toSorted(byUrgency)
    .map((alert) => ({ kind: 'alert', alert }) as const);
  if (digested.length > 0) messages.push(digestOf(digested));
  return messages;
}

/** Rules 2 and 3. Notifications keep their order. */
function onePerAlert(batch: readonly WaitingNotification[]): readonly WaitingNotification[] {
  const last = new Map<number, WaitingNotification>();
  for (const notification of batch) {
    const before = last.get(notification.alertId)?.type;
    const { type } = notification;
    const ofNew = type === 'resolved' ? 'opened_and_resolved' : 'opened';
    last.set(notification.alertId, {
      ...notification,
      type: before === 'opened' ? ofNew : type,
    });
  }
  return [...last.values()].filter((notification) => !isOutdated(notification));
}

/** Rule 3. */
function isOutdated(notification: Notification): boolean {
  const { openedAt, resolvedAt } = notification;
  const isOneTime = resolvedAt === openedAt;
  return reportsOpen(notification) && resolvedAt !== null && !isOneTime;
}

/** Rule 3, for one channel. */
function withoutReplaced(wanted: readonly WaitingNotification[]): readonly Notification[] {
  const news = groupBy(
    wanted.filter(({ type }) => type === 'opened'),
    ({ subject }) => subject,
  );
  const left = wanted.filter(({ type, subject, severity, writtenAt }) => {
    if (type !== 'resolved' && type !== 'opened_and_resolved') return true;
    const replaces = (one: WaitingNotification): boolean =>
      one.writtenAt === writtenAt && rankOf(one.severity) < rankOf(severity);
    return !news.get(subject)?.some(replaces);
  });
  return left.map(({ writtenAt: _, ...notification }) => notification);
}

function reportsOpen({ type }: Notification): boolean {
  return type === 'opened' || type === 'reminder';
}

function digestOf(notifications: readonly Notification[]): Content {
  const groups = groupBy(notifications, ({ type, rule }) => `${type} ${rule}`);
  return {
    kind: 'digest',
    severity: maxSeverity(notifications),
    count: notifications.length,
    groups: Array.from(groups.values(), summarizeGroup).toSorted(byWeight),
    urgent: notifications.filter(reportsOpen).toSorted(byUrgency).slice(0, MOST_URGENT),
  };
}

function summarizeGroup(group: readonly [Notification, ...Notification[]]): NotificationGroup {
  const [{ rule, type }] = group;
  const byCurrency = groupBy(
    group.flatMap(({ money }) => money ?? []),
    ({ currency }) => currency,
  );
  return {
    rule,
    type,
    severity: maxSeverity(group),
    count: group.length,
    sums: [...byCurrency]
      .map(([currency, moneys]) => ({ currency, amountMinor: exactSum(moneys) }))
      .toSorted((a, b) => compare(a.currency, b.currency)),
  };
}

/** An alert is sent even if the sum of its group is too large to be exact. */
function exactSum(moneys: readonly Money[]): number | null {
  try {
    return sumMinor(moneys.map(({ amountMinor }) => amountMinor));
  } catch {
    return null;
  }
}

function maxSeverity(notifications: readonly Notification[]): Severity {
  const rank = Math.max(...new Set(notifications.map(({ severity }) => rankOf(severity))));
  return SEVERITIES[rank] ?? 'info';
}

/** More severe first, then the earlier deadline, the larger amount, and the older alert. */
function byUrgency(a: Notification, b: Notification): number {
  return (
    rankOf(b.severity) - rankOf(a.severity) ||
    compare(a.deadlineAt ?? '~', b.deadlineAt ?? '~') ||
    (b.money?.amountMinor ?? 0) - (a.money?.amountMinor ?? 0) ||
    a.alertId - b.alertId
  );
}

function byWeight(a: NotificationGroup, b: NotificationGroup): number {
  return (
    rankOf(b.severity) - rankOf(a.severity) ||
    b.count - a.count ||
    compare(a.rule, b.rule) ||
    compare(a.type, b.type)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
