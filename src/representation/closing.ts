/** Closings of months as JSON and as text. */
import { formatHead } from '../ledger/domain/chain.ts';
import {
  type Closing,
  type ClosingException,
  EXCEPTIONS,
  nextMonth,
  type Seal,
} from '../ledger/domain/closings.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import { counted } from '../platform/counted.ts';

export function closingJson(closing: Closing) {
  return {
    month: closing.month,
    version: closing.version,
    time_zone: closing.timeZone,
    from: formatInstant(closing.fromMicros),
    to: formatInstant(closing.toMicros),
    last_transfer: closing.lastTransfer,
    closed_at: formatInstant(closing.closedMicros),
    closed_by: closing.closedBy,
    reason: closing.reason,
    exceptions: closing.exceptions.map(exceptionJson),
    seal: closing.seal ? sealJson(closing.seal) : null,
    reopened:
      closing.reopenedMicros === null
        ? null
        : {
            at: formatInstant(closing.reopenedMicros),
            by: closing.reopenedBy ?? '',
            reason: closing.reopenedReason ?? '',
          },
  };
}

function sealJson(seal: Seal) {
  return {
    chain_head: sealedWith(seal),
    digest: seal.digest,
    signature: seal.signature,
    sealed_at: formatInstant(seal.sealedMicros),
  };
}

/** The chain head with which a closing was sealed, `12:ab12…`. */
export function sealedWith({ blockNumber, blockDigest }: Seal): string {
  return formatHead({ number: blockNumber, digest: blockDigest });
}

export function exceptionJson({ kind, count, examples }: ClosingException) {
  return { kind, meaning: EXCEPTIONS[kind], count, examples: [...examples] };
}

/** `Findings that are open and not accepted: 2 (12 over_refund payment:pay_1, …)` */
export function exceptionText({ kind, count, examples }: ClosingException): string {
  const rest = count > examples.length ? ', …' : '';
  return `${EXCEPTIONS[kind]}: ${count} (${examples.join(', ')}${rest})`;
}

/** Why a month was not closed, and what to do. @param next how to close it in spite of that */
export function unprovenText(
  month: string,
  exceptions: readonly ClosingException[],
  next: string,
): string {
  return [
    `${month} was not closed, because not everything in it is proven:`,
    ...exceptions.map((one) => `  ${exceptionText(one)}`),
    `Reconcile the month and settle these, or ${next}: they are stored with the closing.`,
  ].join('\n');
}

/** What was done, in a sentence or two. */
export function closedText(closing: Closing): string {
  const { month, version, closedBy, exceptions } = closing;
  const again = version === 1 ? '' : ` for the ${ordinal(version)} time`;
  const unproven =
    exceptions.length === 0
      ? ''
      : ` ${counted(exceptions.length, 'exception')} ${exceptions.length === 1 ? 'is' : 'are'} stored with it.`;
  return (
    `${month} is closed${again}, by ${closedBy}.${unproven} ` +
    `What arrives late is booked in ${nextMonth(closing)}.`
  );
}

export function reopenedText({ month, version }: Closing): string {
  return (
    `${month} is open again. The sums of its closing ${version} are kept, and what was booked late ` +
    'belongs to it again.'
  );
}

function ordinal(place: number): string {
  if (place === 2) return 'second';
  return place === 3 ? 'third' : `${place}th`;
}
