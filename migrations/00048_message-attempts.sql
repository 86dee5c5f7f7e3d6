-- What each attempt of a message met with, and when a person had it sent again. New columns with a constant
-- default: no rewrite. The index covers few rows; building it blocks deliveries for a moment.
alter table messages
  add column attempt_log jsonb not null default '[]',
  add column resent_at timestamptz;
create index messages_failed on messages (number) where state = 'failed';
