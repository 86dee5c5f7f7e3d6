-- When the term of a resource's status began: for how long its money may be in transit counts from then. Null for a
-- status without a term, and in rows that an earlier version wrote last: the check for overdue money derives it
-- from their snapshots before it alerts anybody.
-- docs/decisions/0177-beginnings-of-terms.md
alter table resources add column term_since timestamptz;
