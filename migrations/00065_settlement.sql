-- Settlement reports and bank statements: fees, what arrived at the bank, and what was matched.
-- docs/decisions/0125-second-source-of-the-journal.md. New tables, rows of small tables, and a check that reads
-- no row: events wait for nothing but a moment's lock on transfers.

insert into accounts (code, class, meaning) values
  ('fees.service', 'expense', 'fees of the service, by its settlement reports'),
  ('service.adjustments', 'expense', 'what reports and people corrected: reserves, rounding, differences written off'),
  ('bank.account', 'asset', 'arrived from the service at the bank, by bank statements');
insert into legs (kind, leg, debit, credit) values
  ('settlement_line', 'fee_charged', 'fees.service', 'psp.clearing'),
  ('settlement_line', 'fee_returned', 'psp.clearing', 'fees.service'),
  ('settlement_line', 'adjusted_up', 'psp.clearing', 'service.adjustments'),
  ('settlement_line', 'adjusted_down', 'service.adjustments', 'psp.clearing'),
  ('bank_line', 'bank_received', 'bank.account', 'psp.clearing'),
  ('bank_line', 'bank_withdrawn', 'psp.clearing', 'bank.account'),
  ('bank_line', 'difference_up', 'psp.clearing', 'service.adjustments'),
  ('bank_line', 'difference_down', 'service.adjustments', 'psp.clearing');

-- A file that was imported. Its lines are read once; what is already stored is not stored again.
create table settlement_files (
  id bigint generated always as identity primary key,
  -- The name of the source file, which scopes what counts as the same line.
  source text not null,
  format text not null check (format in ('csv', 'camt.053', 'mt940')),
  name text not null,
  digest bytea not null check (octet_length(digest) = 32),
  lines integer not null default 0 check (lines >= 0),
  new_lines integer not null default 0 check (new_lines between 0 and lines),
  -- Lines that are not the service's, or that the source file leaves out. Nothing of them is stored.
  ignored integer not null default 0 check (ignored >= 0),
  imported_by text not null,
  imported_at timestamptz not null default statement_timestamp(),
  unique (source, digest)
);

-- What the service pays out together, by the reference of its report.
create table settlements (
  id bigint generated always as identity primary key,
  source text not null,
  reference text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  unique (source, reference, currency)
);

-- The second source of the journal. Only the text, which no amount depends on, may change: erasure removes
-- personal data from it.
create table settlement_lines (
  id bigint generated always as identity primary key,
  file_id bigint not null references settlement_files (id),
  file_line integer not null check (file_line > 0),
  source text not null,
  kind text not null check (kind in ('settlement_line', 'bank_line')),
  type text not null
    check (type in ('payment', 'refund', 'dispute', 'payout', 'fee', 'adjustment', 'bank')),
  settlement_id bigint references settlements (id),
  -- The id by which the report names what the line is about.
  reference text,
  -- The number that the service or the bank gives the line.
  line_reference text,
  day date not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  gross_minor bigint not null,
  fee_minor bigint not null,
  text text,
  digest bytea not null check (octet_length(digest) = 32),
  occurrence integer not null check (occurrence > 0),
  check ((kind = 'bank_line') = (type = 'bank')),
  check ((kind = 'bank_line') = (settlement_id is null)),
  unique (source, digest, occurrence)
);
create index settlement_lines_file on settlement_lines (file_id, id);
create index settlement_lines_settlement on settlement_lines (settlement_id, id)
  include (gross_minor, fee_minor, day);

create function refuse_change_of_line() returns trigger language plpgsql as $$
begin
  raise exception 'settlement_lines is append-only: % was refused', lower(tg_op)
    using errcode = '55000', hint = 'Correct it by adding, never by changing.';
end $$;
create trigger settlement_lines_append_only before delete or truncate on settlement_lines
  for each statement execute function refuse_change_of_line();
create trigger settlement_lines_same_money
  before update of file_id, file_line, source, kind, type, settlement_id, reference, line_reference, day,
                   currency, gross_minor, fee_minor, digest, occurrence on settlement_lines
  for each statement execute function refuse_change_of_line();

-- What a line is about, and why: the rule that matched it, or the reason of a person. A match that was undone
-- stays.
create table settlement_matches (
  id bigint generated always as identity primary key,
  line_id bigint not null references settlement_lines (id),
  target_kind text not null check (target_kind in
    ('payment', 'refund', 'dispute', 'payout', 'settlement', 'adjustment', 'excluded')),
  -- The id of the resource, or the number of the settlement.
  target_id text,
  rule text not null check (rule in ('id', 'payment', 'order', 'reference', 'amount_and_date', 'by_hand')),
  reason text not null,
  -- A difference that is written off with the match: what it adds to psp.clearing.
  written_off_minor bigint not null default 0,
  matched_by text,
  matched_at timestamptz not null default statement_timestamp(),
  undone_by text,
  undone_reason text,
  undone_at timestamptz,
  check ((target_id is null) = (target_kind in ('adjustment', 'excluded'))),
  check ((rule = 'by_hand') = (matched_by is not null)),
  check ((undone_at is null) = (undone_by is null) and (undone_at is null) = (undone_reason is null))
);
create unique index settlement_matches_line on settlement_matches (line_id) where undone_at is null;
create index settlement_matches_target on settlement_matches (target_kind, target_id)
  where undone_at is null;
create index settlement_matches_undone on settlement_matches (line_id) where undone_at is not null;
create trigger settlement_matches_kept before delete or truncate on settlement_matches
  for each statement execute function refuse_change();

-- A time can come from a line of a file, which states a day.
alter table transfers drop constraint transfers_effective;
alter table transfers add constraint transfers_effective check (
  effective_at is not null and isfinite(effective_at)
  and effective_source in ('v', 'p', 'c', 'o', 's') and effective_source is not null) not valid;

-- A leg begins with a row that it is of: a resource, or a line.
create or replace function check_transfers() returns trigger language plpgsql as $$
declare bad record;
begin
  select f.kind, f.resource_id, f.leg, f.leg_seq into bad
    from (select n.kind, n.resource_id, n.leg, n.leg_seq
            from inserted n
           where n.leg_seq = 1 and n.kind not in ('settlement_line', 'bank_line')
             and not exists (select from resources r where r.kind = n.kind and r.id = n.resource_id)
          union all
          select n.kind, n.resource_id, n.leg, n.leg_seq
            from inserted n
           where n.leg_seq = 1 and n.kind in ('settlement_line', 'bank_line')
             and not exists (
               select from settlement_lines l
                where l.kind = n.kind
                  and l.id = case when n.kind in ('settlement_line', 'bank_line')
                                  then n.resource_id::bigint end)) f
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

-- verify proves lines by their numbers.
alter table verify_ranges drop constraint verify_ranges_phase_check;
alter table verify_ranges add constraint verify_ranges_phase_check
  check (phase in ('inbox', 'resources', 'orders', 'changes', 'sums', 'closings', 'blocks', 'lines'));
alter table verify_position add column line_id bigint not null default 0;
alter table verify_rounds add column line_id bigint not null default 0;
