-- One word for one thing: an HTTP request that carries an event is a delivery. Renames change the
-- catalog only; the lock is held for an instant.
alter table sandbox.sendings rename to deliveries;
alter index sandbox.sendings_due rename to deliveries_due;
alter index sandbox.sendings_by_event rename to deliveries_by_event;
