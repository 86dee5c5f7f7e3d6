-- Dead events that a person discarded: they count no more as dead. New columns without a default: no
-- rewrite. The row stays, so that the event can be replayed.
alter table dead_events
  add column discarded_at timestamptz,
  add column discarded_by text,
  add column discarded_reason text,
  add constraint dead_events_discarded check (
    (discarded_at is null) = (discarded_by is null)
    and (discarded_at is null) = (discarded_reason is null)) not valid;
