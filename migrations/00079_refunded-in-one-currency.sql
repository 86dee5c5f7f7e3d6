-- An order that is refunded in one currency and keeps captured money in another is `partially_refunded`: `refunded`
-- means that all of it was refunded. Locks only orders that change, and records the change for the shop.
with kept as (
  select order_key from orders o
   where status = 'refunded'
     and exists (select from order_totals t
                  where t.order_key = o.order_key
                    and t.status in ('partially_refunded', 'paid', 'partially_captured'))
   order by order_key
     for update
), changed as (
  update orders o
     set status = 'partially_refunded', updated_at = statement_timestamp()
    from kept
   where o.order_key = kept.order_key
  returning o.order_key
)
insert into change_log (kind, subject, change, status, previous_status)
select 'order', order_key, 'status', 'partially_refunded', 'refunded' from changed order by order_key;
