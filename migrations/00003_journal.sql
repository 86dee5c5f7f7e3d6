-- The journal: every movement of money as one append-only row. A row debits one account and credits
-- another by the same amount, so books that do not balance cannot be written.
-- New tables, and new columns with constant defaults: no table is rewritten.

create table accounts (
  code text primary key,
  class text not null check (class in ('asset', 'liability', 'income', 'expense', 'memo')),
  meaning text not null
);
insert into accounts (code, class, meaning) values
  ('psp.clearing', 'asset', 'held for us by the service, by its own words; fees are not in its interface'),
  ('order.due', 'income', 'what orders were paid, less captures voided afterwards'),
  ('order.refunds', 'expense', 'what was given back, or is about to be'),
  ('refund.in_flight', 'liability', 'refunds asked for and not yet settled or failed'),
  ('memo.auth_open', 'memo', 'holds that can still be captured; no money has moved'),
  ('memo.auth_contra', 'memo', 'the other side of memo.auth_open'),
  ('dispute.held', 'asset', 'withheld by the service until a dispute is decided'),
  ('loss.disputes', 'expense', 'lost to disputes'),
  ('payout.in_transit', 'asset', 'on its way to a payee'),
  ('payout.paid', 'expense', 'arrived at a payee');

-- Which way each leg moves money while its cumulative amount grows.
create table legs (
  kind text not null,
  leg text not null,
  debit text not null references accounts (code),
  credit text not null references accounts (code),
  primary key (kind, leg),
  check (debit <> credit)
);
insert into legs (kind, leg, debit, credit) values
  ('payment', 'auth_opened', 'memo.auth_open', 'memo.auth_contra'),
  ('payment', 'auth_consumed', 'memo.auth_contra', 'memo.auth_open'),
  ('payment', 'auth_released', 'memo.auth_contra', 'memo.auth_open'),
  ('payment', 'captured', 'psp.clearing', 'order.due'),
  ('payment', 'capture_voided', 'order.due', 'psp.clearing'),
  ('refund', 'requested', 'order.refunds', 'refund.in_flight'),
  ('refund', 'settled', 'refund.in_flight', 'psp.clearing'),
  ('refund', 'released', 'refund.in_flight', 'order.refunds'),
  ('dispute', 'held', 'dispute.held', 'psp.clearing'),
  ('dispute', 'written_off', 'loss.disputes', 'dispute.held'),
  ('payout', 'initiated', 'payout.in_transit', 'psp.clearing'),
  ('payout', 'delivered', 'payout.paid', 'payout.in_transit'),
  ('payout', 'returned', 'psp.clearing', 'payout.in_transit'),
  ('payout', 'reversed', 'psp.clearing', 'payout.paid');

create table transfers (
  id bigint generated always as identity primary key,
  kind text not null,
  resource_id text not null,
  leg text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  leg_seq integer not null check (leg_seq > 0),
  debit text not null,
  credit text not null,
  amount_minor bigint not null check (amount_minor > 0),
  previous_minor bigint not null check (previous_minor >= 0),
  cumulative_minor bigint not null check (cumulative_minor >= 0),
  -- What caused it: the snapshot that became the head, and the inbox row that brought it, if one did.
  head_hash bytea not null check (octet_length(head_hash) = 32),
  webhook_event_id bigint,
  recorded_at timestamptz not null default now(),
  check (debit <> credit),
  check (abs(cumulative_minor - previous_minor) = amount_minor),
  check (leg_seq > 1 or previous_minor = 0),
  unique (kind, resource_id, leg, currency, leg_seq)
);
create index transfers_recorded_at on transfers (recorded_at);

-- A row must start where the last one of its leg ended, and move money the way its leg does. Checked
-- for a statement's rows together; measured at a fraction of what row triggers and foreign keys cost.
create function check_transfers() returns trigger language plpgsql as $$
declare bad record;
begin
  select n.kind, n.resource_id, n.leg, n.leg_seq into bad
    from inserted n
    left join transfers p
      on p.kind = n.kind and p.resource_id = n.resource_id and p.leg = n.leg
     and p.currency = n.currency and p.leg_seq = n.leg_seq - 1
    left join resources r on n.leg_seq = 1 and r.kind = n.kind and r.id = n.resource_id
   where case when n.leg_seq = 1 then r.id is null
              else p.cumulative_minor is distinct from n.previous_minor end
   limit 1;
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
create trigger transfers_chain after insert on transfers
  referencing new table as inserted for each statement execute function check_transfers();

-- Append-only, for every role that is not the owner of the table bent on harm.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: % was refused', tg_table_name, lower(tg_op)
    using errcode = '55000', hint = 'Correct it by adding, never by changing.';
end $$;
create trigger transfers_append_only before update or delete or truncate on transfers
  for each statement execute function refuse_change();
create trigger snapshots_append_only before update or delete or truncate on snapshots
  for each statement execute function refuse_change();
create trigger resource_epochs_append_only before update or delete or truncate on resource_epochs
  for each statement execute function refuse_change();

-- What each leg has moved by now, by currency and leg: {"USD": {"captured": {"seq": 1, …}}}.
alter table resources add column posted jsonb not null default '{}';

-- Classes of the findings that are open about an order, so that closing them needs no search.
alter table orders add column open_findings text[] not null default '{}';

-- A role with the least rights that running needs; log in as a role that is a member of it.
do $$
begin
  if not exists (select from pg_roles where rolname = 'tallyhook_app') then
    create role tallyhook_app nologin;
  end if;
exception when insufficient_privilege then
  raise notice 'role tallyhook_app was not created: this role may not create roles';
end $$;
do $$
begin
  if exists (select from pg_roles where rolname = 'tallyhook_app') then
    grant usage on schema public to tallyhook_app;
    grant select on accounts, legs to tallyhook_app;
    grant select, insert on webhook_events, event_variants, snapshots, resource_epochs, transfers,
                            installation to tallyhook_app;
    grant select, insert, update, delete on pending, dead_events, orders, order_totals
      to tallyhook_app;
    grant select, insert, update on resources, findings to tallyhook_app;
    grant select on migrations to tallyhook_app;
  end if;
end $$;
