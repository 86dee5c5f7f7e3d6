-- Runs that a pause holds, and a ceiling on background work. A run that was paused has not failed: it
-- keeps its checkpoint and goes on once the pause has ended. No row is changed; the constraints are
-- checked over one short scan of reconcile_runs.
alter table reconcile_runs
  drop constraint reconcile_runs_state_check,
  drop constraint reconcile_runs_check,
  add constraint reconcile_runs_state_check
    check (state in ('running', 'paused', 'done', 'failed')),
  add constraint reconcile_runs_finished_check
    check ((state in ('running', 'paused')) = (finished_at is null));

-- Looked for at every slot.
create index reconcile_runs_paused on reconcile_runs (id) where state = 'paused';

-- How many requests background work has made since when: the ceiling that operators may set on it.
alter table rate_budget
  add column background_taken integer not null default 0,
  add column background_from timestamptz;
