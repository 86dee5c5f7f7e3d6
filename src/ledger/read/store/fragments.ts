/**
 * Parts of statements of other modules, so that tables of the ledger are named by the ledger alone.
 * Arguments are SQL of the surrounding statement, never values.
 */

/** Whether a webhook about a resource was applied at or after a time. */
export function isWebhookApplied(of: {
  readonly kind: string;
  readonly id: string;
  readonly since: string;
}): string {
  return `exists (
    select from resources applied
     where applied.kind = ${of.kind} and applied.id = ${of.id}
       and applied.webhook_applied_at >= ${of.since})`;
}

/** The time of the first webhook that reported a hold on a payment before anything was captured. */
export function firstHoldMicros(paymentId: string): string {
  return `(
    select min(s.observed_micros)
      from snapshots s
     where s.kind = 'payment' and s.resource_id = ${paymentId} and s.source = 'webhook'
       and s.content ->> 'status' in ('requires_capture', 'partially_authorized_and_requires_capture'))`;
}

/** The keys of orders with an open hold, by the index on them. */
export const ORDERS_WITH_HOLDS = `(
  select distinct order_key from order_totals where authorized_minor > 0)`;
