-- Rows of a totals run that were compared by counts that agreed. Beside rows_compared, which counts rows
-- that were listed, it shows whether a run compared anything at all. Existing runs get 0.
alter table reconcile_runs add column rows_counted bigint not null default 0;
