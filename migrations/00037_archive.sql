-- The archive: what retention removed after it was written to files. New tables only.

-- Batches of which rows were removed. The row is written by the transaction that removes them, so that
-- the archive can be compared with it.
create table archived_batches (
  -- Of the manifest, within the archive.
  name text primary key,
  class text not null,
  rows bigint not null check (rows > 0),
  removed bigint not null check (removed between 0 and rows),
  files integer not null check (files > 0),
  bytes bigint not null check (bytes > 0),
  manifest_sha256 bytea not null check (octet_length(manifest_sha256) = 32),
  removed_at timestamptz not null default statement_timestamp()
);
create index archived_batches_class on archived_batches (class, removed_at);

-- Rows that an operator read back from the archive, for queries. Nothing else reads them.
create table imported_rows (
  class text not null,
  key bigint not null,
  row jsonb not null,
  imported_at timestamptz not null default statement_timestamp(),
  primary key (class, key)
);

-- When a body was imported from the archive; null for one that was kept when its day was removed. An
-- imported body is removed again after some days.
alter table kept_bodies add column imported_at timestamptz;
