-- Customers. `state` is the whole customer; a deleted one keeps its row without what it said, so that
-- its id is not given out again while payments name it. A new table: no lock on anything in use.
create table sandbox.customers (
  customer_id text primary key,
  created_at timestamptz(3) not null,
  deleted_at timestamptz(3),
  state jsonb not null
);
create index customers_newest on sandbox.customers (created_at desc, customer_id desc)
  where deleted_at is null;
