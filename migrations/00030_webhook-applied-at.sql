-- When a webhook last updated the resource, under the name that says so. Stop processes of earlier
-- versions before you migrate: they write the old name.
alter table resources rename column told_at to webhook_applied_at;
