-- What the watch over the system counts. A new table only: no lock on anything that is in use.

-- Counts by the minute of what leaves no row elsewhere: deliveries without a valid signature, of which
-- nothing is kept, and minutes without a request left. At most a row a name and minute; rows older than
-- a day are removed.
create table watch_counts (
  minute timestamptz not null,
  name text not null check (name in ('signature_mismatched', 'signature_unsigned', 'rate_exhausted')),
  count bigint not null check (count > 0),
  primary key (minute, name)
);

do $$
begin
  if exists (select from pg_roles where rolname = 'tallyhook_app') then
    grant select, insert, update, delete on watch_counts to tallyhook_app;
  end if;
end $$;
