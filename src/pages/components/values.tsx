/** How single values are shown: amounts, times, ids, states. */
import type { ComponentChildren } from 'preact';
import { formatAmount } from '../../contract/money.ts';

/** An amount of minor units with the decimals of its currency; a dash if there is none. */
export function Money({
  amountMinor,
  currency,
}: {
  readonly amountMinor: number | bigint | null;
  readonly currency: string | null;
}) {
  if (amountMinor === null || currency === null) return <Nothing />;
  return (
    <span class="money">
      {formatAmount(amountMinor, currency)} <abbr>{currency}</abbr>
    </span>
  );
}

/**
 * A time. It is UTC without a script; the script shows it in the viewer's zone, which it names, with UTC on
 * hover.
 * @param at an ISO time in UTC, or a Date
 * @param isRelative the script shows its distance from now instead, and the hour of one that lies ahead
 */
export function Time({
  at,
  isRelative = false,
}: {
  readonly at: string | Date | null;
  readonly isRelative?: boolean;
}) {
  if (at === null) return <Nothing />;
  const iso = typeof at === 'string' ? at : at.toISOString();
  const text = `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
  return (
    <time dateTime={iso} title={text} data-relative={isRelative ? '' : undefined}>
      {text}
    </time>
  );
}

/** Text with commands between backticks, as the command line prints it. */
export function Marked({ text }: { readonly text: string }) {
  return (
    <span>
      {text
        .split(/`([^`]+)`/)
        .map((part, place) =>
          place % 2 === 1 ? <code key={`${place}:${part}`}>{part}</code> : part,
        )}
    </span>
  );
}

/** An id, which links to its page if it has one. */
export function Id({ id, href }: { readonly id: string; readonly href?: string | undefined }) {
  return <span class="id">{href === undefined ? <code>{id}</code> : <a href={href}>{id}</a>}</span>;
}

export type Tone = 'good' | 'bad' | 'warn' | 'plain';

/** A state as a word; its color adds nothing that the word does not state. */
export function Badge({
  tone = 'plain',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

function Nothing() {
  return (
    <span class="nothing">
      <span aria-hidden="true">–</span>
      <span class="hidden">none</span>
    </span>
  );
}
