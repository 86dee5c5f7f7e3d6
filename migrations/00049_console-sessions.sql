-- Sessions of the console's pages. A sign-in link is a row that has not started: its digest is that of the
-- link's code, and becomes that of the cookie when the link is used. Only digests are stored.
create table console_sessions (
  id bigint generated always as identity primary key,
  digest bytea not null unique check (octet_length(digest) = 32),
  -- The token that the session acts for: a revoked token ends its sessions.
  token_digest bytea not null check (octet_length(token_digest) = 32),
  holder text not null,
  origin text,
  user_agent text,
  created_at timestamptz not null default statement_timestamp(),
  started_at timestamptz,
  last_seen_at timestamptz,
  expires_at timestamptz not null,
  ended_at timestamptz
);

create index console_sessions_open on console_sessions (expires_at) where ended_at is null;
