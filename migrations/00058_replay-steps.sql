-- Which events a replay of many chose, recorded before it replays the first of them: the trail of the run, and
-- what a process repeats that continues it. A new table only: no lock on anything that is in use.
create table replay_steps (
  run_id bigint not null references replay_runs (id),
  -- Of the run before the step, and after it.
  position bigint not null,
  next_position bigint not null check (next_position <= position),
  is_last boolean not null,
  -- Inbox numbers, greatest first.
  numbers bigint[] not null,
  chosen_at timestamptz not null default statement_timestamp(),
  -- When each of them was replayed or refused.
  done_at timestamptz,
  primary key (run_id, position)
);
-- The runs of an event, for its timeline. Only replays write to it.
create index replay_steps_numbers on replay_steps using gin (numbers);
