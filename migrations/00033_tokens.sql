-- Tokens of the admin API and of the command line, each with the name and the role of its holder.
-- Tallyhook keeps a token's SHA-256 only. One new table; no row is changed.

create table tokens (
  id bigint generated always as identity primary key,
  -- Recorded with what the holder does.
  name text not null check (name ~ '^[a-z][a-z0-9._-]{0,63}$'),
  role text not null
    check (role in ('metrics', 'viewer', 'shop', 'operator', 'treasurer', 'admin')),
  digest bytea not null unique check (octet_length(digest) = 32),
  created_at timestamptz not null default statement_timestamp(),
  created_by text not null,
  -- Within a minute.
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  revoked_by text,
  check ((revoked_at is null) = (revoked_by is null))
);
create unique index tokens_unrevoked_name on tokens (name) where revoked_at is null;

do $$
begin
  if exists (select from pg_roles where rolname = 'tallyhook_app') then
    grant select, insert on tokens to tallyhook_app;
    grant update (last_used_at, revoked_at, revoked_by) on tokens to tallyhook_app;
  end if;
end $$;
