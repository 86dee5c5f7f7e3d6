-- When the service moved money, beside when Tallyhook posted it. docs/decisions/0102-effective-times.md
--
-- Columns without a default, and checks that are not validated: no row is read or rewritten. The two
-- indexes read the table once, and writes to transfers wait for it (about a second for a million rows);
-- events wait in the inbox. Existing transfers get their times from the schedule `effective_times`.

alter table transfers
  add column effective_at timestamptz,
  -- Where the time comes from: v(ersion), p(revious), c(reated) or o(bserved).
  add column effective_source "char",
  add constraint transfers_effective check (
    effective_at is not null and isfinite(effective_at) and effective_source in ('v', 'p', 'c', 'o')
    and effective_source is not null) not valid;

-- Sums of a period, from the index alone.
create index transfers_effective on transfers (currency, leg, effective_at)
  include (previous_minor, cumulative_minor) where effective_at is not null;

-- Transfers of an earlier version. Empty once they have their times.
create index transfers_undated on transfers (kind, resource_id) where effective_at is null;

-- Gives transfers without an effective time theirs. Nothing else of a transfer can change, and no time
-- that is set.
create function date_transfers(numbers bigint[], times timestamptz[], sources text[]) returns integer
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  changed integer;
begin
  perform set_config('tallyhook.may_change', 'transfers:update', true);
  update transfers t
     set effective_at = w.effective_at, effective_source = w.source::"char"
    from unnest(numbers, times, sources) as w (id, effective_at, source)
   where t.id = w.id and t.effective_at is null;
  get diagnostics changed = row_count;
  perform set_config('tallyhook.may_change', '', true);
  return changed;
end $$;
revoke execute on function date_transfers(bigint[], timestamptz[], text[]) from public;
