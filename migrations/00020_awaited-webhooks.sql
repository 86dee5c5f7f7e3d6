-- Changes that reconciliation brought before their webhook had its time, so that those whose webhook
-- never comes are still counted as missed. One new column that is empty, and a new table: no row is
-- changed.

-- When a webhook last told of the resource.
alter table resources add column told_at timestamptz;

create table awaited_webhooks (
  kind text not null,
  resource_id text not null,
  stream text not null check (stream in ('payments', 'refunds', 'disputes', 'payouts')),
  -- When the service made the change, by its clock.
  changed_at timestamptz not null,
  -- When it was brought here.
  healed_at timestamptz not null default statement_timestamp(),
  primary key (kind, resource_id)
);
create index awaited_webhooks_stream on awaited_webhooks (stream, healed_at);

do $$
begin
  if exists (select from pg_roles where rolname = 'tallyhook_app') then
    grant select, insert, update, delete on awaited_webhooks to tallyhook_app;
  end if;
end $$;
