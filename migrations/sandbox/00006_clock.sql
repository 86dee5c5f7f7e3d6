-- A fresh sandbox may start in the past, so the stored distance to the machine's clock may be negative.
alter table sandbox.account drop constraint account_clock_advance_ms_check;

-- When a row became true by the sandbox's own clock. `created_at` and `modified_at` are what the
-- service shows, which a fault may shift or coarsen; a lagging view needs the real instant. Null for
-- rows that were written before this migration or by hand: what they show is then taken for real.
alter table sandbox.resources add column recorded_at timestamptz(3);
alter table sandbox.past_resources add column recorded_at timestamptz(3);

-- A lagging retrieve looks for the past of one resource.
create index past_resources_by_id on sandbox.past_resources (kind, id);
