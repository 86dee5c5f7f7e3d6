-- Erasures that the scheduler continues: who works on a request, and what its search at the end found.
--
-- New columns without a default: no row is read, and the lock lasts for a moment.

alter table erasures
  -- The process that works on the request; null: none.
  add column claimed_by uuid,
  -- No other process claims the request before, by the database's clock: the end of the claim, or of the
  -- pause after a try that did not finish.
  add column claimed_until timestamptz,
  -- Places, events and tables that the last search named, without values. Null for requests of older versions.
  add column proof jsonb;
