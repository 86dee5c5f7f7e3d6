/** A transfer of the journal as JSON. */
import { toSafeInteger } from '../contract/money.ts';
import type { JournalRow } from '../ledger/domain/journalFormats.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import type { TransferTotals } from '../ledger/read/transferList.ts';
import { orderReferenceJson } from './order.ts';

export function transferJson(row: JournalRow) {
  return {
    transfer: row.id,
    recorded_at: formatInstant(row.recordedMicros),
    effective_at: row.effectiveMicros === undefined ? null : formatInstant(row.effectiveMicros),
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
