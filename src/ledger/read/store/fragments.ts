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

/**
 * The time of the first webhook that reported a hold on a payment before anything was captured. A failure ended the
 * hold before it. Where no webhook has reported another one, as from services that send each type of event once,
 * the time of the failure counts: the hold began after it.
 *
 * By time, not in the order of keys as the amounts of the hold: a webhook without a version is below a failure that has
 * one, and the deadline would be too late without it.
 */
export function firstHoldMicros(paymentId: string): string {
  const ofPayment = (snapshot: string) =>
    `${snapshot}.kind = 'payment' and ${snapshot}.resource_id = ${paymentId}`;
  return `(
    select coalesce(min(s.observed_micros) filter (where s.observed_micros > coalesce(ended.micros, -1)),
                    ended.micros)
      from (select max(coalesce((f.content ->> 'versionMicros')::bigint, f.observed_micros)) as micros
              from snapshots f
             where ${ofPayment('f')} and f.content ->> 'status' = 'failed') ended
      left join snapshots s
        on ${ofPayment('s')} and s.source = 'webhook'
       and s.content ->> 'status' in ('requires_capture', 'partially_authorized_and_requires_capture')
     group by ended.micros)`;
}

/**
 * When a payment failed last, by the service's clock; null for never. A body without a version does not show when it
 * failed: sent again, it has a new time. The beginning of the hold is no substitute: a webhook that arrives late moves it.
 */
export function lastFailureAt(paymentId: string): string {
  return `(
    select timestamptz 'epoch' + max((f.content ->> 'versionMicros')::bigint) * interval '1 microsecond'
      from snapshots f
     where f.kind = 'payment' and f.resource_id = ${paymentId} and f.content ->> 'status' = 'failed')`;
}

/** The keys of orders with an open hold, by the index on them. */
export const ORDERS_WITH_HOLDS = `(
  select distinct order_key from order_totals where authorized_minor > 0)`;
