-- A person may stop a reconcile run, and the console shows missed webhooks by day. No row is changed; the
-- constraint is checked over one short scan of reconcile_runs.
alter table reconcile_runs
  drop constraint reconcile_runs_state_check,
  add constraint reconcile_runs_state_check
    check (state in ('running', 'paused', 'stopped', 'done', 'failed')),
  add column stopped_by text,
  add constraint reconcile_runs_stopped_check check ((state = 'stopped') = (stopped_by is not null));

-- Few runs find missed webhooks. By the start, which never changes, so that checkpoints stay cheap.
create index reconcile_runs_missed on reconcile_runs (started_at) where missed > 0;
