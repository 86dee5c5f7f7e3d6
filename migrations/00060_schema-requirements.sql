-- Versions run side by side during an upgrade, so a migration only adds, until no version that still runs uses
-- what it removes. One that removes or changes something raises the number here, and older versions refuse to
-- start. A new table only: no lock on anything that is in use.
create table schema_requirements (
  -- The last migration of the oldest version that can use this schema.
  migration integer not null check (migration > 0)
);
create unique index schema_requirements_one on schema_requirements ((true));
insert into schema_requirements (migration) values (60);
