-- When the wait of a channel that is unavailable began. A wait that began in the future was stored before the
-- clock of the database was set back, and delays nothing. Null for waits of older versions: those count from
-- the beginning of the outage.
-- docs/decisions/0023-one-clock.md
alter table channel_health add column waiting_since timestamptz;
