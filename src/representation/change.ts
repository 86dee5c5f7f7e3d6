/** A change of the change feed as JSON. */
import type { NumberedChange } from '../ledger/domain/changes.ts';
import { orderNamedBy } from './order.ts';

export function changeJson(row: NumberedChange) {
  return {
    number: row.number,
    kind: row.kind,
    id: row.id,
    order_key: row.orderKey,
    named_by: row.orderKey === null ? null : orderNamedBy(row.orderKey),
    change: row.change,
    status: row.status,
    previous_status: row.previousStatus,
    event_number: row.webhookEventId,
    changed_at: row.changedAt.toISOString(),
    is_history: row.isHistory,
  };
}
