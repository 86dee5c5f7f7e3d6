/**
 * Messages as text for people: a title, lines of plain text, and links to pages of the console.
 *
 * 1. Text from outside (ids, texts of the service) stays on one line without control characters: it
 *    cannot start a line or a mail header.
 * 2. The title of an alert is what a person needs to decide how soon to look.
 * 3. No markup here: `slack.ts` and `channels/mail.ts` add their own.
 */

import { SEVERITIES } from '../../alerts/domain/alert.ts';
import { instant as instantOf, shortened } from '../../alerts/domain/format.ts';
import { formatMoney } from '../../contract/money.ts';
import { counted } from '../../platform/counted.ts';
import { headlineOf } from './headline.ts';
import { type Installation, type Link, linksOf } from './links.ts';
import type {
  Content,
  DaySummary,
  Notification,
  NotificationGroup,
  NotificationType,
} from './message.ts';

export interface Text {
  /** The name of the installation. */
  readonly installation: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** The page to open first before the others. */
  readonly links: readonly Link[];
}

/** The title for a place that has only one line, such as the subject of a mail. */
export function subjectLine({ installation, title }: Text): string {
  return `[${installation}] ${title}`;
}

export function linkLine({ label, url }: Link): string {
  return `${label}: ${url}`;
}

/** Lists every alert. */
export const LIST_COMMAND = 'npx tallyhook alerts list';

const TYPE_TEXTS: Readonly<Record<NotificationType, string>> = {
  opened: 'new',
  reminder: 'still open',
  resolved: 'resolved',
  opened_and_resolved: 'opened and resolved',
};

const MAX_TITLE = 120;
const MAX_LINE = 1_000;

export function textOf(content: Content, { name, consoleUrl }: Installation): Text {
  const { title, lines } = compose(content);
  return {
    installation: name,
    title: oneLine(title, MAX_TITLE),
    lines: lines.map((text) => oneLine(text, MAX_LINE)),
    links: linksOf(content, consoleUrl),
  };
}

type Composed = Pick<Text, 'title' | 'lines'>;

function compose(content: Content): Composed {
  switch (content.kind) {
    case 'alert':
      return alertText(content.alert);
    case 'digest':
      return {
        title: `${counted(content.count, 'alert')}, ${content.severity}`,
        lines: [
          ...content.groups.map(groupLine),
          ...(content.urgent.length > 0 ? ['', 'Most urgent:'] : []),
          ...content.urgent.flatMap(({ sentence, nextStep }) => [`- ${sentence}`, `  ${nextStep}`]),
          '',
          `All alerts: ${LIST_COMMAND}`,
        ],
      };
    case 'summary':
      return summaryText(content.summary);
    case 'order':
      return { title: content.type, lines: [JSON.stringify(content.data)] };
    case 'test':
      return {
        title: 'Test message',
        lines: [
          `This is a test message, sent at ${instant(content.at)}. Alerts arrive on this channel.`,
          'No action is needed.',
        ],
      };
  }
}

function alertText(notification: Notification): Composed {
  const { severity, type, sentence, nextStep } = notification;
  const isResolved = type === 'resolved' || type === 'opened_and_resolved';
  const about = [
    severity,
    notification.orderId === null ? undefined : `order ${notification.orderId}`,
    notification.paymentId === null ? undefined : `payment ${notification.paymentId}`,
    notification.deadlineAt === null ? undefined : `due ${instant(notification.deadlineAt)}`,
    `opened ${instant(notification.openedAt)}`,
    isResolved && notification.resolvedAt !== null
      ? `resolved ${instant(notification.resolvedAt)}`
      : undefined,
    `alert ${notification.alertId}`,
  ].filter((part) => part !== undefined);
  return {
    title: headlineOf(notification),
    lines: [
      type === 'opened' ? sentence : `${capitalize(TYPE_TEXTS[type])}: ${sentence}`,
      ...(isResolved ? [] : [`Next step: ${nextStep}`]),
      about.join(', '),
    ],
  };
}

function groupLine({ rule, type, count, sums, severity }: NotificationGroup): string {
  const money = sums.map(({ currency, amountMinor }) =>
    amountMinor === null
      ? `${currency} (the sum is too large)`
      : formatMoney(amountMinor, currency),
  );
  const about = money.length > 0 ? `, ${money.join(' and ')}` : '';
  return `${count} x ${rule} ${TYPE_TEXTS[type]} (${severity})${about}`;
}

function summaryText({
  day,
  currencies,
  openFindings,
  openAlerts,
  chainHead,
}: DaySummary): Composed {
  const lines = currencies.map(
    ({ currency, ...moved }) =>
      `${currency}: captured ${formatMoney(moved.capturedMinor, currency)}, ` +
      `refunded ${formatMoney(moved.refundedMinor, currency)}, ` +
      `disputed ${formatMoney(moved.disputedMinor, currency)}, ` +
      `paid out ${formatMoney(moved.paidOutMinor, currency)}`,
  );
  const alerts = SEVERITIES.toReversed().map((severity) => `${openAlerts[severity]} ${severity}`);
  return {
    title: `Daily summary of ${day}`,
    lines: [
      ...(lines.length > 0 ? lines : ['No money was recorded on this day (UTC).']),
      `Open now: ${counted(openFindings, 'finding')}; alerts: ${alerts.join(', ')}.`,
      ...(chainHead ? [`Keep this: head of the chain of the journal ${chainHead}`] : []),
      `Details: ${LIST_COMMAND}, npx tallyhook findings list`,
    ],
  };
}

function instant(iso: string): string {
  return instantOf(Date.parse(iso));
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Rule 1. */
function oneLine(text: string, maxLength: number): string {
  return shortened(text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trimEnd(), maxLength);
}
