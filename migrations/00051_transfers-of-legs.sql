-- The transfers of an account, newest first. Captures are most of a journal and are found without it, so
-- the index leaves them out: a payment that is captured at once writes no entry. Entries of a leg are
-- appended in the order of their numbers. Writes to transfers wait for one scan of the table (about a
-- second for a million rows), and events wait in the inbox.
create index transfers_leg on transfers (leg, id) where leg <> 'captured';
