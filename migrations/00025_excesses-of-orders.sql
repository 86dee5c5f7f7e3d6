-- A dispute beside a pending refund is a finding about the order from now on, with its alert
-- (docs/decisions/0024-excesses.md). Orders that show it get the finding; alerts that are open move
-- from the dispute to the order, so that nobody is notified again. Reads resources once; locks only
-- orders, resources and alerts of orders that are disputed and being refunded.

with undecided as (
  select distinct order_key from resources
   where kind = 'dispute' and status not in ('expired', 'accepted', 'cancelled', 'lost', 'won')
  intersect
  select distinct order_key from resources
   where kind = 'refund' and status not in ('succeeded', 'failed')
), locked as (
  select order_key from orders
   where order_key in (select order_key from undecided)
     and not 'dispute_and_refund' = any (open_findings)
   order by order_key
     for update
)
update orders o
   set open_findings = array_append(o.open_findings, 'dispute_and_refund')
  from locked
 where o.order_key = locked.order_key;

insert into findings (class, subject, detail)
select 'dispute_and_refund', 'order:' || o.order_key,
       jsonb_build_object(
         'disputes', jsonb_agg(part.facts order by part.id collate "C") filter (where part.kind = 'dispute'),
         'refunds', jsonb_agg(part.facts order by part.id collate "C") filter (where part.kind = 'refund'))
  from orders o
 cross join lateral (
       select r.kind, r.id,
              jsonb_strip_nulls(jsonb_build_object(
                'id', r.id, 'amountMinor', r.amount_minor, 'currency', r.currency)) as facts
         from resources r
        where r.order_key = o.order_key
          and ((r.kind = 'dispute' and r.status not in ('expired', 'accepted', 'cancelled', 'lost', 'won'))
            or (r.kind = 'refund' and r.status not in ('succeeded', 'failed')))) part
 where 'dispute_and_refund' = any (o.open_findings)
 group by o.order_key
on conflict (class, subject) where state = 'open' do nothing;

-- Confirmation needs a retrieve of every part, final ones included.
update resources r
   set is_check_wanted = true, next_check_at = statement_timestamp()
  from findings f
 where f.class = 'dispute_and_refund' and f.state = 'open' and f.subject = 'order:' || r.order_key;

-- One alert for each order: the oldest moves, with who acknowledged it.
with moved as (
  select distinct on (f.subject) a.id, f.subject
    from alerts a
    join resources r on r.kind = 'dispute' and a.subject = 'dispute:' || r.id
    join findings f on f.class = 'dispute_and_refund' and f.state = 'open'
                   and f.subject = 'order:' || r.order_key
   where a.rule = 'dispute_and_refund' and a.state <> 'resolved'
   order by f.subject, a.id
)
update alerts a
   set subject = moved.subject, updated_at = statement_timestamp()
  from moved
 where a.id = moved.id;

-- The others end.
with ended as (
  update alerts
     set state = 'resolved', resolved_at = statement_timestamp(), updated_at = statement_timestamp()
   where rule = 'dispute_and_refund' and state <> 'resolved' and subject like 'dispute:%'
  returning id, snoozed_until
)
insert into alert_outbox (alert_id, occasion)
select id, 'resolved' from ended where snoozed_until is null order by id;
