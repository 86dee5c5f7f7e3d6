#!/bin/sh
# Runs once, when the database is created: the owner of the schema, and a login for each kind of process
# with the rights of its role. docs/guides/database-roles.md has the reasons.
set -eu

# psql reads the passwords from the environment, so that no list of processes shows them.
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\getenv owner_password OWNER_PASSWORD
\getenv receiver_password RECEIVER_PASSWORD
\getenv worker_password WORKER_PASSWORD
\getenv console_password CONSOLE_PASSWORD

create role tallyhook_receiver nologin;
create role tallyhook_app nologin;
create role tallyhook_console nologin;

create role tallyhook_owner login password :'owner_password';
create role receiver_login login password :'receiver_password' in role tallyhook_receiver;
create role worker_login login password :'worker_password' in role tallyhook_app;
create role console_login login password :'console_password' in role tallyhook_console, tallyhook_app;

create database tallyhook owner tallyhook_owner;
revoke connect on database tallyhook from public;
grant connect on database tallyhook to tallyhook_receiver, tallyhook_app, tallyhook_console;
SQL
