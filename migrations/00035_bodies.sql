-- Bodies apart from their rows, in one partition for each day, so that retention returns their space at
-- once. docs/decisions/0079-bodies-in-days.md
--
-- New tables, and columns without a default or a check: no row is read, and each lock lasts for a moment.
-- Bodies of an older version stay in the column `body` and are read there until they are copied.

alter table webhook_events
  -- The partition of its body: the UTC date of the database's clock at receipt. Null while the body is
  -- still in the column `body`.
  add column body_day date,
  -- Length of its body, so that readers can bound their memory. Null for rows of an older version.
  add column body_bytes integer,
  alter column body drop not null;

alter table event_variants alter column body drop not null;

-- No DEFAULT partition: it would forbid a concurrent detach, and a partition for days that it already
-- holds rows of. Partitions are made ahead by ensure_body_days.
create table webhook_bodies (
  day date not null,
  webhook_event_id bigint not null,
  body bytea not null,
  primary key (day, webhook_event_id)
) partition by range (day);

-- Many bodies in one value, which PostgreSQL compresses as a whole; it compresses no row below 2 kB.
create table packed_bodies (
  day date not null,
  first_event_id bigint not null,
  last_event_id bigint not null,
  -- The events in the order of their numbers, and the length of each body in `bodies`.
  event_ids bigint[] not null,
  lengths integer[] not null,
  bodies bytea not null,
  primary key (day, first_event_id),
  check (first_event_id <= last_event_id),
  check (cardinality(event_ids) between 1 and 100000),
  check (cardinality(lengths) = cardinality(event_ids))
) partition by range (day);

-- A server may be built without lz4. pglz, the default of older servers, needs several times as long.
do $$
begin
  if (select 'lz4' = any (enumvals) from pg_settings where name = 'default_toast_compression') then
    -- As text: PostgreSQL 13 cannot parse it.
    execute 'alter table webhook_bodies alter column body set compression lz4';
    execute 'alter table packed_bodies alter column bodies set compression lz4';
  end if;
end $$;

-- Bodies that outlive their day: of events that are pending, dead or have an open finding.
create table kept_bodies (
  webhook_event_id bigint primary key,
  body bytea not null
);

-- What became of each day's bodies. A body that is in no table is explained here, or it is lost.
create table body_days (
  day date primary key,
  state text not null default 'open' check (state in ('open', 'packed', 'removed')),
  -- How many bodies the day had when it was packed.
  events bigint check (events >= 0),
  packed_at timestamptz,
  removed_at timestamptz,
  check ((state = 'removed') = (removed_at is not null)),
  check (state <> 'packed' or packed_at is not null)
);

-- Partitions that were detached, and are dropped some days later.
create table detached_partitions (
  name text primary key,
  detached_at timestamptz not null default statement_timestamp(),
  dropped_at timestamptz
);

-- Makes the partitions of today and of the next days, those that are missing. A process with the least
-- rights owns no table, so this runs with the rights of its owner. The tables are created first and
-- attached then: this lets statements on other partitions go on, which CREATE TABLE PARTITION OF does not.
-- Returns how many it made.
create function ensure_body_days(days_ahead integer) returns integer
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
    -- One process makes it; the others wait, and find it made.
    perform pg_advisory_xact_lock(hashtext('tallyhook body days'));
    continue when to_regclass(partition) is not null;
    execute format('create table %I (like webhook_bodies including all)', partition);
    execute format('alter table webhook_bodies attach partition %I for values from (%L) to (%L)',
                   partition, the_day, the_day + 1);
    insert into body_days (day) values (the_day) on conflict (day) do nothing;
    made := made + 1;
  end loop;
  return made;
end $$;
revoke execute on function ensure_body_days(integer) from public;

select ensure_body_days(7);
