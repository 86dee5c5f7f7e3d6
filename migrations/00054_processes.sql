-- Processes that run, each reported by itself every ten seconds. A process that stops cleanly removes its
-- row; one that was killed leaves it. A new table only: no lock on anything that is in use.
create table processes (
  -- One start of one process: two machines may have the same name, and containers the same process id.
  id uuid primary key,
  host text not null,
  pid integer not null,
  roles text[] not null,
  version text not null,
  is_ready boolean not null,
  -- The checks that failed at its last report, with their reasons.
  failures text[] not null,
  started_at timestamptz not null default statement_timestamp(),
  -- Since when no report was missing.
  steady_since timestamptz not null default statement_timestamp(),
  seen_at timestamptz not null default statement_timestamp()
);
