/** How a transfer is read with its event and the order of its resource. */

import { sourceOf } from '../../domain/effectiveTimes.ts';
import type { JournalRow } from '../../domain/journalFormats.ts';
import { micros } from './instants.ts';

/** Columns of a transfer `t`, its event `e` and its resource `r`. */
export const JOURNAL_COLUMNS = `
  t.id, t.kind, t.resource_id as "resourceId", r.order_key as "orderKey", t.leg, t.leg_seq as seq,
  t.currency, t.debit, t.credit, t.amount_minor as "amountMinor",
  encode(t.head_hash, 'hex') as "headHash", t.webhook_event_id as "inboxId", e.event_id as "eventId",
  ${micros('t.recorded_at')} as "recordedMicros", ${micros('t.effective_at')} as "effectiveMicros",
  t.effective_source as "effectiveSource"`;

type Absent = 'orderKey' | 'eventId' | 'inboxId' | 'effectiveMicros' | 'effectiveSource';

/** A row of `JOURNAL_COLUMNS`. */
export interface StoredJournalRow extends Omit<JournalRow, Absent> {
  readonly orderKey: string | null;
  readonly eventId: string | null;
  readonly inboxId: number | null;
  readonly effectiveMicros: number | null;
  readonly effectiveSource: string | null;
}

export function toJournalRow({
  orderKey,
  eventId,
  inboxId,
  effectiveMicros,
  effectiveSource,
  ...rest
}: StoredJournalRow): JournalRow {
  return {
    ...rest,
    orderKey: orderKey ?? undefined,
    eventId: eventId ?? undefined,
    inboxId: inboxId ?? undefined,
    effectiveMicros: effectiveMicros ?? undefined,
    effectiveSource: sourceOf(effectiveSource),
  };
}
