-- Processes whose machine's clock differs from the database's, each reported by itself while that lasts.
create table clock_reports (
  -- Host and process id.
  process text primary key,
  roles text not null,
  -- The machine's clock less the database's.
  skew_ms bigint not null,
  since timestamptz not null default statement_timestamp(),
  reported_at timestamptz not null default statement_timestamp()
);

do $$
begin
  if exists (select from pg_roles where rolname = 'tallyhook_app') then
    grant select, insert, update, delete on clock_reports to tallyhook_app;
  end if;
end $$;
