-- The sandbox's own schema: the payment service's books, not ours. Nothing outside src/sandbox
-- reads it, and it reads nothing outside but the ledger's stamp (docs/decisions/0010-sandbox.md).
-- New tables only: no lock on anything that is in use.

-- One row: what must outlive a restart. The clock must not run backwards, so its advance is kept.
create table sandbox.account (
  singleton boolean primary key default true check (singleton),
  clock_advance_ms bigint not null default 0 check (clock_advance_ms >= 0)
);
insert into sandbox.account default values;

create table sandbox.api_keys (
  key_sha256 bytea primary key check (octet_length(key_sha256) = 32),
  kind text not null check (kind in ('secret', 'publishable', 'admin')),
  revoked_at timestamptz(3)
);

-- Payments, refunds, disputes and payouts. `state` is the whole resource; the columns beside it
-- repeat what is searched by. Times have milliseconds, as on the wire: a filter must select what the
-- caller can see.
create table sandbox.resources (
  kind text not null check (kind in ('payment', 'refund', 'dispute', 'payout')),
  id text not null,
  -- The payment of a refund or dispute.
  parent_id text,
  status text not null,
  currency text not null,
  customer_id text,
  created_at timestamptz(3) not null,
  modified_at timestamptz(3) not null,
  -- When something happens by itself: an authorization expires, a refund settles.
  due_at timestamptz(3),
  state jsonb not null,
  primary key (kind, id)
);
create index resources_newest on sandbox.resources (kind, created_at desc, id desc);
create index resources_by_status on sandbox.resources (kind, status, created_at desc, id desc);
-- Totals by status and currency are what reconciliation asks for most: they come from the index alone.
create index resources_by_status_currency
  on sandbox.resources (kind, status, currency, created_at desc, id desc);
create index resources_by_currency on sandbox.resources (kind, currency, created_at desc, id desc);
create index resources_by_customer on sandbox.resources (kind, customer_id, created_at desc, id desc)
  where customer_id is not null;
create index resources_by_parent on sandbox.resources (parent_id, kind) where parent_id is not null;
create index resources_due on sandbox.resources (due_at) where due_at is not null;

-- What a resource was before a change, kept while a lagging replica is asked for.
create table sandbox.past_resources (
  kind text not null,
  id text not null,
  parent_id text,
  status text not null,
  currency text not null,
  customer_id text,
  created_at timestamptz(3) not null,
  modified_at timestamptz(3) not null,
  state jsonb not null,
  valid_until timestamptz(3) not null
);
create index past_resources_until on sandbox.past_resources (kind, valid_until);

-- One row for each webhook event. Body and signature are made once; every sending repeats them.
create table sandbox.events (
  seq bigint generated always as identity primary key,
  event_id text not null unique,
  kind text not null,
  object_id text not null,
  event_type text not null,
  -- Object and type: the service sends one event for each, ever.
  once_key text not null unique,
  body text not null,
  signature text not null,
  created_at timestamptz(3) not null
);
create index events_by_object on sandbox.events (object_id, seq);

-- One row for each HTTP request that was made or is still to be made.
create table sandbox.sendings (
  id bigint generated always as identity primary key,
  event_seq bigint not null references sandbox.events (seq),
  reason text not null,
  -- Of the retry schedule: 0 is the first try. Null for sendings outside of it.
  attempt integer,
  -- Sent instead of the event's own.
  other_body text,
  other_signature text,
  due_at timestamptz(3) not null,
  sent_at timestamptz(3),
  http_status integer,
  error text
);
create index sendings_due on sandbox.sendings (due_at, id) where sent_at is null;
create index sendings_by_event on sandbox.sendings (event_seq, id);
