-- The events whose bodies stop the packing of a day, so that an alert can name them. A column without a
-- default: no row is rewritten. Null: none was found, or the day is packed.
alter table body_days add column damaged_event_ids bigint[];

-- As ensure_body_days: behind the lock, the catalog itself is read, because a process that waited may find
-- a partition missing in its cache. A function is replaced; its rights stay.
create or replace function ensure_packed_day(the_day date) returns boolean
language plpgsql security definer
set search_path = public, pg_temp
set lock_timeout = '200ms'
as $$
declare
  partition text := 'packed_bodies_' || to_char(the_day, 'YYYYMMDD');
begin
  perform pg_advisory_xact_lock(hashtext('tallyhook body days'));
  if exists (select from pg_class
              where relname = partition and relnamespace = 'public'::regnamespace) then
    return false;
  end if;
  if not exists (select from body_days where day = the_day and state = 'open') then
    raise exception '% is not an open day', the_day using errcode = '22023';
  end if;
  execute format('create table %I (like packed_bodies including all)', partition);
  execute format('alter table packed_bodies attach partition %I for values from (%L) to (%L)',
                 partition, the_day, the_day + 1);
  return true;
end $$;
