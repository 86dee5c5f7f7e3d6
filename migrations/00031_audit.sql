-- The audit log: who did what, on what, for which reason, from where, and with which result. One new
-- table; no row is changed.

create table audit (
  id bigint generated always as identity primary key,
  recorded_at timestamptz not null default statement_timestamp(),
  -- Who: the holder of a token, a person at a shell, or a process that starts or stops.
  actor_kind text not null check (actor_kind in ('token', 'cli', 'process')),
  actor_name text not null,
  actor_role text not null,
  -- From where: a client address, or a user and host.
  actor_origin text not null,
  action text not null,
  subject_kind text not null,
  subject_id text not null,
  -- The order that the subject belongs to, where it has one.
  order_key text,
  reason text,
  result text not null check (result in ('requested', 'done', 'failed', 'refused', 'unknown')),
  detail jsonb not null default '{}',
  -- The entry `requested` that this one ends. A request without such an entry has no known result.
  attempt bigint references audit (id),
  check (attempt is null or result <> 'requested')
);
-- A request has at most one result.
create unique index audit_attempt on audit (attempt) where attempt is not null;
create index audit_requested on audit (id) where result = 'requested';
create index audit_actor on audit (actor_name, id);
create index audit_action on audit (action, id);
create index audit_subject on audit (subject_kind, subject_id, id);
create index audit_order_key on audit (order_key, id) where order_key is not null;

create trigger audit_append_only before update or delete or truncate on audit
  for each statement execute function refuse_change();

do $$
begin
  if exists (select from pg_roles where rolname = 'tallyhook_app') then
    grant select, insert on audit to tallyhook_app;
  end if;
end $$;
