-- Who runs a slot, so that only they renew its lease and end it. No row is rewritten; the table has one
-- row for each schedule.
alter table schedule_slots add column holder text;
