-- The journal in the order of its effective times, all of it and by leg, as transfers_pkey and transfers_leg have
-- it in the order of its numbers. docs/decisions/0162-either-time.md. Entries are nearly appended: a late
-- transfer is inserted among those of its time. Writes to transfers wait for two scans of the table (about two
-- seconds for a million rows), and events wait in the inbox.
create index transfers_effective_order on transfers (effective_at, id);
-- With a collation of its own, so that the planner cannot read a whole leg from transfers_leg and sort it.
create index transfers_leg_effective on transfers (leg collate "C", effective_at, id)
  where leg <> 'captured';
