/** The inbox with its open bodies, as a subquery for the statements of tests. */
export const INBOX_WITH_BODIES = `(
  select e.id, e.event_id, e.merchant_id, e.event_type, coalesce(b.body, e.body) as body
    from webhook_events e
    left join webhook_bodies b on b.day = e.body_day and b.webhook_event_id = e.id)`;
