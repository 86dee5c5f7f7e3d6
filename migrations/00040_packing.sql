-- Packing of past days, their removal, and the copy of bodies that an older version stored.
-- docs/decisions/0081-packed-bodies.md
--
-- Functions, a column without a default and a table of one row: no lock lasts longer than a moment.
-- Each function attaches and detaches partitions with the rights of its owner, because a process with the
-- least rights owns no table. None takes the name of a table that it does not check, and each gives up
-- after 200 ms, so that intake never waits longer behind one.

-- The number of the last event that was packed; the day's packing goes on behind it.
alter table body_days add column packed_through bigint;

-- How far the copy of bodies from the column `body` of the inbox is, one row.
create table body_copy (
  singleton boolean primary key default true check (singleton),
  -- No event up to this number has its body in the column, unless it was erased.
  copied_through bigint not null default 0,
  -- Every event received before this instant is covered; null before the first step.
  copied_until timestamptz,
  -- How many bodies were copied.
  copied bigint not null default 0,
  stepped_at timestamptz
);
insert into body_copy default values;

-- Makes the partition of a past day, for bodies that an older version stored. Returns whether it made one.
create function ensure_body_day(the_day date) returns boolean
language plpgsql security definer
set search_path = public, pg_temp
set lock_timeout = '200ms'
as $$
declare
  partition text := 'webhook_bodies_' || to_char(the_day, 'YYYYMMDD');
begin
  if the_day is null or the_day not between date '2000-01-01' and (now() at time zone 'UTC')::date + 60 then
    raise exception '% is not a day of stored bodies', the_day using errcode = '22023';
  end if;
  perform pg_advisory_xact_lock(hashtext('tallyhook body days'));
  if exists (select from body_days where day = the_day) then return false; end if;
  execute format('create table %I (like webhook_bodies including all)', partition);
  execute format('alter table webhook_bodies attach partition %I for values from (%L) to (%L)',
                 partition, the_day, the_day + 1);
  insert into body_days (day) values (the_day);
  return true;
end $$;
revoke execute on function ensure_body_day(date) from public;

-- Makes the partition for the packs of an open day. Returns whether it made one.
create function ensure_packed_day(the_day date) returns boolean
language plpgsql security definer
set search_path = public, pg_temp
set lock_timeout = '200ms'
as $$
declare
  partition text := 'packed_bodies_' || to_char(the_day, 'YYYYMMDD');
begin
  perform pg_advisory_xact_lock(hashtext('tallyhook body days'));
  if to_regclass(partition) is not null then return false; end if;
  if not exists (select from body_days where day = the_day and state = 'open') then
    raise exception '% is not an open day', the_day using errcode = '22023';
  end if;
  execute format('create table %I (like packed_bodies including all)', partition);
  execute format('alter table packed_bodies attach partition %I for values from (%L) to (%L)',
                 partition, the_day, the_day + 1);
  return true;
end $$;
revoke execute on function ensure_packed_day(date) from public;

-- Whether a table is a partition now, and not one that was detached.
create function is_partition_of(partition text, parent text) returns boolean
language sql stable
set search_path = public, pg_temp
as $$
  select exists (select from pg_inherits
                  where inhrelid = to_regclass(partition) and inhparent = to_regclass(parent))
$$;
revoke execute on function is_partition_of(text, text) from public;

-- Detaches the open partition of a packed day.
--   detached    it is
--   absent      it was before
--   incomplete  it has a body that is neither packed nor kept, and stays
create function detach_body_day(the_day date) returns text
language plpgsql security definer
set search_path = public, pg_temp
set lock_timeout = '200ms'
as $$
declare
  partition text := 'webhook_bodies_' || to_char(the_day, 'YYYYMMDD');
  is_incomplete boolean;
begin
  perform pg_advisory_xact_lock(hashtext('tallyhook bodies'));
  if not exists (select from body_days where day = the_day and state <> 'open') then
    raise exception '% is not a packed day', the_day using errcode = '22023';
  end if;
  if not is_partition_of(partition, 'webhook_bodies') then return 'absent'; end if;
  -- No insert into this day until the end of the transaction; other days are not locked.
  execute format('lock table %I in share mode', partition);
  execute format(
    'select exists (
       select from %I b
        where not exists (select from (select unnest(event_ids) as id from packed_bodies where day = %L) p
                           where p.id = b.webhook_event_id)
          and not exists (select from kept_bodies k where k.webhook_event_id = b.webhook_event_id))',
    partition, the_day) into is_incomplete;
  if is_incomplete then return 'incomplete'; end if;
  execute format('alter table webhook_bodies detach partition %I', partition);
  insert into detached_partitions (name) values (partition);
  return 'detached';
end $$;
revoke execute on function detach_body_day(date) from public;

-- The events that need their bodies after their day: pending, dead, or with an open finding.
create view events_in_need as
  select webhook_event_id from pending
  union select webhook_event_id from dead_events
  union select case when subject ~ '^event:[0-9]{1,18}$' then substring(subject from 7)::bigint end
          from findings
         where state = 'open' and subject ~ '^event:[0-9]{1,18}$';

-- Removes the packed bodies of a day. Bodies that are still needed are kept, and the partition is detached
-- in the same transaction. Returns how many bodies it removed.
create function detach_packed_day(the_day date) returns bigint
language plpgsql security definer
set search_path = public, pg_temp
set lock_timeout = '200ms'
as $$
declare
  partition text := 'packed_bodies_' || to_char(the_day, 'YYYYMMDD');
  first_id bigint;
  last_id bigint;
  total bigint;
  needed bigint[];
  kept bigint;
begin
  perform pg_advisory_xact_lock(hashtext('tallyhook bodies'));
  if not exists (select from body_days where day = the_day and state = 'packed') then
    raise exception '% is not a packed day', the_day using errcode = '22023';
  end if;
  if is_partition_of('webhook_bodies_' || to_char(the_day, 'YYYYMMDD'), 'webhook_bodies') then
    raise exception 'the bodies of % are not detached yet', the_day using errcode = '55000';
  end if;
  select min(first_event_id), max(last_event_id), coalesce(sum(cardinality(event_ids)), 0)
    into first_id, last_id, total
    from packed_bodies where day = the_day;
  select coalesce(array_agg(n.webhook_event_id), '{}') into needed
    from events_in_need n
    join webhook_events e on e.id = n.webhook_event_id and e.body_day = the_day
   where n.webhook_event_id between first_id and last_id;
  with hit as (
    select p.first_event_id, array_agg(n.id) as ids
      from unnest(needed) as n (id)
     cross join lateral (select first_event_id from packed_bodies
                          where day = the_day and first_event_id <= n.id
                          order by first_event_id desc limit 1) p
     group by p.first_event_id
  ), pack as materialized (
    -- Concatenated with nothing: decompressed once for a pack, not once for a body.
    select hit.ids, b.event_ids, b.lengths, b.bodies || ''::bytea as bodies
      from hit
      join packed_bodies b on b.day = the_day and b.first_event_id = hit.first_event_id
  )
  insert into kept_bodies (webhook_event_id, body)
  select u.id, substring(pack.bodies from (u.following - u.length + 1)::integer for u.length)
    from pack
   cross join lateral (select id, length, sum(length) over (order by place) as following
                         from unnest(pack.event_ids, pack.lengths) with ordinality as u (id, length, place)) u
   where u.id = any (pack.ids)
  on conflict do nothing;
  get diagnostics kept = row_count;
  update event_variants v
     set body = null
    from webhook_events e
   where v.webhook_event_id between first_id and last_id and v.body is not null
     and e.id = v.webhook_event_id and e.body_day = the_day and not (e.id = any (needed));
  if is_partition_of(partition, 'packed_bodies') then
    execute format('alter table packed_bodies detach partition %I', partition);
    insert into detached_partitions (name) values (partition);
  end if;
  update body_days set state = 'removed', removed_at = statement_timestamp() where day = the_day;
  return total - kept;
end $$;
revoke execute on function detach_packed_day(date) from public;

-- Drops a partition that was detached two days ago or, for an erasure, earlier. Returns whether it did.
create function drop_detached_partition(partition text, is_early boolean) returns boolean
language plpgsql security definer
set search_path = public, pg_temp
set lock_timeout = '200ms'
as $$
begin
  perform from detached_partitions
    where name = partition and dropped_at is null
      and (is_early or detached_at <= statement_timestamp() - interval '2 days')
      for update;
  if not found then return false; end if;
  if partition !~ '^(webhook|packed)_bodies_[0-9]{8}$'
     or exists (select from pg_inherits where inhrelid = to_regclass(partition)) then
    raise exception '% is not a detached partition', partition using errcode = '22023';
  end if;
  execute format('drop table if exists %I', partition);
  update detached_partitions set dropped_at = statement_timestamp() where name = partition;
  return true;
end $$;
revoke execute on function drop_detached_partition(text, boolean) from public;
