-- A server that takes over can lack the last commits of the one before it. The change feed numbers an epoch for
-- each server history, so that no number is assigned twice, and what receivers found missing is recorded. New
-- tables, a view and a function only: no lock on anything that is in use.

-- The timeline of this server in hexadecimal digits: it grows with each promotion of a standby and each recovery
-- to a point in time. Null where the server does not reveal it.
create function database_timeline() returns text
language plpgsql stable
as $$
begin
  return substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8);
exception when others then
  return null;
end $$;

-- The same for the cluster: it differs after a dump is restored into another one.
create function database_system() returns bigint
language plpgsql stable
as $$
begin
  return (select system_identifier from pg_control_system());
exception when others then
  return null;
end $$;

-- Spans of the feed's numbers, one for each history of the server. The next one begins far beyond any number that
-- the one before may have assigned: at the second of its beginning, times a million.
create table feed_epochs (
  first_number bigint primary key check (first_number > 0),
  -- The last change before it. What an earlier server assigned beyond that number is gone.
  continues_after bigint not null check (continues_after >= 0 and continues_after < first_number),
  -- Every event up to this one was received before it.
  inbox_after bigint not null,
  timeline text,
  system_identifier bigint,
  began_at timestamptz not null default statement_timestamp()
);
insert into feed_epochs (first_number, continues_after, inbox_after, timeline, system_identifier)
values (1, 0, 0, database_timeline(), database_system());

-- For readers in SQL: a number above continues_after and below first_number is that of a change that is gone.
create view change_feed_epochs as
select first_number, continues_after, began_at from feed_epochs;

-- Acknowledged events that the server lacked when it had taken over, as a receiver found them.
create table failover_losses (
  id bigint generated always as identity primary key,
  -- Of the server that lacked them.
  timeline text not null,
  -- Host and process id of the receiver that found it.
  process text not null,
  events bigint not null check (events > 0),
  first_received_at timestamptz not null,
  last_received_at timestamptz not null,
  detected_at timestamptz not null default statement_timestamp(),
  -- When the comparison with the service was enqueued, and when it had completed.
  reconcile_enqueued_at timestamptz,
  reconciled_at timestamptz
);
create index failover_losses_open on failover_losses (id) where reconciled_at is null;
