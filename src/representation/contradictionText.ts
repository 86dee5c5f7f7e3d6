/**
 * A contradiction in words: what the service returned, what the ledger has instead, and what happens next. Ids come
 * from outside, so the caller prints them with `printable`.
 */
import { formatMoney } from '../contract/money.ts';
import { isSameCapture } from '../contract/statuses.ts';
import type { Contradiction } from '../ledger/domain/epochs.ts';
import { formatTime } from './time.ts';

/** What the ledger has of the resource. */
export interface HeldTerms {
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
  readonly capturedMinor: number;
  readonly authorizedMinor: number;
  readonly paymentId: string | null;
  readonly orderId: string | null;
}

export interface ContradictionFacts {
  readonly contradiction: Contradiction;
  readonly held: HeldTerms;
  /** Undefined: none is scheduled. */
  readonly nextCheckAt: Date | undefined;
}

export function contradictionText({
  contradiction,
  held,
  nextCheckAt,
}: ContradictionFacts): string {
  const { observedMicros, terms } = contradiction;
  const at = formatTime(new Date(observedMicros / 1000));
  const differences = differencesOf(terms, held);
  const shown = listed(differences.map(([remote]) => remote));
  const kept = listed(differences.map(([, local]) => local));
  const compared =
    differences.length === 0
      ? `At ${at} the service returned an earlier version of what the ledger has.`
      : `At ${at} the service returned ${shown}. The ledger has ${kept}.`;
  const next =
    nextCheckAt === undefined ? '' : ` The next retrieve is due at ${formatTime(nextCheckAt)}.`;
  return (
    `The service contradicts the ledger. ${compared} The ledger changes once a second retrieve, at least a minute ` +
    `after this one, returns the same, because a single response may come from a replica that lags.${next}`
  );
}

type Difference = readonly [remote: string, local: string];

function differencesOf(terms: Contradiction['terms'], held: HeldTerms): readonly Difference[] {
  const named = (noun: string, remote: string | undefined, local: string | null) =>
    remote === undefined || remote === local
      ? []
      : [
          [
            `the ${noun} ${remote}`,
            local === null ? `no ${noun}` : `the ${noun} ${local}`,
          ] as const,
        ];
  return [
    ...named('status', terms.status, held.status),
    ...named('stage', terms.stage, held.stage),
    ...amountDifferences(terms, held),
    ...named('payment', terms.paymentId, held.paymentId),
    ...named('order', terms.orderId, held.orderId),
  ];
}

function amountDifferences(
  { amountMinor, currency, amountReceivedMinor, amountCapturableMinor }: Contradiction['terms'],
  held: HeldTerms,
): readonly Difference[] {
  const remote = (minor: number) => moneyText(minor, currency ?? held.currency);
  const local = (minor: number) => moneyText(minor, held.currency);
  const openMinor = held.authorizedMinor - held.capturedMinor;
  const isAmountEqual =
    (amountMinor ?? held.amountMinor) === held.amountMinor &&
    (currency ?? held.currency) === held.currency;
  const amount = amountMinor ?? held.amountMinor;
  const differences: (Difference | undefined)[] = [
    isAmountEqual || amount === null
      ? undefined
      : [
          `the amount ${remote(amount)}`,
          held.amountMinor === null ? 'no amount' : `the amount ${local(held.amountMinor)}`,
        ],
    isSameCapture(amountReceivedMinor ?? held.capturedMinor, held)
      ? undefined
      : [`${remote(amountReceivedMinor ?? 0)} captured`, `${local(held.capturedMinor)} captured`],
    (amountCapturableMinor ?? openMinor) === openMinor
      ? undefined
      : [
          `${remote(amountCapturableMinor ?? 0)} that can be captured`,
          `${local(openMinor)} that can be captured`,
        ],
  ];
  return differences.filter((difference) => difference !== undefined);
}

function moneyText(minor: number, currency: string | null): string {
  return currency === null ? `${minor} minor units` : formatMoney(minor, currency);
}

function listed(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}
