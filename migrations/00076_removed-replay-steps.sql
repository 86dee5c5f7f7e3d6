-- Steps of replays without events, and alerts that retention removes. Notifications wait for the index, which reads a
-- small table.

-- Retention looks up each alert that it removes, and so does the foreign key.
create index alert_outbox_alert on alert_outbox (alert_id);

-- A step of a replay is removed with the last of its events: as `event_replays`, it names events and nothing else.
create or replace function remove_events(ids bigint[]) returns bigint
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
  -- Those that span one of these numbers: to compare the lists would take longer.
  delete from replay_steps s
   where s.done_at is not null
     and s.position > (select min(id) from unnest(locked) id)
     and s.next_position <= (select max(id) from unnest(locked) id)
     and not exists (select from webhook_events e where e.id = any (s.numbers));
  return removed;
end $$;
