-- Names of alerts and messages follow the glossary. Tables and columns are renamed in place; each lock
-- lasts for the moment of this transaction. Rewrites rows of alerts with a renamed rule, messages that
-- are a digest or not delivered yet, and a day of counts.

alter table order_notices rename to order_webhook_totals;
alter table order_webhook_totals rename column money to totals;
alter table order_notice_position rename to order_webhook_position;
alter table alert_pace rename to dispatch_state;
alter table dispatch_state rename column next_take_at to next_dispatch_at;
alter table alert_outbox rename column occasion to type;
alter table alert_outbox rename column said_at to created_at;

create temporary table renamed_rules (old text primary key, new text not null) on commit drop;
insert into renamed_rules values
  ('silence', 'webhooks_stopped'),
  ('watermark', 'reconciliation_lag'),
  ('rate_exhausted', 'rate_limit_exhausted'),
  ('channel_dead', 'channel_down'),
  ('order_notice_given_up', 'order_webhook_failed');

update alerts a set rule = r.new from renamed_rules r where a.rule = r.old;

alter table watch_counts drop constraint watch_counts_name_check;
update watch_counts set name = 'rate_limit_exhausted' where name = 'rate_exhausted';
alter table watch_counts add constraint watch_counts_name_check
  check (name in ('signature_mismatched', 'signature_unsigned', 'rate_limit_exhausted'));

alter table messages drop constraint messages_kind_check;
update messages set kind = 'digest', content = jsonb_set(content, '{kind}', '"digest"')
 where kind = 'alerts';
alter table messages add constraint messages_kind_check
  check (kind in ('alert', 'digest', 'summary', 'order'));

-- The parts of a message that has not been delivered yet, as this version reads them.
create function pg_temp.renamed_part(part jsonb) returns jsonb language sql as $$
  select (part - 'occasion') || jsonb_build_object(
    'type', case part ->> 'occasion' when 'passed' then 'opened_and_resolved'
                                     else part ->> 'occasion' end,
    'rule', coalesce((select new from renamed_rules where old = part ->> 'rule'), part ->> 'rule'))
$$;
create function pg_temp.renamed_parts(parts jsonb) returns jsonb language sql as $$
  select coalesce(jsonb_agg(pg_temp.renamed_part(part) order by place), '[]')
    from jsonb_array_elements(parts) with ordinality as p (part, place)
$$;
update messages
   set content = jsonb_set(content, '{alert}', pg_temp.renamed_part(content -> 'alert'))
 where kind = 'alert' and state = 'due';
update messages
   set content = content || jsonb_build_object(
         'groups', pg_temp.renamed_parts(content -> 'groups'),
         'urgent', pg_temp.renamed_parts(content -> 'urgent'))
 where kind = 'digest' and state = 'due';
