-- Payment links. `state` is the whole link. A new table: no lock on anything in use.
create table sandbox.payment_links (
  payment_link_id text primary key,
  created_at timestamptz(3) not null,
  state jsonb not null
);
create index payment_links_newest on sandbox.payment_links (created_at desc, payment_link_id desc);
