-- Columns and values of authorizations and runs under the names that code and documentation use.
alter table authorization_watch rename column said_hours to reminder_hours;
alter table authorization_watch rename column said_deadline_at to reminder_deadline_at;
alter table authorization_watch rename column next_look_at to next_check_at;
alter table authorization_watch
  rename constraint authorization_watch_said_hours_check to authorization_watch_reminder_hours_check;
alter index authorization_watch_next_look_at rename to authorization_watch_next_check_at;
alter index authorization_watch_said rename to authorization_watch_reminded;

-- The reminders and attempts of each authorization, one row each.
alter table authorization_notices rename to authorization_log;
alter table authorization_log rename column said_at to recorded_at;
alter index authorization_notices_pkey rename to authorization_log_pkey;
alter index authorization_notices_threshold rename to authorization_log_threshold;
alter index authorization_notices_policy rename to authorization_log_policy;

-- The sums of analytics are unavailable when no response can be used.
alter table reconcile_runs drop constraint reconcile_runs_sums_check;
update reconcile_runs set sums = 'unavailable' where sums = 'unanswered';
alter table reconcile_runs add constraint reconcile_runs_sums_check
  check (sums in ('agreed', 'differed', 'disproved', 'not_calibrated', 'unavailable'));
