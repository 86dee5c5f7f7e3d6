-- Erasure removes personal data from the reason for which a month was reopened. No seal covers it, and the audit
-- log has who wrote it. A function is replaced: no lock on anything that events wait for.

-- A closing changes when its month is reopened, once, and afterwards only in the text of that reason.
create or replace function check_closing_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE'
     and (old.reopened_at is null
          or (new.reopened_at, new.reopened_by) = (old.reopened_at, old.reopened_by))
     and (to_jsonb(new) - '{reopened_at,reopened_by,reopened_reason}'::text[])
       = (to_jsonb(old) - '{reopened_at,reopened_by,reopened_reason}'::text[]) then
    return new;
  end if;
  raise exception 'a closing of % is kept as it is: % was refused', old.month, lower(tg_op)
    using errcode = '55000', hint = 'Reopen the month, and close it again.';
end $$;
