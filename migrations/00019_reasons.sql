-- What a payment costs the customer in all, and why resources failed or were opened, as far as the
-- service says. New columns that are null for every row and touch none; views gain columns at their
-- ends. The rights on the table and the views cover them.
alter table resources
  add column net_amount_minor bigint check (net_amount_minor >= 0),
  add column error_message text,
  add column reason text,
  add column reason_code text;

create or replace view payments as
select r.id as payment_id,
       o.order_id,
       r.order_key,
       r.status,
       r.currency,
       r.amount_minor,
       r.authorized_minor,
       r.captured_minor,
       r.capture_method,
       -- What an earlier attempt failed of says nothing about a payment that was paid since.
       case when r.status = 'failed' then r.unified_code end as unified_code,
       case when r.status = 'failed' then r.unified_message end as unified_message,
       case when r.status = 'failed' then r.error_code end as error_code,
       r.deadline_at as capture_before,
       r.doubts <> '{}' as is_uncertain,
       r.open_findings,
       r.created_at,
       r.first_seen_at,
       r.updated_at,
       r.net_amount_minor,
       case when r.status = 'failed' then r.error_message end as error_message,
       case when r.status in ('failed', 'cancelled') then r.reason end as reason
  from resources r
  left join orders o on o.order_key = r.order_key
 where r.kind = 'payment';

create or replace view refunds as
select r.id as refund_id,
       r.payment_id,
       o.order_id,
       r.order_key,
       r.status,
       r.currency,
       r.amount_minor,
       case when r.status = 'failed' then r.unified_code end as unified_code,
       case when r.status = 'failed' then r.unified_message end as unified_message,
       case when r.status = 'failed' then r.error_code end as error_code,
       r.doubts <> '{}' as is_uncertain,
       r.open_findings,
       r.created_at,
       r.first_seen_at,
       r.updated_at,
       case when r.status = 'failed' then r.error_message end as error_message,
       r.reason
  from resources r
  left join orders o on o.order_key = r.order_key
 where r.kind = 'refund';

create or replace view disputes as
select r.id as dispute_id,
       r.payment_id,
       o.order_id,
       r.order_key,
       r.stage,
       r.status,
       r.currency,
       r.amount_minor,
       r.deadline_at as evidence_due_by,
       r.doubts <> '{}' as is_uncertain,
       r.open_findings,
       r.created_at,
       r.first_seen_at,
       r.updated_at,
       r.reason_code,
       r.reason
  from resources r
  left join orders o on o.order_key = r.order_key
 where r.kind = 'dispute';

create or replace view payouts as
select r.id as payout_id,
       r.reference,
       r.status,
       r.currency,
       r.amount_minor,
       case when u.is_undone then r.unified_code end as unified_code,
       case when u.is_undone then r.unified_message end as unified_message,
       case when u.is_undone then r.error_code end as error_code,
       r.doubts <> '{}' as is_uncertain,
       r.open_findings,
       r.created_at,
       r.first_seen_at,
       r.updated_at,
       case when u.is_undone then r.error_message end as error_message
  from resources r
 cross join lateral (
   select r.status in ('failed', 'cancelled', 'expired', 'ineligible', 'reversed') as is_undone) u
 where r.kind = 'payout';
