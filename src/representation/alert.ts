/** An alert as JSON. */
import type { AlertRow } from '../alerts/store/alertRows.ts';
import { detailJson } from './detail.ts';
import { isoOrNull } from './time.ts';

export function alertJson(row: AlertRow) {
  return {
    number: row.id,
    rule: row.rule,
    subject: row.subject,
    variant: row.variant,
    severity: row.severity,
    state: row.state,
    sentence: row.sentence,
    next_step: row.nextStep,
    detail: detailJson(row.detail),
    order_id: row.orderId,
    payment_id: row.paymentId,
    deadline_at: isoOrNull(row.deadlineAt),
    opened_at: row.openedAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    resolved_at: isoOrNull(row.resolvedAt),
    acknowledged:
      row.acknowledgedAt === null
        ? null
        : {
            at: row.acknowledgedAt.toISOString(),
            by: row.acknowledgedBy ?? '',
            reason: row.acknowledgedReason ?? '',
          },
    snoozed:
      row.snoozedUntil === null
        ? null
        : {
            until: row.snoozedUntil.toISOString(),
            by: row.snoozedBy ?? '',
            reason: row.snoozedReason,
          },
    assigned:
      row.assignedTo === null
        ? null
        : {
            to: row.assignedTo,
            at: isoOrNull(row.assignedAt) ?? '',
            by: row.assignedBy ?? '',
            reason: row.assignedReason ?? '',
          },
  };
}
