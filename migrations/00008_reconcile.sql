-- Reconciliation: runs with their checkpoints, what was learned of the service's lists, and the rate
-- budget that all processes share. New tables; one column that touches no row. The index is built anew:
-- writes to resources wait for one scan of that table (about a second for a million rows), and events
-- that arrive meanwhile are applied afterwards.

-- Set where the service must be asked before the state can be trusted. When that is due stands in
-- next_check_at, which is also set for what is merely not final yet: those are looked at later and in
-- another lane. A column of its own rather than another time, so that an event that settles or opens a
-- doubt changes no index.
alter table resources add column is_check_wanted boolean not null default false;
update resources set is_check_wanted = true where next_check_at is not null;

-- What was created when: for comparing spans of time with the service's lists.
create index resources_created_at on resources (kind, created_at) where created_at is not null;

-- One run over one list. `position_at` is its checkpoint: everything before it was read, compared and
-- healed, and that was committed with it.
create table reconcile_runs (
  id bigint generated always as identity primary key,
  stream text not null check (stream in ('payments', 'refunds', 'disputes', 'payouts')),
  mode text not null check (mode in ('totals', 'full')),
  -- What asked for it: the name of a schedule, or `operator`.
  cause text not null,
  is_dry_run boolean not null,
  state text not null default 'running' check (state in ('running', 'done', 'failed')),
  from_at timestamptz not null,
  to_at timestamptz not null,
  position_at timestamptz not null,
  started_at timestamptz not null default statement_timestamp(),
  updated_at timestamptz not null default statement_timestamp(),
  finished_at timestamptz,
  windows integer not null default 0,
  requests integer not null default 0,
  rows_compared bigint not null default 0,
  -- Differences that were seen; of them, those that are gone; and changes that no webhook had told of.
  found integer not null default 0,
  healed integer not null default 0,
  missed integer not null default 0,
  -- Why it ended early, for people.
  failure text,
  -- The first differences, each with what became of it.
  differences jsonb not null default '[]',
  check ((state = 'running') = (finished_at is null))
);
create index reconcile_runs_stream on reconcile_runs (stream, id);

-- What is known of each list from one run to the next.
create table reconcile_streams (
  stream text primary key check (stream in ('payments', 'refunds', 'disputes', 'payouts')),
  -- Everything created before it was read at least once.
  watermark_at timestamptz,
  -- The largest page that the list hands out.
  page_limit integer not null default 100 check (page_limit between 1 and 100)
);
insert into reconcile_streams (stream) values ('payments'), ('refunds'), ('disputes'), ('payouts');

-- The rate budget of the account, one row: what the service told last.
create table rate_budget (
  is_only boolean primary key default true check (is_only),
  requests_limit integer,
  remaining integer,
  reset_at timestamptz,
  is_assumed boolean not null default false
) with (fillfactor = 50);
insert into rate_budget default values;

do $$
begin
  if exists (select from pg_roles where rolname = 'tallyhook_app') then
    grant select, insert, update on reconcile_runs to tallyhook_app;
    grant select, update on reconcile_streams, rate_budget to tallyhook_app;
  end if;
end $$;
