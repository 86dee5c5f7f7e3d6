-- Where windows of a list were unstable since its finding `list_unstable` opened: how long before the start of
-- its run the farthest of them began, in milliseconds, and where the latest ended. Null without a finding.
-- docs/decisions/0047-lists-that-cannot-be-narrowed.md
--
-- Not in the detail of the finding: each run would change it and end its acceptance. A finding that was open
-- before this migration has neither, so the next run that lists closes it, as it did.
alter table reconcile_streams
  add column unstable_reach_ms bigint,
  add column unstable_to_at timestamptz;
