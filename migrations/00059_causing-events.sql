-- Which event changed what. Findings and alerts name the event that opened and the one that ended them, by its
-- inbox number; null: a read from the service, a schedule or a person did, or an earlier version wrote the
-- row. Columns without a default: no row is read, and the locks last for a moment.
alter table findings
  add column opened_by_event bigint,
  add column closed_by_event bigint;
alter table alerts
  add column opened_by_event bigint,
  add column resolved_by_event bigint;
create index findings_opened_by on findings (opened_by_event) where opened_by_event is not null;
create index findings_closed_by on findings (closed_by_event) where closed_by_event is not null;
create index alerts_opened_by on alerts (opened_by_event) where opened_by_event is not null;
create index alerts_resolved_by on alerts (resolved_by_event) where resolved_by_event is not null;

-- What an event brought. Entries are appended in the order of the inbox. The indexes read their tables once,
-- and writes to these wait for it (about a second for a million rows); events wait in the inbox.
create index snapshots_event on snapshots (webhook_event_id) where webhook_event_id is not null;
create index changes_event on changes (webhook_event_id) where webhook_event_id is not null;

-- The order webhooks of a change.
create index messages_change on messages ((content #>> '{data,change,number}')) where kind = 'order';
