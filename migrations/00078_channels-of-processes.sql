-- The channels that a process with the role `alerts` sends to, so that the alert about a channel ends when no process
-- has the channel. Null for a version that does not report them. No lock beyond the change of the catalog.
alter table processes add column channels text[];
