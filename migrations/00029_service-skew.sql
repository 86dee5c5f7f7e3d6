-- The service's clock less the database's, in milliseconds, when the last run of a list was opened.
-- A run that meets another difference knows that the service's clock was set in between.
alter table reconcile_streams add column service_skew_ms bigint;
