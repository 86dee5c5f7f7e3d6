-- Acknowledged events that a failover lost, and that the server refuses when a receiver persists them again. A column
-- with a constant default and a check on a table with a row for each failover: the lock is short.
alter table failover_losses
  -- Negative for those that it refused before and has now.
  add column refused bigint not null default 0,
  drop constraint failover_losses_events_check,
  add constraint failover_losses_events_check check (events >= 0 and (events > 0 or refused <> 0));
