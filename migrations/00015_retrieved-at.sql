-- When the service was last asked about a resource and answered: the instant at which that request was
-- sent. An excess of an order alerts only when every part of it was retrieved after the excess showed.
-- The column is null for every row and touches none. The rights on the table cover it.
alter table resources add column retrieved_at timestamptz;
