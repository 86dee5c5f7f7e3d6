-- Replays of many events, which people start and processes with the role `scheduler` carry out. A new table
-- only: no lock on anything that is in use.
create table replay_runs (
  id bigint generated always as identity primary key,
  -- Which events: state, type, from, to, numbers, as in the admin API.
  filter jsonb not null,
  reason text not null,
  requested_by text not null,
  requested_at timestamptz not null default statement_timestamp(),
  -- How many events matched when it was requested; not complete: more than were counted.
  planned integer not null check (planned >= 0),
  is_planned_complete boolean not null,
  state text not null default 'running' check (state in ('running', 'stopped', 'done')),
  -- Events are replayed from the newest to the oldest; those from this number on are done.
  position bigint not null,
  replayed integer not null default 0 check (replayed >= 0),
  refused integer not null default 0 check (refused >= 0),
  -- The first of them, with the reason.
  refusals jsonb not null default '[]',
  stopped_by text,
  finished_at timestamptz,
  -- Until when a process works on it, by the database's clock.
  claimed_until timestamptz not null default '-infinity',
  check ((state = 'running') = (finished_at is null)),
  check ((state = 'stopped') = (stopped_by is not null))
);
create index replay_runs_running on replay_runs (id) where state = 'running';
