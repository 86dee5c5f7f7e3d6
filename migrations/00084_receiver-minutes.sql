-- The watch over the system also counts the minutes in which a receiver runs. A constraint is checked over the
-- counts of a day, and only more rows fit it; rows are removed after two days from now on.
alter table watch_counts drop constraint watch_counts_name_check;
alter table watch_counts add constraint watch_counts_name_check
  check (name in ('signature_mismatched', 'signature_unsigned', 'rate_limit_exhausted', 'receiver_running'));
