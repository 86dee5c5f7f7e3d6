/** A transfer of the journal as JSON. */
import { z } from 'zod';
import { toSafeInteger } from '../contract/money.ts';
import type { TimeBasis } from '../ledger/domain/effectiveTimes.ts';
import type { JournalRow } from '../ledger/domain/journalFormats.ts';
import { formatInstant, instantOrNull, parseInstantMicros } from '../ledger/domain/time.ts';
import type { TransferPlace, TransferTotals } from '../ledger/read/transferList.ts';
import { encodePlace, instant, numberPlace } from './cursor.ts';
import { orderReferenceJson } from './order.ts';

/** Cursors of lists of transfers: in each order, the place after which the next page starts. */
export const transferPlaces = {
  effective: z
    .tuple([instant, z.int().min(1)])
    .transform(([at, id]): TransferPlace => ({ id, effectiveMicros: parseInstantMicros(at) })),
  recorded: numberPlace.transform(([id]): TransferPlace => ({ id, effectiveMicros: undefined })),
} as const satisfies Record<TimeBasis, z.ZodType<TransferPlace>>;

/** The cursor of the page after a place; null on the last page. */
export function transferCursor(place: TransferPlace | undefined): string | null {
  if (place === undefined) return null;
  const { id, effectiveMicros } = place;
  return encodePlace(effectiveMicros === undefined ? [id] : [formatInstant(effectiveMicros), id]);
}

export function transferJson(row: JournalRow) {
  return {
    transfer: row.id,
    recorded_at: formatInstant(row.recordedMicros),
    effective_at: instantOrNull(row.effectiveMicros),
    effective_source: row.effectiveSource ?? null,
    kind: row.kind,
    resource_id: row.resourceId,
    ...orderReferenceJson(row.orderKey ?? null),
    leg: row.leg,
    number: row.seq,
    debit: row.debit,
    credit: row.credit,
    currency: row.currency,
    amount: row.amountMinor,
    event_id: row.eventId ?? null,
    inbox: row.inboxId ?? null,
    head_hash: row.headHash,
  };
}

export function transferTotalsJson({ count, isComplete, currencies }: TransferTotals) {
  return {
    count,
    complete: isComplete,
    currencies: currencies.map((sum) => ({
      currency: sum.currency,
      count: sum.matches,
      amount: toSafeInteger(sum.amountMinor),
      amount_debited: toSafeInteger(sum.debitedMinor),
      amount_credited: toSafeInteger(sum.creditedMinor),
    })),
  };
}
