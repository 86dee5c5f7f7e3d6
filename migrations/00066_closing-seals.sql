-- Seals of closings: who closed a month, its sums and its last transfer under one signed digest.
-- docs/decisions/0124-sealed-closings.md. A new table only: no lock on anything that events wait for. The
-- schedule `chain` seals existing closings.

create table closing_seals (
  closing_id bigint primary key references period_closings (id),
  -- A block of the chain that has its last transfer. Its key signed the seal.
  block_number bigint not null,
  block_digest bytea not null check (octet_length(block_digest) = 32),
  digest bytea not null check (octet_length(digest) = 32),
  -- Ed25519. Null if the block is not signed.
  signature bytea check (octet_length(signature) = 64),
  sealed_at timestamptz not null default statement_timestamp()
);
create trigger closing_seals_append_only before update or delete or truncate on closing_seals
  for each statement execute function refuse_change();
