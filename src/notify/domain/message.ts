/**
 * From what is to be said of alerts to messages for one channel.
 *
 * Terms. *Saying*: an alert and the occasion to speak of it. *Take*: the sayings that waited when a
 * worker came for them. *Message*: what goes out in one piece, in no channel's form yet.
 *
 * 1. A channel is told what is at least as severe as it wants, and nothing of what is snoozed. It is
 *    never told of its own death: by then it lives again.
 * 2. Of one alert a take says one thing: the last occasion, unless it opened and resolved within the
 *    take; then it says both.
 * 3. What is over by then is not said as new or as still open, unless its end is said with it: the end
 *    says it, or what ended it. News are over from the start, and are said.
 * 4. A rule with more than SINGLES_PER_RULE sayings in a take is said in one message, and so is
 *    everything once a channel has had SINGLES_PER_WINDOW single messages within WINDOW_MS.
 * 5. After a take that had to be gathered like that, the next is STORM_PAUSE_MS away: a storm ends
 *    in a few messages, whatever its size. What waits meanwhile is in the next take.
 */

import { SEVERITIES, type Severity } from '../../alerts/domain/alert.ts';
import { sumMinor } from '../../contract/money.ts';

/** Operators' channels, and the shop's own, which hears of orders only. */
export const CHANNELS = ['log', 'webhook', 'slack', 'mail', 'shop'] as const;
export type ChannelName = (typeof CHANNELS)[number];

/** `passed`: opened and resolved before anybody was told. */
export type Occasion = 'opened' | 'reminder' | 'resolved' | 'passed';

export interface Money {
  readonly currency: string;
  readonly amountMinor: number;
}

/** One saying. Instants are ISO 8601 in UTC, so that a message is the same after it was stored. */
export interface Saying {
  readonly alertId: number;
  readonly rule: string;
  readonly subject: string;
  readonly severity: Severity;
  readonly occasion: Occasion;
  readonly sentence: string;
  readonly nextStep: string;
  readonly orderId: string | null;
  readonly paymentId: string | null;
  readonly deadlineAt: string | null;
  readonly openedAt: string;
  readonly resolvedAt: string | null;
  /** What it is about in money, where it is. */
  readonly money: Money | null;
}

/** Sayings of one rule and occasion, counted. */
export interface SayingGroup {
  readonly rule: string;
  readonly occasion: Occasion;
  readonly severity: Severity;
  readonly count: number;
  /** One entry for each currency. Null where a sum cannot be told exactly. */
  readonly sums: readonly { readonly currency: string; readonly amountMinor: number | null }[];
}

/** What was moved on one UTC day, and what is open now. */
export interface DaySummary {
  /** The day, `2026-11-20`. */
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
}

export type Content =
  | { readonly kind: 'alert'; readonly alert: Saying }
  | {
      readonly kind: 'alerts';
      readonly severity: Severity;
      readonly count: number;
      readonly groups: readonly SayingGroup[];
      /** The first that somebody should look at. */
      readonly urgent: readonly Saying[];
    }
  | { readonly kind: 'summary'; readonly summary: DaySummary }
  | {
      readonly kind: 'order';
      /** `order.paid`. */
      readonly type: string;
      readonly orderId: string;
      readonly at: string;
      readonly data: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'test'; readonly at: string };

export const SINGLES_PER_RULE = 5;
export const SINGLES_PER_WINDOW = 10;
export const WINDOW_MS = 10 * 60_000;
export const STORM_PAUSE_MS = 60_000;
const MOST_URGENT = 5;

/** What a channel wants, and what it was given lately. */
export interface Listener {
  readonly channel: ChannelName;
  readonly severity: Severity;
  /** Single alerts that it was given within WINDOW_MS. */
  readonly recentSingles: number;
}

/** The messages that a take comes to for one channel, most severe first. */
export function composeFor(listener: Listener, take: readonly Saying[]): readonly Content[] {
  const wanted = onePerAlert(take).filter(
    (saying) =>
      rankOf(saying.severity) >= rankOf(listener.severity) &&
      saying.subject !== `channel:${listener.channel}`,
  );
  const byRule = new Map<string, Saying[]>();
  for (const saying of wanted) {
    const sayings = byRule.get(saying.rule);
    if (sayings) sayings.push(saying);
    else byRule.set(saying.rule, [saying]);
  }
  const singles: Saying[] = [];
  const gathered: Saying[] = [];
  for (const sayings of byRule.values()) {
    (sayings.length > SINGLES_PER_RULE ? gathered : singles).push(...sayings);
  }
  const isOverPace = listener.recentSingles + singles.length > SINGLES_PER_WINDOW;
  if (isOverPace) gathered.push(...singles.splice(0));
  const messages: Content[] = singles
    .toSorted(byUrgency)
    .map((alert) => ({ kind: 'alert', alert }) as const);
  if (gathered.length > 0) messages.push(gather(gathered));
  return messages;
}

/** Rules 2 and 3. Sayings keep their order. */
function onePerAlert(take: readonly Saying[]): readonly Saying[] {
  const last = new Map<number, Saying>();
  for (const saying of take) {
    const sofar = last.get(saying.alertId)?.occasion;
    const isNew = sofar === 'opened' || sofar === 'passed';
    const occasion = isNew ? (saying.occasion === 'resolved' ? 'passed' : sofar) : saying.occasion;
    last.set(saying.alertId, { ...saying, occasion });
  }
  return [...last.values()].filter((saying) => !isOutlived(saying));
}

function isOutlived({ occasion, openedAt, resolvedAt }: Saying): boolean {
  const isNews = resolvedAt === openedAt;
  return (occasion === 'opened' || occasion === 'reminder') && resolvedAt !== null && !isNews;
}

function gather(sayings: readonly Saying[]): Content {
  const groups = new Map<string, Saying[]>();
  for (const saying of sayings) {
    const key = `${saying.occasion} ${saying.rule}`;
    const group = groups.get(key);
    if (group) group.push(saying);
    else groups.set(key, [saying]);
  }
  const speaking = sayings.filter(
    ({ occasion }) => occasion === 'opened' || occasion === 'reminder',
  );
  return {
    kind: 'alerts',
    severity: greatest(sayings),
    count: sayings.length,
    groups: [...groups.values()].map(groupOf).toSorted(byWeight),
    urgent: speaking.toSorted(byUrgency).slice(0, MOST_URGENT),
  };
}

function groupOf(sayings: readonly Saying[]): SayingGroup {
  const [{ rule, occasion }] = sayings as readonly [Saying, ...Saying[]];
  const byCurrency = new Map<string, number[]>();
  for (const { money } of sayings) {
    if (money === null) continue;
    const amounts = byCurrency.get(money.currency);
    if (amounts) amounts.push(money.amountMinor);
    else byCurrency.set(money.currency, [money.amountMinor]);
  }
  return {
    rule,
    occasion,
    severity: greatest(sayings),
    count: sayings.length,
    sums: [...byCurrency]
      .map(([currency, amounts]) => ({ currency, amountMinor: exactSum(amounts) }))
      .toSorted((a, b) => compare(a.currency, b.currency)),
  };
}

/** An alert must go out even where its sum does not. */
function exactSum(amountsMinor: readonly number[]): number | null {
  try {
    return sumMinor(amountsMinor);
  } catch {
    return null;
  }
}

function rankOf(severity: Severity): number {
  return SEVERITIES.indexOf(severity);
}

function greatest(sayings: readonly Saying[]): Severity {
  const rank = Math.max(...new Set(sayings.map(({ severity }) => rankOf(severity))));
  return SEVERITIES[rank] ?? 'info';
}

/** More severe first, then the nearer deadline, then the larger amount, then the older one. */
function byUrgency(a: Saying, b: Saying): number {
  return (
    rankOf(b.severity) - rankOf(a.severity) ||
    compare(a.deadlineAt ?? '~', b.deadlineAt ?? '~') ||
    (b.money?.amountMinor ?? 0) - (a.money?.amountMinor ?? 0) ||
    a.alertId - b.alertId
  );
}

function byWeight(a: SayingGroup, b: SayingGroup): number {
  return (
    rankOf(b.severity) - rankOf(a.severity) ||
    b.count - a.count ||
    compare(a.rule, b.rule) ||
    compare(a.occasion, b.occasion)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
