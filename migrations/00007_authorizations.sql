-- What runs when, authorizations that must be captured in time, and what people decide about findings
-- and reconciliation. New tables, and columns that touch no row. The index is built anew: writes to
-- order_totals wait for one scan of that table (less than a second for a million orders), and events
-- that arrive meanwhile are applied afterwards.

-- One row for each schedule: the last slot that somebody took, so that every slot is run once,
-- whatever the number of schedulers, and one that nobody took is noticed.
create table schedule_slots (
  schedule text primary key,
  slot timestamptz not null,
  -- Set when the run ended, well or not. Until then the slot belongs to who took it, up to lease_until.
  finished_at timestamptz,
  lease_until timestamptz not null
) with (fillfactor = 50);

-- Holds that are still open, found without reading every payment. The column changes only for what
-- is captured by hand, so that updates of all other totals stay in place.
create index order_totals_held on order_totals (order_key) where authorized_minor > 0;

-- Authorizations that are watched until they are captured or released.
create table authorization_watch (
  payment_id text primary key,
  start_at timestamptz not null,
  deadline_at timestamptz not null,
  -- The threshold that was said last, in hours before the deadline (0: the deadline itself), and the
  -- deadline that it was said of.
  said_hours integer check (said_hours >= 0),
  said_deadline_at timestamptz,
  next_look_at timestamptz not null,
  check ((said_hours is null) = (said_deadline_at is null))
) with (fillfactor = 70);
create index authorization_watch_next_look_at on authorization_watch (next_look_at);
create index authorization_watch_deadline_at on authorization_watch (deadline_at, payment_id);
create index authorization_watch_said on authorization_watch (payment_id)
  where said_hours is not null;

-- What was said and done about authorizations, and when: each once. Alerts are to be made from it.
create table authorization_notices (
  id bigint generated always as identity primary key,
  payment_id text not null,
  deadline_at timestamptz not null,
  kind text not null check (kind in ('threshold', 'policy')),
  threshold_hours integer not null check (threshold_hours >= 0),
  currency text,
  capturable_minor bigint,
  -- Policy only: what was tried, and what came of it; null while that is not known.
  action text check (action in ('capture', 'cancel')),
  outcome text,
  said_at timestamptz not null default statement_timestamp(),
  unique (payment_id, deadline_at, kind, threshold_hours),
  check ((kind = 'policy') = (action is not null))
);
-- A policy moves money, or gives it up, once for each payment, whatever becomes of the deadline.
create unique index authorization_notices_policy on authorization_notices (payment_id)
  where kind = 'policy';

-- A person may accept an open finding: it stays open while its test fails, and no longer counts as a
-- difference.
alter table findings
  add column accepted_at timestamptz,
  add column accepted_by text,
  add column accepted_reason text,
  add constraint findings_accepted check (
    (accepted_at is null) = (accepted_by is null)
    and (accepted_at is null) = (accepted_reason is null));

-- While a row has no end, nothing asks or tells the service on its own.
create table reconcile_pauses (
  id bigint generated always as identity primary key,
  paused_at timestamptz not null default statement_timestamp(),
  paused_by text not null,
  reason text not null,
  resumed_at timestamptz,
  resumed_by text,
  check ((resumed_at is null) = (resumed_by is null))
);
create unique index reconcile_pauses_current on reconcile_pauses ((true)) where resumed_at is null;

do $$
begin
  if exists (select from pg_roles where rolname = 'tallyhook_app') then
    grant select, insert, update on schedule_slots, authorization_notices, reconcile_pauses
      to tallyhook_app;
    grant select, insert, update, delete on authorization_watch to tallyhook_app;
  end if;
end $$;
