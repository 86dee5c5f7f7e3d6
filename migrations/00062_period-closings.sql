-- Closed months, and their sums. docs/decisions/0118-closing-a-month.md. New tables and a function only, and a
-- further phase in the small `verify_ranges`: no lock on anything that events wait for.

-- One row for each closing. It is changed once, if the month is reopened. A month that is closed again has a
-- further row.
create table period_closings (
  id bigint generated always as identity primary key,
  month text not null check (month ~ '^\d{4}-\d{2}$'),
  version integer not null check (version > 0),
  time_zone text not null,
  from_at timestamptz not null,
  to_at timestamptz not null check (to_at > from_at),
  -- The closing of the month before; null for the first month, which closes everything before it, too.
  previous_id bigint references period_closings (id),
  -- Transfers up to this number are in it, if their effective time is before its end.
  last_transfer bigint not null check (last_transfer >= 0),
  closed_at timestamptz not null default statement_timestamp(),
  closed_by text not null,
  reason text,
  -- What was unproven: [{kind, count, examples}].
  exceptions jsonb not null,
  reopened_at timestamptz,
  reopened_by text,
  reopened_reason text,
  unique (month, version),
  check ((reopened_at is null) = (reopened_by is null) and (reopened_at is null) = (reopened_reason is null))
);
create unique index period_closings_in_force on period_closings (month) where reopened_at is null;

-- What a closing added, by the day of the effective time. Days before its month are late postings.
create table closing_days (
  closing_id bigint not null references period_closings (id),
  day date not null,
  currency text not null,
  leg text not null,
  -- Movements: transfers of one resource with one effective time are one, or none.
  ups bigint not null,
  downs bigint not null,
  up_minor numeric not null,
  down_minor numeric not null,
  -- Those that were recorded after the end of the month.
  late bigint not null,
  late_minor numeric not null,
  -- Transfers, each by itself.
  posted_up_minor numeric not null,
  posted_down_minor numeric not null,
  primary key (closing_id, day, currency, leg)
);

-- What every leg had posted by the end of a closed month, since the beginning of the journal.
create table closing_balances (
  closing_id bigint not null references period_closings (id),
  currency text not null,
  leg text not null,
  posted_up_minor numeric not null,
  posted_down_minor numeric not null,
  primary key (closing_id, currency, leg)
);

create trigger closing_days_append_only before update or delete or truncate on closing_days
  for each statement execute function refuse_change();
create trigger closing_balances_append_only before update or delete or truncate on closing_balances
  for each statement execute function refuse_change();

-- The only change of a closing is that its month is reopened, once.
create function check_closing_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.reopened_at is null
     and (to_jsonb(new) - '{reopened_at,reopened_by,reopened_reason}'::text[])
       = (to_jsonb(old) - '{reopened_at,reopened_by,reopened_reason}'::text[]) then
    return new;
  end if;
  raise exception 'a closing of % is kept as it is: % was refused', old.month, lower(tg_op)
    using errcode = '55000', hint = 'Reopen the month, and close it again.';
end $$;
create trigger period_closings_kept before update or delete on period_closings
  for each row execute function check_closing_change();
create trigger period_closings_append_only before truncate on period_closings
  for each statement execute function refuse_change();

-- The last number that a transfer got, committed or not. A role that only inserts cannot read it.
create function last_transfer_number() returns bigint
language sql volatile security definer
set search_path = public, pg_temp
return coalesce(pg_sequence_last_value(pg_get_serial_sequence('public.transfers', 'id')::regclass), 0);
revoke execute on function last_transfer_number() from public;

-- verify proves the sums of closed months, each closing by itself.
alter table verify_ranges drop constraint verify_ranges_phase_check;
alter table verify_ranges add constraint verify_ranges_phase_check
  check (phase in ('inbox', 'resources', 'orders', 'changes', 'sums', 'closings'));
