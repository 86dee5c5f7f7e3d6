-- When the first import of a list ended. Before that, what a run brings of the past raises no alerts. The
-- watermark cannot tell: one ahead of the service's clock is removed, and the list stays imported.
alter table reconcile_streams add column imported_at timestamptz;
update reconcile_streams s
   set imported_at = coalesce(
         (select min(r.finished_at)
            from reconcile_runs r
           where r.stream = s.stream and r.mode = 'full' and r.state = 'done' and not r.is_dry_run
             and r.to_at - r.from_at >= interval '120 days'),
         case when s.watermark_at is not null then statement_timestamp() end);
