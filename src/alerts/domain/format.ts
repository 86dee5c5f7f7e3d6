/** Formats amounts, times, names and commands in alerts. */
import { formatMoney } from '../../contract/money.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/time.ts';
import type { Described, StateBefore } from './facts.ts';
import { shellWord } from './shellWord.ts';

/** For example `65.40 USD`. */
export function money(amountMinor: number | undefined, currency: string | undefined): string {
  return amountMinor === undefined || currency === undefined
    ? 'an unknown amount'
    : formatMoney(amountMinor, currency);
}

/** For example `2026-11-21 17:05 UTC`. */
export function instant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** A duration, rounded down: `42 s`, `7 min`, `5 h`, `3 d`. */
export function span(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.floor(ms / 1000)} s`;
  if (ms < 2 * HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return `${Math.floor(ms / DAY_MS)} d`;
}

const LONGEST_QUOTE = 80;

/** Text from outside, short and on one line; `unknown` if there is none. */
export function quote(text: unknown): string {
  const line = typeof text === 'string' ? oneLine(text, LONGEST_QUOTE) : '';
  return line === '' ? 'unknown' : line;
}

function oneLine(text: string, longest: number): string {
  return shortened(text.replace(/[\p{C}\s]+/gu, ' ').trim(), longest);
}

/** A text that is cut where it is too long, and then ends with an ellipsis. */
export function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text;
  // A character of two code units may have been cut in half.
  const start = text.slice(0, longest - 1).replace(/\p{Cs}$/u, '');
  return `${start.trimEnd()}…`;
}

const LONGEST_REASON = 300;

/** The reason of a failure or a dispute, to append to a sentence. */
export function reasonSentence({ kind, reason }: Pick<Described, 'kind' | 'reason'>): string {
  const sentence = givenReason(reason ?? '');
  if (sentence !== '') return sentence;
  return kind === 'dispute' ? '' : ' The service gives no reason.';
}

/** A reason as a sentence to append; empty without one. */
export function givenReason(reason: string): string {
  const text = oneLine(reason, LONGEST_REASON);
  return text === '' ? '' : ` Reason: ${text}${/[.!?…]$/.test(text) ? '' : '.'}`;
}

type Named = Pick<Described, 'kind' | 'id' | 'orderId' | 'paymentId'>;

/** The order and payment of a resource, for example ` (order 1001, payment pay_1)`; may be empty. */
export function belonging({ kind, orderId, paymentId }: Named): string {
  const names = [
    ...(orderId === undefined ? [] : [`order ${orderId}`]),
    ...(kind === 'payment' || paymentId === undefined ? [] : [`payment ${paymentId}`]),
  ];
  return names.length === 0 ? '' : ` (${names.join(', ')})`;
}

/** The command that explains the state of a resource. */
export function history({ kind, id, orderId }: Named): string {
  return orderId === undefined || kind === 'payout'
    ? `npx tallyhook find ${shellWord(id)}`
    : `npx tallyhook orders explain ${shellWord(orderId)}`;
}

/** The subject of alerts about a resource. */
export function subjectOf({ kind, id }: Pick<Described, 'kind' | 'id'>): string {
  return `${kind}:${id}`;
}

/** The facts that every alert about a resource has for programs. */
export function resourceDetail(
  facts: Described & { readonly before?: StateBefore | undefined },
): Readonly<Record<string, unknown>> {
  const { id, status, stage, amountMinor, currency, reason, before } = facts;
  return {
    id,
    status,
    ...(stage !== undefined && { stage }),
    ...(before && before.status !== status && { previousStatus: before.status }),
    amountMinor,
    currency,
    ...(reason !== undefined && { reason }),
  };
}
