-- A policy may try again when the service was away: each attempt is a row of its own, claimed in a
-- commit before its request is sent. The column has a constant default, so that no row is rewritten;
-- what was tried before counts as the first attempt. Of thresholds it means nothing.
alter table authorization_notices
  add column attempt integer not null default 1 check (attempt > 0);

-- Thresholds stay once for each deadline. Attempts are told apart by their number, whatever becomes of
-- the deadline: two processes cannot claim the same one.
alter table authorization_notices
  drop constraint authorization_notices_payment_id_deadline_at_kind_threshold_key;
create unique index authorization_notices_threshold
  on authorization_notices (payment_id, deadline_at, threshold_hours) where kind = 'threshold';
drop index authorization_notices_policy;
create unique index authorization_notices_policy
  on authorization_notices (payment_id, attempt) where kind = 'policy';
