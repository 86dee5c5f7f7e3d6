/**
 * What an open page follows. A page declares its topics; when one of them moves, its browser fetches the
 * page again. A topic is too coarse rather than too fine: a needless fetch costs less than a stale page.
 */
import { isStorable } from '../../console/parseInput.ts';

/** A list. `ledger` moves with every change of an order or a resource. */
export const LIST_TOPICS = [
  'ledger',
  'inbox',
  'findings',
  'alerts',
  'messages',
  'runs',
  'replays',
  'erasures',
  'system',
] as const;

export type ListTopic = (typeof LIST_TOPICS)[number];

export const ITEM_KINDS = [
  'order',
  'payment',
  'refund',
  'dispute',
  'payout',
  'event',
  'finding',
  'alert',
  'message',
  'run',
] as const;

export type ItemKind = (typeof ITEM_KINDS)[number];

/** One thing, by its id, its number, or the key of an order: `payment:pay_1`, `alert:5`, `order:order:1001`. */
export type ItemTopic = `${ItemKind}:${string}`;

export type Topic = ListTopic | ItemTopic;

/** What is too long for an id of anything. */
const MAX_TOPIC_LENGTH = 400;

/** One statement reads the topics of all viewers, so text that PostgreSQL cannot store would fail for all. */
export function isTopic(text: string): text is Topic {
  if (text.length > MAX_TOPIC_LENGTH || !isStorable(text)) return false;
  if ((LIST_TOPICS as readonly string[]).includes(text)) return true;
  const colon = text.indexOf(':');
  return colon > 0 && (ITEM_KINDS as readonly string[]).includes(text.slice(0, colon));
}
