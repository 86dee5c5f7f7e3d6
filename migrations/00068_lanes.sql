-- Events of one payment share a lane, and one transaction at a time applies events of a lane.
-- docs/decisions/0164-lanes.md. The value of rows that exist, and of those that an earlier version inserts, is
-- kept in the catalog, so the table is not rewritten.
alter table pending add column lane smallint not null default 0;
