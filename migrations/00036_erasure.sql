-- Erasure of personal data: who asked for what, and which bodies and texts are gone because of it, so that
-- `verify` can tell them from a loss. docs/guides/erasure.md
--
-- New tables, and a column without a default or a check: no row is read, and the lock lasts for a moment.

create table erasures (
  id bigint generated always as identity primary key,
  -- Such as `order:ord_1`. When it is done, a customer is named by the SHA-256 of the id only.
  subjects text[] not null check (cardinality(subjects) > 0),
  reason text not null,
  requested_by text not null,
  requested_at timestamptz not null default statement_timestamp(),
  state text not null default 'running' check (state in ('running', 'done')),
  -- When no copy outside of bodies was left. Bodies are erased after that: they show what to look for.
  copies_erased_at timestamptz,
  finished_at timestamptz,
  -- Snapshots and other rows in which text was replaced.
  texts integer not null default 0 check (texts >= 0),
  -- Places in which the last scan found values, for a person to decide about.
  remaining integer check (remaining >= 0),
  check ((state = 'done') = (finished_at is not null)),
  check (state <> 'done' or remaining is not null)
);
create index erasures_running on erasures (id) where state = 'running';

-- A body that is in no table is explained here if it was erased.
create table erased_bodies (
  webhook_event_id bigint primary key,
  erasure_id bigint not null references erasures (id),
  erased_at timestamptz not null default statement_timestamp()
);
create index erased_bodies_erasure on erased_bodies (erasure_id);

-- SHA-256 of the content after text was erased from it. `content_hash` stays: it is what a later
-- observation of the same content is compared with. Null: nothing was erased.
alter table snapshots add column redacted_hash bytea;

-- Append-only, but for what a function of the table's owner names for one transaction.
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  if current_setting('tallyhook.may_change', true) = tg_table_name || ':' || lower(tg_op)
     and pg_get_userbyid((select relowner from pg_class where oid = tg_relid)) = current_user then
    return null;
  end if;
  raise exception '% is append-only: % was refused', tg_table_name, lower(tg_op)
    using errcode = '55000', hint = 'Correct it by adding, never by changing.';
end $$;

-- Replaces the texts of snapshots. Nothing else of a content can change: neither status nor money, and
-- no text can be added or removed.
create function redact_snapshots(redacted jsonb) returns integer
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  texts constant text[] := array['unifiedCode', 'unifiedMessage', 'errorCode', 'errorMessage', 'reason',
                                 'reasonCode'];
  changed integer;
begin
  perform set_config('tallyhook.may_change', 'snapshots:update', true);
  update snapshots s
     set content = w.content::json, redacted_hash = decode(w.redacted_hash, 'hex')
    from jsonb_to_recordset(redacted)
           as w (kind text, id text, epoch integer, content_hash text, content text, redacted_hash text)
   where s.kind = w.kind and s.resource_id = w.id and s.epoch = w.epoch
     and s.content_hash = decode(w.content_hash, 'hex')
     and octet_length(w.redacted_hash) = 64
     and s.content::jsonb - texts = w.content::jsonb - texts
     and array(select jsonb_object_keys(s.content::jsonb)) = array(select jsonb_object_keys(w.content::jsonb));
  get diagnostics changed = row_count;
  perform set_config('tallyhook.may_change', '', true);
  if changed <> jsonb_array_length(redacted) then
    raise exception 'only texts of existing snapshots can be redacted' using errcode = '22023';
  end if;
  return changed;
end $$;
revoke execute on function redact_snapshots(jsonb) from public;

-- Replaces the free text of an entry of the audit log. Who did what, on what and when stays.
create function redact_audit(entry bigint, new_reason text, new_detail jsonb) returns integer
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  changed integer;
begin
  perform set_config('tallyhook.may_change', 'audit:update', true);
  update audit
     set reason = new_reason, detail = new_detail
   where id = entry and (reason is null) = (new_reason is null)
     and array(select jsonb_object_keys(detail)) = array(select jsonb_object_keys(new_detail));
  get diagnostics changed = row_count;
  perform set_config('tallyhook.may_change', '', true);
  return changed;
end $$;
revoke execute on function redact_audit(bigint, text, jsonb) from public;
