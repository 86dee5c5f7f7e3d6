/** An open authorization as JSON. */
import type { OpenAuthorization } from '../authorizations/store/openAuthorizations.ts';
import { orderReferenceJson } from './order.ts';

export function authorizationJson(row: OpenAuthorization) {
  return {
    payment_id: row.paymentId,
    ...orderReferenceJson(row.orderKey),
    status: row.status,
    currency: row.currency,
    amount_capturable: row.capturableMinor,
    authorized_at: row.startAt.toISOString(),
    capture_before: row.deadlineAt.toISOString(),
    last_reminder_hours: row.lastReminderHours,
  };
}
