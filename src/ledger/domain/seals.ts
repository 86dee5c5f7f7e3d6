/**
 * Seals of closings. Terms: a *seal* is a digest of a closing and of a block of the chain that has its last
 * transfer, signed with the key of that block.
 *
 * 1. The digest covers everything that a closing states and never changes: its month, who closed it and why,
 *    what was unproven, and every stored sum. Reopening changes none of it.
 * 2. It covers the digest of the block, so a seal fixes every transfer of the closing, too.
 */
import type { Closing, ClosingException } from './closings.ts';
import { bytes, integer, joined, list, text, textOrNone } from './digestForm.ts';
import type { ClosedDaySums, LegSums } from './statement.ts';

export interface SealContent {
  readonly closing: Closing;
  readonly days: readonly ClosedDaySums[];
  /** Of every leg at its end. */
  readonly balances: readonly LegSums[];
  readonly block: { readonly number: number; readonly digest: string };
}

const PURPOSE = 'tallyhook closing';

export function sealBytes({ closing, days, balances, block }: SealContent): Uint8Array {
  return joined([
    text(PURPOSE),
    integer(closing.id),
    text(closing.month),
    integer(closing.version),
    text(closing.timeZone),
    integer(closing.fromMicros),
    integer(closing.toMicros),
    integer(closing.previousId ?? 0),
    integer(closing.lastTransfer),
    integer(closing.closedMicros),
    text(closing.closedBy),
    textOrNone(closing.reason),
    list(closing.exceptions, exceptionBytes),
    list(days.toSorted(byKey(dayKey)), dayBytes),
    list(balances.toSorted(byKey(legKey)), legBytes),
    integer(block.number),
    bytes(block.digest),
  ]);
}

function exceptionBytes({ kind, count, examples }: ClosingException): Uint8Array {
  return joined([text(kind), integer(count), list(examples, text)]);
}

function dayBytes(sums: ClosedDaySums): Uint8Array {
  return joined([
    text(sums.day),
    legBytes(sums),
    integer(sums.ups),
    integer(sums.downs),
    integer(sums.late),
    minor(sums.lateMinor),
    minor(sums.postedUpMinor),
    minor(sums.postedDownMinor),
  ]);
}

function legBytes({ currency, leg, upMinor, downMinor }: LegSums): Uint8Array {
  return joined([text(currency), text(leg), minor(upMinor), minor(downMinor)]);
}

/** Sums can exceed 64 bits. */
function minor(amount: bigint): Uint8Array {
  return text(String(amount));
}

const legKey = ({ currency, leg }: LegSums) => `${currency} ${leg}`;
const dayKey = (sums: ClosedDaySums) => `${sums.day} ${legKey(sums)}`;

/** By code units: the order of the database depends on its collation. */
function byKey<One>(keyOf: (one: One) => string): (one: One, other: One) => number {
  return (one, other) => (keyOf(one) < keyOf(other) ? -1 : 1);
}
