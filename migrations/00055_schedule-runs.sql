-- What became of the latest run of each schedule, and requests of people to run one at once. New columns
-- without a default and a new table: the locks last for an instant.
alter table schedule_slots
  add column claimed_at timestamptz,
  -- Why the run failed; null if it did not.
  add column error text;

create table schedule_requests (
  schedule text primary key,
  -- In milliseconds: it is also the slot of the run that serves the request.
  requested_at timestamptz not null default date_trunc('milliseconds', statement_timestamp()),
  requested_by text not null,
  reason text not null
);
