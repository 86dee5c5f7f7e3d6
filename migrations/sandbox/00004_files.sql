-- Files uploaded for evidence. A new table: no lock on anything in use.
create table sandbox.files (
  file_id text primary key,
  dispute_id text not null,
  name text not null,
  content_type text not null,
  content bytea not null,
  created_at timestamptz(3) not null
);
