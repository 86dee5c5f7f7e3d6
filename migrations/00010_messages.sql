-- What goes out to people and to the shop. New tables only: no lock on anything that is in use.

-- One message to one channel. Its id goes out with every attempt, so that a receiver can tell one
-- that comes twice.
create table messages (
  id text primary key check (id ~ '^msg_[A-Za-z0-9_.-]{1,100}$'),
  number bigint generated always as identity unique,
  channel text not null check (channel in ('log', 'webhook', 'slack', 'mail', 'shop')),
  kind text not null check (kind in ('alert', 'alerts', 'summary', 'order')),
  -- What it says, before any channel's form is put on it.
  content jsonb not null,
  -- Messages of one stream go out one after the other, in the order of their numbers.
  stream text,
  state text not null default 'due' check (state in ('due', 'delivered', 'given_up')),
  -- Counted when an attempt begins, so that one that kills the process is counted too.
  attempts integer not null default 0,
  -- While an attempt runs: when somebody else may take it for dead.
  next_attempt_at timestamptz not null,
  created_at timestamptz not null,
  settled_at timestamptz,
  last_error text,
  check ((state = 'due') = (settled_at is null))
);
create index messages_due on messages (channel, next_attempt_at, number) where state = 'due';
create index messages_stream on messages (stream, number) where state = 'due' and stream is not null;
-- How many single alerts a channel was given lately.
create index messages_paced on messages (channel, created_at) where kind = 'alert';
create index messages_settled on messages (settled_at) where state <> 'due';

-- How each channel fares. A channel that nothing went wrong with has no row.
create table channel_health (
  channel text primary key,
  failures integer not null,
  failing_since timestamptz not null,
  -- Until then nothing is tried; null where single messages are refused and the channel answers.
  retry_at timestamptz,
  last_error text not null
);

-- When alerts may be turned into messages next. Whoever does it holds the row.
create table alert_pace (
  is_only boolean primary key default true check (is_only),
  next_take_at timestamptz not null default '-infinity'
);
insert into alert_pace default values;

-- How far the change feed was turned into notices to the shop. No row: never yet.
create table order_notice_position (
  is_only boolean primary key default true check (is_only),
  change_number bigint not null
);

-- The money of each order as the shop was told last, to tell a change of amounts from mere details.
create table order_notices (
  order_key text primary key,
  change_number bigint not null,
  money text not null
);

do $$
begin
  if exists (select from pg_roles where rolname = 'tallyhook_app') then
    grant select, insert, update, delete on messages, channel_health to tallyhook_app;
    grant select, update on alert_pace to tallyhook_app;
    grant select, insert, update on order_notice_position, order_notices to tallyhook_app;
  end if;
end $$;
