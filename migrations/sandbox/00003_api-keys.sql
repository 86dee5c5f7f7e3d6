-- API keys as a resource. Keys of the settings and of control routes have no key_id: they are none
-- of the account's own and stay out of its list. Small table; the lock is held for an instant.
alter table sandbox.api_keys
  add column key_id text unique,
  add column name text,
  add column description text,
  add column prefix text,
  add column created_at timestamptz(3),
  -- Null: never.
  add column expires_at timestamptz(3);
