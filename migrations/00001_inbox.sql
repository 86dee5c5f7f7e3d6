-- The inbox: every verified body, as received, before anything is done with it.
-- New tables only: no lock on anything that is in use.

-- One row for each event, or for each distinct body that names none. Never updated.
create table webhook_events (
  id bigint generated always as identity primary key,
  event_id text check (char_length(event_id) between 1 and 255),
  merchant_id text,
  event_type text,
  body bytea not null,
  body_sha256 bytea not null check (octet_length(body_sha256) = 32),
  received_at timestamptz not null
);
create unique index webhook_events_event_id on webhook_events (event_id);
-- A body without a usable envelope is known by its bytes alone.
create unique index webhook_events_unnamed on webhook_events (body_sha256) where event_id is null;

-- Other bodies that came under an event id already taken. Kept, never applied.
create table event_variants (
  webhook_event_id bigint not null references webhook_events (id),
  body bytea not null,
  body_sha256 bytea not null check (octet_length(body_sha256) = 32),
  received_at timestamptz not null,
  primary key (webhook_event_id, body_sha256)
);

-- What is still to be applied. Written with the inbox row, deleted by the transaction that applies
-- it: a row here is the promise that nothing acknowledged is lost, whatever happens to the queue.
-- No foreign key to the inbox: a check for each row on the busiest path, and rows come only from it.
create table pending (
  webhook_event_id bigint primary key,
  attempts integer not null default 0 check (attempts >= 0),
  since timestamptz not null default now(),
  -- When the sweep announces it again, if it still stands here then.
  announce_at timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index pending_announce_at on pending (announce_at);

-- Events that could not be applied in the allowed number of attempts.
create table dead_events (
  webhook_event_id bigint primary key references webhook_events (id),
  attempts integer not null,
  error text not null,
  died_at timestamptz not null default now()
);

-- Which account and service this database belongs to: one row, stamped at first use.
create table installation (
  singleton boolean primary key default true check (singleton),
  merchant_id text not null,
  stamped_at timestamptz not null default now()
);
