-- A day that was packed before it was over is open again. While the clock of the database is ahead, as after a
-- failover to a server with a wrong clock, today is packed and detached as a past day. Once the clock was
-- right, intake had no partition until midnight: a detached table keeps its name for two days, so none was made.
-- docs/decisions/0079-bodies-in-days.md
--
-- A detached partition is attached again. It is not dropped early: its bodies are in packs, but the two days in
-- which it is a second copy begin with its next detach. Packing continues behind `packed_through`. PostgreSQL
-- scans the table when it attaches it; inserts of other days go on.
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
  if exists (select from body_days where day between today and today + days_ahead and state <> 'open') then
    -- Nothing is packed, detached or erased meanwhile: an erasure that found the partition detached would
    -- leave bodies in it. Before the lock below, as packing takes both.
    perform pg_advisory_xact_lock(hashtext('tallyhook bodies'));
    update body_days
       set state = 'open', packed_at = null, events = null
     where day between today and today + days_ahead and state = 'packed';
  end if;
  for the_day in select today + n from generate_series(0, days_ahead) as n loop
    partition := 'webhook_bodies_' || to_char(the_day, 'YYYYMMDD');
    continue when is_partition_of(partition, 'webhook_bodies');
    perform pg_advisory_xact_lock(hashtext('tallyhook body days'));
    continue when exists (select from pg_inherits i
                            join pg_class c on c.oid = i.inhrelid
                           where i.inhparent = 'webhook_bodies'::regclass and c.relname = partition);
    -- Its next detach inserts it again. The lock of this row excludes a drop.
    delete from detached_partitions where name = partition;
    if not exists (select from pg_class
                    where relname = partition and relnamespace = 'public'::regnamespace) then
      execute format('create table %I (like webhook_bodies including all)', partition);
    end if;
    execute format('alter table webhook_bodies attach partition %I for values from (%L) to (%L)',
                   partition, the_day, the_day + 1);
    insert into body_days (day) values (the_day) on conflict (day) do nothing;
    made := made + 1;
  end loop;
  return made;
end $$;
