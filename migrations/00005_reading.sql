-- Reading the ledger: the change feed, what a shop expects of an order, and views for its own SQL.
-- New tables, views and one partial index on findings, which are few; changed defaults touch no row.
-- The index of payout references is built anew: writes to resources wait for one scan of that table
-- (about a second for a million rows), and events that arrive meanwhile are applied afterwards.

-- What changed, written by the transaction that changed it and not numbered yet: numbers that are
-- drawn before a commit become visible out of their order, and a reader would step over some. One
-- publisher at a time moves committed rows from here to `changes`, so this table stays short.
create table change_log (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('order', 'payment', 'refund', 'dispute', 'payout')),
  -- The order's key, or the id of a resource that belongs to no order.
  subject text not null,
  change text not null check (change in ('status', 'details', 'registered')),
  status text,
  previous_status text,
  -- The last of the inbox rows that brought it, if one did.
  webhook_event_id bigint,
  changed_at timestamptz not null default statement_timestamp()
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- The feed. Numbers have no gaps and follow commits: a reader that has seen number n will never
-- see a smaller one appear. Append-only.
create table changes (
  number bigint primary key check (number > 0),
  kind text not null,
  -- The shop's order id (or the id of a payment that names none), or the resource's id.
  id text not null,
  -- Orders only: tells an order id from a payment id of the same spelling.
  order_key text,
  change text not null,
  status text,
  previous_status text,
  webhook_event_id bigint,
  changed_at timestamptz not null
);
create index changes_order_key on changes (order_key, number) where order_key is not null;
create trigger changes_append_only before update or delete or truncate on changes
  for each statement execute function refuse_change();

-- What the shop says an order should bring. Not part of the ledger, which follows from snapshots
-- alone: the two are only compared. A row that was replaced stays, so that it can be told who
-- expected what, and when.
create table order_expectations (
  id bigint generated always as identity primary key,
  order_key text not null check (order_key ~ '^(order|payment):.'),
  order_id text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  amount_minor bigint not null check (amount_minor >= 0),
  registered_at timestamptz not null default now(),
  -- Name of the token that registered it.
  registered_by text not null,
  replaced_at timestamptz,
  -- Set once the ledger knows the order, so that the orders still awaited are found without
  -- reading all the others. Only narrows a search: whether an order is known, `orders` says.
  is_awaited boolean not null default true
);
create unique index order_expectations_current on order_expectations (order_key)
  where replaced_at is null;
create index order_expectations_history on order_expectations (order_key, id);
create index order_expectations_awaited on order_expectations (registered_at desc, order_key desc)
  where replaced_at is null and is_awaited;

-- `find` asks for the payouts of a reference by their ids. An index without the id would leave the
-- planner one that has it, and a walk past every payout.
drop index resources_payout_reference;
create index resources_payout_reference on resources (reference, id)
  where kind = 'payout' and reference is not null;

comment on column orders.moved_to is
  'Keys of the orders that payments of this one were moved to, whether or not others are left here.';

create index findings_open_id on findings (id) where state = 'open';

-- now() is when a transaction began, and one that then waited for another's locks would carry the
-- earlier time for the later deed. Histories are told in the order of these.
alter table snapshots alter column recorded_at set default statement_timestamp();
alter table transfers alter column recorded_at set default statement_timestamp();
alter table findings alter column opened_at set default statement_timestamp();

-- Views for the shop's own SQL; docs/sql-views.md explains each column. Columns are only added.

create view payments as
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
       r.updated_at
  from resources r
  left join orders o on o.order_key = r.order_key
 where r.kind = 'payment';

create view refunds as
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
       r.updated_at
  from resources r
  left join orders o on o.order_key = r.order_key
 where r.kind = 'refund';

create view disputes as
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
       r.updated_at
  from resources r
  left join orders o on o.order_key = r.order_key
 where r.kind = 'dispute';

create view payouts as
select r.id as payout_id,
       r.reference,
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
       r.updated_at
  from resources r
 where r.kind = 'payout';

-- One row for each order and currency. Two halves rather than an outer join, so that a condition on
-- the order reaches the indexes of both.
create view order_balances as
select o.order_id,
       o.order_key,
       o.status as order_status,
       t.currency,
       t.status,
       t.authorized_minor,
       t.captured_minor,
       t.refunded_minor,
       t.refund_pending_minor,
       t.disputed_minor,
       t.charged_back_minor,
       t.captured_minor - t.refunded_minor - t.charged_back_minor as net_minor,
       e.amount_minor as expected_minor,
       t.captured_minor - e.amount_minor as difference_minor,
       o.first_seen_at,
       o.updated_at
  from order_totals t
  join orders o on o.order_key = t.order_key
  left join order_expectations e
    on e.order_key = t.order_key and e.currency = t.currency and e.replaced_at is null
union all
select e.order_id,
       e.order_key,
       coalesce(o.status, 'registered'),
       e.currency,
       'registered',
       0, 0, 0, 0, 0, 0, 0,
       e.amount_minor,
       -e.amount_minor,
       coalesce(o.first_seen_at, e.registered_at),
       coalesce(o.updated_at, e.registered_at)
  from order_expectations e
  left join orders o on o.order_key = e.order_key
 where e.replaced_at is null
   and not exists (select from order_totals t
                    where t.order_key = e.order_key and t.currency = e.currency);

do $$
begin
  if exists (select from pg_roles where rolname = 'tallyhook_app') then
    grant select, insert, delete on change_log to tallyhook_app;
    grant select, insert on changes to tallyhook_app;
    grant select, insert on order_expectations to tallyhook_app;
    grant update (replaced_at, is_awaited) on order_expectations to tallyhook_app;
    grant select on payments, refunds, disputes, payouts, order_balances to tallyhook_app;
  end if;
end $$;
