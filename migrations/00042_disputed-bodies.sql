-- Bodies and rows of events that undecided disputes, and the payments of these, follow from stay as long as
-- the dispute is undecided. Replaces a view; no table is locked. Undecided disputes are few, and are found
-- by the index of what is to be checked again.
create or replace view events_in_need as
  select webhook_event_id from pending
  union select webhook_event_id from dead_events
  union select case when subject ~ '^event:[0-9]{1,18}$' then substring(subject from 7)::bigint end
          from findings
         where state = 'open' and subject ~ '^event:[0-9]{1,18}$'
  union select s.webhook_event_id
          from resources r
          join snapshots s on s.kind = 'dispute' and s.resource_id = r.id
         where r.next_check_at is not null and r.kind = 'dispute'
           and r.status in ('opened', 'challenged') and s.webhook_event_id is not null
  union select s.webhook_event_id
          from resources r
          join snapshots s on s.kind = 'payment' and s.resource_id = r.payment_id
         where r.next_check_at is not null and r.kind = 'dispute'
           and r.status in ('opened', 'challenged') and s.webhook_event_id is not null;
