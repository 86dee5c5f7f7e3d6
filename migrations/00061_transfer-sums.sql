-- Sums of the journal by effective time, so that statements and balances as of a time do not add transfers up.
-- docs/decisions/0110-transfer-sums.md. New tables, and a further phase in the small `verify_ranges`: no lock
-- on anything that events wait for. The schedule `transfer_sums` fills them; workers never write here.

-- One row. Transfers that were recorded before `summed_to` are in the sums. With `-infinity` the sums begin
-- again: what is left of them is not read, and is removed first.
create table transfer_sums_state (
  is_only boolean primary key default true check (is_only),
  summed_to timestamptz not null default '-infinity',
  -- About the last transfer in the sums. It bounds the size of a step, and nothing depends on it.
  last_id bigint not null default 0
);
insert into transfer_sums_state default values;

-- What a leg moved in a quarter of an hour: every month and day of every time zone since 1972 begins with
-- one. `recorded_from` is a time that divides recordings as the end of any month does, in any time zone.
create table transfer_sums (
  quarter timestamptz not null,
  currency text not null,
  leg text not null,
  recorded_from timestamptz not null,
  -- Movements: transfers of one resource with one effective time are one, or none.
  ups bigint not null,
  downs bigint not null,
  up_minor numeric not null,
  down_minor numeric not null,
  -- Transfers, each by itself.
  posted_up_minor numeric not null,
  posted_down_minor numeric not null,
  primary key (quarter, currency, leg, recorded_from)
);

-- The transfers of a day (UTC), for times long after it.
create table transfer_day_sums (
  day timestamptz not null,
  currency text not null,
  leg text not null,
  posted_up_minor numeric not null,
  posted_down_minor numeric not null,
  primary key (day, currency, leg)
);

-- What was under way, and when: while `span` contains a time, so much of the resource was open before it.
create table open_spans (
  item text not null,
  currency text not null,
  resource_id text not null,
  span tstzrange not null,
  since timestamptz not null,
  open_minor bigint not null,
  primary key (item, resource_id, currency, span)
);
-- What is open to this day is found by its age; what was open once, by the time.
create index open_spans_open on open_spans (item, currency, since, resource_id)
  include (open_minor, span) where upper(span) = 'infinity';
create index open_spans_closed on open_spans using gist (span) where upper(span) < 'infinity';

-- The part of recordings that `recorded_from` names. A month ends within 14 hours before and 12 hours after
-- it does in UTC; between these, no time zone has an end of a month that would divide. Times without a zone
-- are immutable to add to, so that the planner puts the expression in the place of each call.
create function recorded_part(recorded timestamptz) returns timestamptz
language sql immutable parallel safe
return case
  when recorded at time zone 'UTC' < date_trunc('month', recorded at time zone 'UTC') + interval '12 hours'
    or recorded at time zone 'UTC' >= date_trunc('month', recorded at time zone 'UTC') + interval '1 month'
                                      - interval '14 hours'
  then date_bin('15 minutes', recorded, timestamptz '2000-01-01 00:00:00+00')
  else (date_trunc('month', recorded at time zone 'UTC') + interval '12 hours') at time zone 'UTC'
end;

-- verify proves the sums by ranges of days.
alter table verify_ranges drop constraint verify_ranges_phase_check;
alter table verify_ranges add constraint verify_ranges_phase_check
  check (phase in ('inbox', 'resources', 'orders', 'changes', 'sums'));
