-- The receiver: adds webhooks to the inbox and to the queue. It reads of the inbox only what tells
-- duplicates apart and how long events wait, and nothing of the ledger.

-- The inbox.
grant select, insert on webhook_events to tallyhook_receiver;
grant insert on webhook_bodies to tallyhook_receiver;
grant execute on function ensure_body_days(integer) to tallyhook_receiver;
grant select, insert on event_variants to tallyhook_receiver;
grant select, insert on pending to tallyhook_receiver;
-- Locks the row of an event that gets another body; the time stays the same.
grant update (enqueue_at) on pending to tallyhook_receiver;
grant select, insert, update on watch_counts to tallyhook_receiver;
grant insert on failover_losses to tallyhook_receiver;

-- What every process does at its start and reports while it runs.
grant usage on schema public to tallyhook_receiver;
grant select on migrations to tallyhook_receiver;
grant select, insert on installation to tallyhook_receiver;
grant select on schema_requirements to tallyhook_receiver;
grant select, insert, update, delete on clock_reports, queue_reports, processes to tallyhook_receiver;
grant insert on audit to tallyhook_receiver;
grant select (id) on audit to tallyhook_receiver;

-- The queue in PostgreSQL. Its functions run with the rights of their caller.
grant usage on schema bullmq to tallyhook_receiver;
grant select, insert, update, delete on all tables in schema bullmq to tallyhook_receiver;
grant usage on all sequences in schema bullmq to tallyhook_receiver;
