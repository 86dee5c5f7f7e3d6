-- Sums of the service's analytics, which are used only after they once agreed with the ledger's. New
-- columns that are empty: no row is changed, and the constraint is checked over one short scan. The
-- rights on both tables cover them.
alter table reconcile_streams
  -- When sums last agreed over a closed day that had just been compared in full; empty while they are
  -- not to be used.
  add column sums_calibrated_at timestamptz;

alter table reconcile_runs
  -- What the sums said in this run; empty where they were not asked.
  add column sums text
    check (sums in ('agreed', 'differed', 'disproved', 'not_calibrated', 'unanswered'));
