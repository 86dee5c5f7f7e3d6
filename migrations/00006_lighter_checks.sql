-- Checks on the busiest path that cost more than they need to. What is refused stays the same, but
-- for one foreign key. Short locks: two constraints of empty or small scope, no table is read.

-- The check looked for a predecessor of every transfer, also of those that begin a leg and can have
-- none; most do begin one. Two questions, each asked of its own rows.
create or replace function check_transfers() returns trigger language plpgsql as $$
declare bad record;
begin
  select n.kind, n.resource_id, n.leg, n.leg_seq into bad
    from inserted n
   where n.leg_seq = 1
     and not exists (select from resources r where r.kind = n.kind and r.id = n.resource_id)
   limit 1;
  if not found then
    select n.kind, n.resource_id, n.leg, n.leg_seq into bad
      from inserted n
      left join transfers p
        on p.kind = n.kind and p.resource_id = n.resource_id and p.leg = n.leg
       and p.currency = n.currency and p.leg_seq = n.leg_seq - 1
     where n.leg_seq > 1 and p.cumulative_minor is distinct from n.previous_minor
     limit 1;
  end if;
  if found then
    raise exception 'the chain of leg % of % % is broken at number %',
      bad.leg, bad.kind, bad.resource_id, bad.leg_seq using errcode = '23514';
  end if;
  select n.kind, n.resource_id, n.leg, n.leg_seq into bad
    from inserted n
    left join legs l on l.kind = n.kind and l.leg = n.leg
   where case when n.cumulative_minor > n.previous_minor
              then (l.debit, l.credit) is distinct from (n.debit, n.credit)
              else (l.credit, l.debit) is distinct from (n.debit, n.credit) end
   limit 1;
  if found then
    raise exception 'transfer % of leg % of % % moves money between accounts that are not its own',
      bad.leg_seq, bad.leg, bad.kind, bad.resource_id using errcode = '23514';
  end if;
  return null;
end $$;

-- Totals are written in the transaction that writes their order, and orders are never deleted; the
-- key was checked row by row for every new order. `tallyhook verify` holds totals and orders together.
alter table order_totals drop constraint order_totals_order_key_fkey;

-- Transfers are only appended, so their times lie in the order of the table: a range of blocks is
-- found as well by its summary, at none of the cost of a tree for each row.
drop index transfers_recorded_at;
create index transfers_recorded_at on transfers using brin (recorded_at) with (autosummarize = on);

-- Kept for the sweep alone, which looks once a minute at a table of what waits: reading it whole
-- costs less than an entry for every event, and without it putting an announcement off is an update
-- in place.
drop index pending_announce_at;
