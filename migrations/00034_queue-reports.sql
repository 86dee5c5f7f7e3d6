-- Processes for which the queue refuses work, each reported by itself while that lasts.
create table queue_reports (
  -- Host and process id.
  process text primary key,
  roles text not null,
  reason text not null,
  remedy text not null,
  since timestamptz not null default statement_timestamp(),
  reported_at timestamptz not null default statement_timestamp()
);
