-- Retention: what is removed after how long, and what stays known of removed events.
--
-- New tables, a view and functions; no row is read or changed. Rows are found by their primary keys, which
-- follow their age, or by an index that is there already: no index is added to what events write.

-- How far retention is, one row for each class of data.
create table retention_state (
  class text primary key,
  removed_rows bigint not null default 0,
  -- The greatest number removed, where rows have one. Smaller numbers may still be there.
  removed_through bigint,
  -- When nothing was left to remove.
  caught_up_at timestamptz not null default statement_timestamp()
);

-- Events whose inbox row was removed: eight bytes of the SHA-256 of the event id, or of the body where it
-- names no id. A sender that repeats such an event is noticed, although its row is gone.
create table removed_events (digest bigint primary key);

create function event_digest(event_id text, body_sha256 bytea) returns bigint
language sql immutable parallel safe as $$
  select ('x' || encode(substring(
            case when event_id is null then body_sha256 else sha256(convert_to(event_id, 'UTF8')) end
            from 1 for 8), 'hex'))::bit(64)::bigint
$$;

-- Removes changes up to a number. The newest change stays, because numbers continue after it, and so does
-- everything that order webhooks have not processed.
create function remove_changes(through bigint) returns bigint
language plpgsql security definer
set search_path = public, pg_temp
set lock_timeout = '200ms'
as $$
declare
  removed bigint;
begin
  perform set_config('tallyhook.may_change', 'changes:delete', true);
  delete from changes
   where number <= least(through,
                         (select max(number) - 1 from changes),
                         (select min(change_number) from order_webhook_position))
     and number < coalesce((select min(number) from changes
                             where number <= through
                               and changed_at > statement_timestamp() - interval '7 days'),
                           through + 1);
  get diagnostics removed = row_count;
  perform set_config('tallyhook.may_change', '', true);
  return removed;
end $$;
revoke execute on function remove_changes(bigint) from public;

-- Removes rows of the inbox that are older than 400 days, with their variants and replays, and keeps their
-- digests. A row stays while its body does, while it is pending or dead, and while a finding about it is
-- open. Rows that somebody has locked are left to the next call.
create function remove_events(ids bigint[]) returns bigint
language plpgsql security definer
set search_path = public, pg_temp
set lock_timeout = '200ms'
as $$
declare
  locked bigint[];
  removed bigint;
begin
  -- A replay locks its row, too. Everything else is read after the lock.
  select array_agg(id) into locked
    from (select id from webhook_events
           where id = any (ids) and received_at < statement_timestamp() - interval '400 days'
             and body is null
           order by id
             for update skip locked) l;
  select array_agg(e.id) into locked
    from webhook_events e
    join body_days d on d.day = e.body_day and d.state = 'removed'
   where e.id = any (locked)
     and not exists (select from pending p where p.webhook_event_id = e.id)
     and not exists (select from dead_events d where d.webhook_event_id = e.id)
     and not exists (select from kept_bodies k where k.webhook_event_id = e.id)
     and not exists (select from findings f
                      where f.subject = 'event:' || e.id and f.state = 'open');
  insert into removed_events (digest)
  select event_digest(event_id, body_sha256) from webhook_events where id = any (locked)
  on conflict do nothing;
  delete from event_variants where webhook_event_id = any (locked);
  delete from event_replays where webhook_event_id = any (locked);
  delete from webhook_events where id = any (locked);
  get diagnostics removed = row_count;
  return removed;
end $$;
revoke execute on function remove_events(bigint[]) from public;

-- Where the change feed begins and ends, for readers in SQL. One who has read up to a number below
-- first_number - 1 has missed changes.
create view change_feed_bounds as
select (select min(number) from changes) as first_number,
       (select max(number) from changes) as last_number;
