-- What `find` needs to reach a payout by the reference that the shop gave it: the only name by which
-- it asks that no index led to yet.
-- Payouts are few beside payments, and only they are indexed. While it is built, writes to resources
-- wait for one scan of that table (about a second for a million rows). The receiver does not write
-- there and goes on; events that arrive meanwhile are applied afterwards.

create index resources_payout_reference on resources (reference)
  where kind = 'payout' and reference is not null;
