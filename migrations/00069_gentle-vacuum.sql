-- What retention removed is vacuumed at a tenth of the speed of the default (docs/decisions/0170-gentle-vacuum.md):
-- replies waited while PostgreSQL cleaned a day of messages within half a minute. Rows are found by number
-- or by an index of what is due, so nothing becomes slower while dead rows are left.
alter table messages set (autovacuum_vacuum_cost_delay = 20);
alter table changes set (autovacuum_vacuum_cost_delay = 20);
