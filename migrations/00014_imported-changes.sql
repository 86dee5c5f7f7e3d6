-- Changes that a first import brought and that tell of the past: a reader of the feed may pass over
-- them, and the shop is not told of them. The columns have constant defaults: no row is rewritten, and
-- what was recorded before counts as news. The rights on both tables cover them.
alter table change_log add column is_history boolean not null default false;
alter table changes add column is_history boolean not null default false;
