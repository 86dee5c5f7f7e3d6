-- The admin port: it reads. Its actions write the ledger, and need a login role that is a member of
-- tallyhook_app, too.

grant select on body_days, body_copy, detached_partitions to tallyhook_console;
grant select on webhook_events, pending, dead_events, event_replays to tallyhook_console;
-- A replay is refused if the body no longer exists.
grant select on webhook_bodies, packed_bodies, kept_bodies, body_days, erased_bodies to tallyhook_console;
-- The plan of an erasure reads every body, and the list of requests counts what each has erased.
grant select on replay_runs, replay_steps to tallyhook_console;
grant select on erasures, event_variants to tallyhook_console;
grant select on snapshots, resources, resource_epochs, orders, order_totals, findings to tallyhook_console;
grant select on accounts, transfers, change_log, changes, feed_epochs, order_expectations to tallyhook_console;
grant select on period_closings, closing_days, closing_balances, closing_seals to tallyhook_console;
grant select on settlements, settlement_lines, settlement_matches to tallyhook_console;
grant select on transfer_sums, transfer_day_sums, open_spans, transfer_sums_state to tallyhook_console;
grant select on chain_blocks to tallyhook_console;
grant select on reconcile_runs, reconcile_pauses, reconcile_streams, rate_budget, awaited_webhooks to tallyhook_console;
grant select on authorization_watch, authorization_log, schedule_slots to tallyhook_console;
grant select on schedule_requests to tallyhook_console;
grant select on verify_rounds, verify_ranges, verify_position to tallyhook_console;
grant select on retention_state, archived_batches to tallyhook_console;
-- The overview shows whether deliveries are rejected.
grant select on watch_counts to tallyhook_console;
grant select on alerts, alert_outbox, alert_deadlines, messages, channel_health to tallyhook_console;

-- Tokens of the admin API: the console checks them, and records when one was last used.
grant select on tokens to tallyhook_console;
grant update (last_used_at) on tokens to tallyhook_console;
grant select, insert, update on console_sessions to tallyhook_console;

-- What every process does at its start and reports while it runs.
grant usage on schema public to tallyhook_console;
grant select on migrations to tallyhook_console;
grant select, insert on installation to tallyhook_console;
grant select on schema_requirements to tallyhook_console;
grant select, insert, update, delete on clock_reports, queue_reports, processes to tallyhook_console;
grant select, insert on audit to tallyhook_console;

-- The queue in PostgreSQL, for its metrics. Its functions run with the rights of their caller.
grant usage on schema bullmq to tallyhook_console;
grant select, insert, update, delete on all tables in schema bullmq to tallyhook_console;
grant usage on all sequences in schema bullmq to tallyhook_console;
