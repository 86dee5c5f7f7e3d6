-- The workers, the scheduler, the command line and the actions of the admin API: they write the
-- ledger, and add nothing to the inbox.

-- The inbox.
grant select on webhook_events, event_variants to tallyhook_app;
grant update (body, body_day, body_bytes) on webhook_events to tallyhook_app;
grant update (body) on event_variants to tallyhook_app;
grant select, insert, delete on webhook_bodies to tallyhook_app;
grant select, insert, update, delete on packed_bodies to tallyhook_app;
grant select, insert, delete on kept_bodies to tallyhook_app;
grant select, update on body_days, body_copy to tallyhook_app;
grant select on detached_partitions, events_in_need to tallyhook_app;
grant execute on function ensure_body_day(date) to tallyhook_app;
grant execute on function ensure_packed_day(date) to tallyhook_app;
grant execute on function detach_body_day(date) to tallyhook_app;
grant execute on function drop_detached_partition(text, boolean) to tallyhook_app;
grant execute on function ensure_body_days(integer) to tallyhook_app;
grant select, insert, update, delete on pending, dead_events to tallyhook_app;
grant select, insert, update on event_replays to tallyhook_app;

-- The ledger. Snapshots, epochs, transfers and changes are append-only.
grant select, insert on snapshots, resource_epochs, transfers, changes, feed_epochs to tallyhook_app;
grant update (objects) on feed_epochs to tallyhook_app;
grant select, insert, update on resources, orders to tallyhook_app;
grant select, insert, update, delete on findings to tallyhook_app;
grant select, insert, update, delete on order_totals to tallyhook_app;
grant select, insert, delete on change_log to tallyhook_app;
grant select, insert on order_expectations to tallyhook_app;
grant update (replaced_at, is_awaited) on order_expectations to tallyhook_app;
grant select on accounts to tallyhook_app;
-- The trigger of transfers reads it.
grant select on legs to tallyhook_app;

grant execute on function date_transfers(bigint[], timestamp with time zone[], text[]) to tallyhook_app;

-- Settlement reports and bank statements. Lines are append-only, except for their text.
grant select, insert on settlement_files, settlements, settlement_lines, settlement_matches to tallyhook_app;
grant update (lines, new_lines, ignored, name) on settlement_files to tallyhook_app;
grant update (text) on settlement_lines to tallyhook_app;
grant update (reason, matched_by, undone_by, undone_reason, undone_at) on settlement_matches to tallyhook_app;

-- Sums of the journal.
grant select, insert, update, delete on transfer_sums, transfer_day_sums to tallyhook_app;
grant select, insert, delete on open_spans to tallyhook_app;
grant select, update on transfer_sums_state to tallyhook_app;

-- Closings of months.
grant select, insert on period_closings, closing_days, closing_balances, closing_seals to tallyhook_app;
grant update (reopened_at, reopened_by, reopened_reason) on period_closings to tallyhook_app;
grant execute on function last_transfer_number() to tallyhook_app;

-- The chain. Its blocks are appended by a function of their owner, and never changed.
grant select on chain_blocks to tallyhook_app;
grant execute on function append_chain_block(bigint, integer, bytea, bigint, bigint, integer, bigint, bytea, text, timestamp with time zone, bytea, bytea, bytea) to tallyhook_app;

-- What verify has proven.
grant select, insert, update, delete on verify_rounds, verify_ranges to tallyhook_app;
grant select, insert, update on verify_position to tallyhook_app;

-- Erasure of personal data.
grant select, insert, update on erasures to tallyhook_app;
grant select, insert, update on replay_runs, replay_steps to tallyhook_app;
grant select, insert on erased_bodies to tallyhook_app;
grant execute on function redact_snapshots(jsonb) to tallyhook_app;
grant execute on function redact_audit(bigint, text, jsonb) to tallyhook_app;

-- Reconciliation, authorizations and schedules.
grant select, insert, update, delete on reconcile_runs to tallyhook_app;
grant select, insert, update on reconcile_pauses to tallyhook_app;
grant select, update on reconcile_streams, rate_budget to tallyhook_app;
grant select, insert, update, delete on awaited_webhooks to tallyhook_app;
grant select, insert, update, delete on authorization_watch to tallyhook_app;
grant select, insert, update on authorization_log to tallyhook_app;
grant select, insert, update on schedule_slots to tallyhook_app;
grant select, insert, delete on schedule_requests to tallyhook_app;

-- Sessions of the console's pages.
grant select, insert, update, delete on console_sessions to tallyhook_app;

-- Alerts, messages and the watch of the system.
grant select, insert, update, delete on alerts to tallyhook_app;
grant select, insert, delete on alert_outbox to tallyhook_app;
grant select, insert, update, delete on alert_deadlines to tallyhook_app;
grant select, update on dispatch_state to tallyhook_app;
grant select, insert, update, delete on messages, channel_health to tallyhook_app;
grant select, insert, update on order_webhook_position, order_webhook_totals to tallyhook_app;
grant select, insert, update, delete on watch_counts to tallyhook_app;
grant select, update on failover_losses to tallyhook_app;

-- The archive.
grant select, insert, update on archived_batches to tallyhook_app;
grant select, insert, update, delete on imported_rows to tallyhook_app;

-- Retention. Rows of the inbox and of the change feed are removed by functions of their owner.
grant select, insert, update on retention_state to tallyhook_app;
grant select on removed_events to tallyhook_app;
grant execute on function remove_events(bigint[]) to tallyhook_app;
grant execute on function detach_packed_day(date) to tallyhook_app;
grant execute on function remove_changes(bigint) to tallyhook_app;

-- Tokens of the admin API, which commands create and revoke.
grant select, insert, update on tokens to tallyhook_app;

-- What every process does at its start and reports while it runs.
grant usage on schema public to tallyhook_app;
grant select on migrations to tallyhook_app;
grant select, insert on installation to tallyhook_app;
grant select on schema_requirements to tallyhook_app;
grant select, insert, update, delete on clock_reports, queue_reports, processes to tallyhook_app;
grant select, insert on audit to tallyhook_app;

-- The queue in PostgreSQL. Its functions run with the rights of their caller.
grant usage on schema bullmq to tallyhook_app;
grant select, insert, update, delete on all tables in schema bullmq to tallyhook_app;
grant usage on all sequences in schema bullmq to tallyhook_app;
