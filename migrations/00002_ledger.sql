-- The ledger: snapshots (what was seen), resources (what that makes), orders (what that adds up to).
-- New tables only: no lock on anything that is in use.
-- No foreign keys between resources: a refund may be heard of before its payment.

-- Every distinct content of a resource, normalised and without personal data. Append-only.
create table snapshots (
  kind text not null check (kind in ('payment', 'refund', 'dispute', 'payout')),
  resource_id text not null,
  epoch integer not null check (epoch >= 0),
  content_hash bytea not null check (octet_length(content_hash) = 32),
  -- `json`, not `jsonb`: it is only ever read whole, and costs half as much to write.
  content json not null,
  source text not null check (source in ('webhook', 'retrieve', 'list')),
  -- The envelope's time, or the time of the service's answer; microseconds since 1970.
  observed_micros bigint not null,
  -- The inbox row that brought it, if one did.
  webhook_event_id bigint,
  recorded_at timestamptz not null default now(),
  primary key (kind, resource_id, epoch, content_hash)
);

-- The merged state of each resource, and the row that is locked while it changes. A resource that
-- was only mentioned (the payment of a refund) is a stub: it has no head.
create table resources (
  kind text not null check (kind in ('payment', 'refund', 'dispute', 'payout')),
  id text not null,
  -- Refunds and disputes: their payment.
  payment_id text,
  -- Null for payouts, which belong to no order's money.
  order_key text,
  status text,
  stage text,
  currency text check (currency ~ '^[A-Z]{3}$'),
  amount_minor bigint check (amount_minor >= 0),
  authorized_minor bigint not null default 0 check (authorized_minor >= 0),
  captured_minor bigint not null default 0 check (captured_minor >= 0),
  capture_method text,
  reference text,
  unified_code text,
  unified_message text,
  error_code text,
  -- The service's own times.
  created_at timestamptz,
  deadline_at timestamptz,
  -- The merge: head, its key's first fields, and what the state still lacks.
  epoch integer not null default 0,
  version_micros bigint,
  head_hash bytea,
  posts boolean not null default false,
  doubts text[] not null default '{}',
  -- A retrieve that disagreed, waiting for a second one: {terms, observedMicros}.
  contradiction jsonb,
  -- Classes of the findings that are open about this row, so that closing them needs no search.
  open_findings text[] not null default '{}',
  next_check_at timestamptz,
  first_seen_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (kind, id)
) with (fillfactor = 70);
create index resources_order_key on resources (order_key) where order_key is not null;
create index resources_payment_id on resources (payment_id) where payment_id is not null;
create index resources_next_check_at on resources (next_check_at) where next_check_at is not null;

-- The service's recorded ways down; see src/ledger/domain/epochs.ts. Append-only.
create table resource_epochs (
  kind text not null,
  resource_id text not null,
  epoch integer not null check (epoch > 0),
  floor_micros bigint not null,
  opened_at timestamptz not null default now(),
  primary key (kind, resource_id, epoch)
);

-- An order: its identity, the row that is locked while its parts change, and its overall status.
create table orders (
  order_key text primary key check (order_key ~ '^(order|payment):.'),
  order_id text not null,
  status text not null default 'pending',
  -- Keys of the orders that its payments were moved to, once none is left here.
  moved_to text[] not null default '{}',
  first_seen_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
) with (fillfactor = 70);
-- The only index beside the key: each one costs every change of status another entry. The newest of
-- all are the newest of each status, and an order id is one of two keys.
create index orders_status on orders (status, first_seen_at desc);

-- Money of an order, per currency, in minor units.
create table order_totals (
  order_key text not null references orders (order_key),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  status text not null,
  authorized_minor bigint not null,
  captured_minor bigint not null,
  refunded_minor bigint not null,
  refund_pending_minor bigint not null,
  disputed_minor bigint not null,
  charged_back_minor bigint not null,
  primary key (order_key, currency)
) with (fillfactor = 70);

-- Differences between ledger and service, or inside either.
create table findings (
  id bigint generated always as identity primary key,
  class text not null,
  -- What it is about: `payment:pay_1`, `event:12`, `order:order:ord_1`.
  subject text not null,
  state text not null default 'open' check (state in ('open', 'closed')),
  detail jsonb not null,
  opened_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  closed_at timestamptz,
  check ((state = 'closed') = (closed_at is not null))
);
-- One open finding for each difference.
create unique index findings_open on findings (class, subject) where state = 'open';
create index findings_subject on findings (subject);
