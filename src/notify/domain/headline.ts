/** One alert in one line: `Dispute opened: 54.00 EUR on order 1001, evidence due Tue 24 Nov 10:30 UTC`. */
import { ruleTitle } from '../../alerts/domain/ruleTitles.ts';
import { formatMoney } from '../../contract/money.ts';
import { RESOURCE_KINDS } from '../../contract/resources/index.ts';
import type { Notification, NotificationType } from './message.ts';

const PREFIXES: Readonly<Record<NotificationType, string>> = {
  opened: '',
  reminder: 'Still open: ',
  resolved: 'Resolved: ',
  opened_and_resolved: 'Opened and resolved: ',
};

/** What the line depends on. */
export type HeadlineFacts = Pick<
  Notification,
  'rule' | 'type' | 'subject' | 'orderId' | 'deadlineAt' | 'money'
>;

export function headlineOf(notification: HeadlineFacts): string {
  const { rule, type, money } = notification;
  const amount = money === null ? undefined : formatMoney(money.amountMinor, money.currency);
  const place = placeOf(notification);
  const joined = place?.isOrder === true ? ' on ' : ', ';
  const about = [amount, place?.name].filter((part) => part !== undefined).join(joined);
  const facts = [about, deadlineText(notification)].filter((part) => part !== '').join(', ');
  return `${PREFIXES[type]}${ruleTitle(rule)}${facts === '' ? '' : `: ${facts}`}`;
}

const NAMED_KINDS: readonly string[] = [...RESOURCE_KINDS, 'event', 'list', 'channel'];

interface Place {
  readonly isOrder: boolean;
  readonly name: string;
}

/** The order if there is one: people know it by its number. */
function placeOf({ orderId, subject }: HeadlineFacts): Place | undefined {
  if (orderId !== null) return { isOrder: true, name: `order ${orderId}` };
  const [kind = '', ...id] = subject.split(':');
  if (!NAMED_KINDS.includes(kind)) return undefined;
  return { isOrder: false, name: `${kind} ${id.join(':')}` };
}

/** A resolved alert has no deadline any more. */
function deadlineText({ rule, type, deadlineAt }: HeadlineFacts): string {
  if (deadlineAt === null || type === 'resolved' || type === 'opened_and_resolved') return '';
  return `${deadlineWord(rule)} ${minuteOf(deadlineAt)}`;
}

function deadlineWord(rule: string): string {
  if (rule.startsWith('dispute_')) return 'evidence due';
  return rule.startsWith('authorization_') ? 'capture by' : 'due';
}

/** The minute with its zone, such as `Tue 24 Nov 10:30 UTC`; never later than the deadline. */
function minuteOf(iso: string): string {
  const parts = new Date(iso).toUTCString().split(/,? /);
  const [weekday = '', day = '', month = '', , time = ''] = parts;
  return `${weekday} ${Number(day)} ${month} ${time.slice(0, 5)} UTC`;
}
