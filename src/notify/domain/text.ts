/**
 * Messages as people read them: a title and lines of plain text.
 *
 * 1. What came from outside (ids, words of the service) is one line without control characters,
 *    whatever it was: it can neither begin a line of its own nor a header.
 * 2. Nothing here knows a channel's markup; `slack.ts` and `mail.ts` beside this put on their own.
 */

import { SEVERITIES } from '../../alerts/domain/alert.ts';
import { instant as instantOf } from '../../alerts/domain/words.ts';
import { formatMoney } from '../../contract/money.ts';
import type { Content, DaySummary, Occasion, Saying, SayingGroup } from './message.ts';

export interface Text {
  readonly title: string;
  readonly lines: readonly string[];
}

/** Where all of it stands. */
export const LIST_COMMAND = 'npx tallyhook alerts list';

const OCCASION_WORDS: Readonly<Record<Occasion, string>> = {
  opened: 'new',
  reminder: 'still open',
  resolved: 'resolved',
  passed: 'opened and resolved',
};

const MAX_TITLE = 120;
const MAX_LINE = 1_000;

export function textOf(content: Content): Text {
  const { title, lines } = compose(content);
  return { title: oneLine(title, MAX_TITLE), lines: lines.map((text) => oneLine(text, MAX_LINE)) };
}

function compose(content: Content): Text {
  switch (content.kind) {
    case 'alert':
      return alertText(content.alert);
    case 'alerts':
      return {
        title: `${content.severity}: ${content.count} alerts`,
        lines: [
          ...content.groups.map(groupLine),
          ...(content.urgent.length > 0 ? ['', 'The most urgent:'] : []),
          ...content.urgent.flatMap((saying) => [`- ${saying.sentence}`, `  ${saying.nextStep}`]),
          '',
          `All of them: ${LIST_COMMAND}`,
        ],
      };
    case 'summary':
      return summaryText(content.summary);
    case 'order':
      return { title: content.type, lines: [JSON.stringify(content.data)] };
    case 'test':
      return {
        title: 'Tallyhook: a test',
        lines: [
          `This is a test, sent at ${instant(content.at)}. Alerts will come this way.`,
          'Nothing has happened, and nothing is to be done.',
        ],
      };
  }
}

function alertText(saying: Saying): Text {
  const { rule, severity, occasion, sentence, nextStep } = saying;
  const isOver = occasion === 'resolved' || occasion === 'passed';
  const about = [
    saying.orderId === null ? undefined : `order ${saying.orderId}`,
    saying.paymentId === null ? undefined : `payment ${saying.paymentId}`,
    saying.deadlineAt === null ? undefined : `due ${instant(saying.deadlineAt)}`,
    `open since ${instant(saying.openedAt)}`,
    isOver && saying.resolvedAt !== null ? `resolved ${instant(saying.resolvedAt)}` : undefined,
    `alert ${saying.alertId}`,
  ].filter((part) => part !== undefined);
  return {
    title: `${isOver ? OCCASION_WORDS[occasion] : severity}: ${rule}, ${saying.subject}`,
    lines: [
      occasion === 'opened' ? sentence : `${capital(OCCASION_WORDS[occasion])}: ${sentence}`,
      ...(isOver ? [] : [`Next: ${nextStep}`]),
      about.join(', '),
    ],
  };
}

function groupLine({ rule, occasion, count, sums, severity }: SayingGroup): string {
  const money = sums.map(({ currency, amountMinor }) =>
    amountMinor === null
      ? `more ${currency} than can be added`
      : formatMoney(amountMinor, currency),
  );
  const about = money.length > 0 ? `, about ${money.join(' and ')}` : '';
  return `${count} x ${rule} ${OCCASION_WORDS[occasion]} (${severity})${about}`;
}

function summaryText({ day, currencies, openFindings, openAlerts }: DaySummary): Text {
  const lines = currencies.map(
    ({ currency, ...moved }) =>
      `${currency}: captured ${formatMoney(moved.capturedMinor, currency)}, ` +
      `refunded ${formatMoney(moved.refundedMinor, currency)}, ` +
      `disputed ${formatMoney(moved.disputedMinor, currency)}, ` +
      `paid out ${formatMoney(moved.paidOutMinor, currency)}`,
  );
  const alerts = SEVERITIES.toReversed().map((severity) => `${openAlerts[severity]} ${severity}`);
  return {
    title: `Tallyhook: ${day}`,
    lines: [
      ...(lines.length > 0 ? lines : ['No money was moved on that day (UTC).']),
      `Open now: ${openFindings} findings, alerts ${alerts.join(', ')}.`,
      `Look: ${LIST_COMMAND}, npx tallyhook findings list`,
    ],
  };
}

function instant(iso: string): string {
  return instantOf(Date.parse(iso));
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Rule 1. */
function oneLine(text: string, most: number): string {
  const flat = text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trimEnd();
  return flat.length > most ? `${flat.slice(0, most - 1).trimEnd()}…` : flat;
}
