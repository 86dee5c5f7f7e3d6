-- The object ids of the database and of feed_epochs. A dump that is restored into a server that goes on has the
-- server's timeline, identifier and start, and other object ids.
create function database_objects() returns text
language sql stable
as $$
  select concat((select oid from pg_database where datname = current_database()), '.', 'feed_epochs'::regclass::oid)
$$;

-- Where the epoch began. Null until the next publisher has added them.
alter table feed_epochs add column objects text;
