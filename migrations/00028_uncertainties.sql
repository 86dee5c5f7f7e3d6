-- Names the reasons why a resource needs a retrieve as the API does. Renaming a column rewrites no
-- table; it waits for a short exclusive lock on `resources`. Views keep their columns. Stop processes
-- of an earlier version before you migrate: they read the column by its old name.

alter table resources rename column doubts to uncertainties;
