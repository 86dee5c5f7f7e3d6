-- Processes that make partitions at the same time: one of them makes each, the others find it made. A
-- process that had waited for the lock could still find a partition missing in its cache of the catalog,
-- and failed because it existed. Behind the lock, the catalog itself is read.
--
-- A function is replaced; its rights stay.

create or replace function ensure_body_days(days_ahead integer) returns integer
language plpgsql security definer
set search_path = public, pg_temp
set lock_timeout = '200ms'
as $$
declare
  today date := (now() at time zone 'UTC')::date;
  the_day date;
  partition text;
  made integer := 0;
begin
  if days_ahead is null or days_ahead not between 0 and 60 then
    raise exception 'days_ahead must be between 0 and 60, not %', days_ahead using errcode = '22023';
  end if;
  for the_day in select today + n from generate_series(0, days_ahead) as n loop
    partition := 'webhook_bodies_' || to_char(the_day, 'YYYYMMDD');
    continue when to_regclass(partition) is not null;
    perform pg_advisory_xact_lock(hashtext('tallyhook body days'));
    continue when exists (select from pg_class
                           where relname = partition and relnamespace = 'public'::regnamespace);
    execute format('create table %I (like webhook_bodies including all)', partition);
    execute format('alter table webhook_bodies attach partition %I for values from (%L) to (%L)',
                   partition, the_day, the_day + 1);
    insert into body_days (day) values (the_day) on conflict (day) do nothing;
    made := made + 1;
  end loop;
  return made;
end $$;
