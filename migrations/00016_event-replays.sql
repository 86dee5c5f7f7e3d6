-- When an operator replayed an event. Its body is judged by that time from then on, and not by the time
-- of its receipt, which a receiver may have stored under a wrong clock. A new table only: no lock on
-- anything that is in use.
create table event_replays (
  webhook_event_id bigint primary key references webhook_events (id),
  replayed_at timestamptz not null default statement_timestamp()
);

do $$
begin
  if exists (select from pg_roles where rolname = 'tallyhook_app') then
    grant select, insert, update on event_replays to tallyhook_app;
  end if;
end $$;
