-- Names of outcomes: a difference is repaired, remains or would be repaired; a message that failed
-- all its attempts is failed. Updates the stored differences of runs and the messages that failed, and
-- reads messages once for their constraint. Stop processes of earlier versions before you migrate: they
-- use the old names.
alter table reconcile_runs rename column healed to repaired;
alter table awaited_webhooks rename column healed_at to repaired_at;

-- Quotes within a string of the JSON are escaped, so no subject can match.
update reconcile_runs
   set differences = replace(replace(replace(differences::text,
         '"outcome": "healed"', '"outcome": "repaired"'),
         '"outcome": "left"', '"outcome": "remaining"'),
         '"outcome": "would_heal"', '"outcome": "would_repair"')::jsonb
 where differences <> '[]';

alter table messages drop constraint messages_state_check;
update messages set state = 'failed' where state = 'given_up';
alter table messages add constraint messages_state_check
  check (state in ('due', 'delivered', 'failed'));
