-- Lists of resources and orders by filters. Most rows have a time of creation and nothing open, so that
-- these indexes hold few rows, and changes of all others do not touch them. Writes to resources and
-- orders wait for a scan of each table (about a second for a million rows), and events wait in the inbox.

-- Resources for which the service has sent no time of creation.
create index resources_undated on resources (kind, first_seen_at) where created_at is null;

-- Resources with an open finding, or uncertain ones.
create index resources_flagged on resources (kind, created_at)
  where open_findings <> '{}' or uncertainties <> '{}';

create index orders_flagged on orders (first_seen_at) where open_findings <> '{}';
