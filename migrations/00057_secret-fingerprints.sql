-- Which secret verified an event, so that an old one is removed only when nothing is signed with it. A column
-- without a default: no row is read, and the lock lasts for a moment. Null: received by an older version.
-- Four bytes beside `body_bytes`, in front of nothing that has to be aligned. docs/decisions/0103-secret-fingerprints.md
alter table webhook_events add column secret_fingerprint integer;
