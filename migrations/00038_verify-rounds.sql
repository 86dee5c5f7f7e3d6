-- What `tallyhook verify` has proven, and what it proves next. New tables only: no lock on anything that
-- is in use.

-- A round proves every row once. At most one round is not finished.
create table verify_rounds (
  id bigint generated always as identity primary key,
  -- Begun by `verify --full`, which proves everything in one run.
  is_full boolean not null,
  -- The last change and the last settled event when it began. A finished round has proven them.
  change_number bigint not null,
  event_id bigint not null,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz
);
create unique index verify_rounds_open on verify_rounds ((true)) where finished_at is null;

-- A part of the ledger, by its keys. Each is proven in one piece, so a run that was killed continues with
-- the ranges that are still due.
create table verify_ranges (
  id bigint generated always as identity primary key,
  -- Null: what changed since the last run, or a range of an earlier round that failed.
  round_id bigint references verify_rounds (id),
  phase text not null check (phase in ('inbox', 'resources', 'orders', 'changes')),
  -- Excluded, and included; null where the range is not bounded.
  after_key text,
  until_key text,
  is_due boolean not null,
  checked_at timestamptz,
  failures bigint not null default 0 check (failures >= 0),
  -- The results of its last check.
  checks json
);
create index verify_ranges_round on verify_ranges (round_id, id) where round_id is not null;
create index verify_ranges_due on verify_ranges (id) where is_due;
create index verify_ranges_failed on verify_ranges (id) where failures > 0;

-- Up to where changes and inbox rows were handed to ranges. One row, from the first run on.
create table verify_position (
  singleton boolean primary key default true check (singleton),
  change_number bigint not null,
  event_id bigint not null,
  planned_at timestamptz not null
);
