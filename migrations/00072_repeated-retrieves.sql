-- What an event that was not applied requires of a retrieve, until a response satisfies it: since when the ledger
-- may be behind, and the version of the object in the event. Null without such an event, or without a version.
-- docs/decisions/0051-when-to-check-again.md
alter table resources
  add column behind_since timestamptz,
  add column behind_micros bigint;
