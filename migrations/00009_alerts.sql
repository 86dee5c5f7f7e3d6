-- Alerts: what a person must know, with a state. New tables only: no lock on anything that is in use.

create table alerts (
  id bigint generated always as identity primary key,
  rule text not null,
  -- What it is about, as in `findings`: `dispute:dp_1`, `event:12`, `system:webhooks`.
  subject text not null,
  -- What tells two alerts of a rule on one subject apart: stage and status, or a deadline.
  variant text not null default '',
  severity text not null check (severity in ('info', 'warning', 'critical')),
  state text not null default 'open' check (state in ('open', 'acknowledged', 'resolved')),
  -- One plain sentence with amounts, ids and absolute times in it.
  sentence text not null,
  next_step text not null,
  -- The facts of the sentence, for machines.
  detail jsonb not null,
  order_id text,
  payment_id text,
  deadline_at timestamptz,
  opened_at timestamptz not null default statement_timestamp(),
  updated_at timestamptz not null default statement_timestamp(),
  acknowledged_at timestamptz,
  acknowledged_by text,
  acknowledged_reason text,
  -- Until then it is not spoken of again.
  snoozed_until timestamptz,
  snoozed_by text,
  resolved_at timestamptz,
  check ((state = 'resolved') = (resolved_at is not null)),
  check ((acknowledged_at is null) = (acknowledged_by is null)
    and (acknowledged_at is null) = (acknowledged_reason is null)),
  check ((snoozed_until is null) = (snoozed_by is null))
);
-- One that is not resolved for each key; a recurrence opens anew. Also answers what stands of a subject.
create unique index alerts_current on alerts (subject, rule, variant) where state <> 'resolved';
create index alerts_subject on alerts (subject);
create index alerts_current_id on alerts (id) where state <> 'resolved';

-- What is to be said of alerts, written by the transaction that has it to say. The worker of role
-- `alerts` turns rows into messages, one for each channel that wants them, and deletes them.
create table alert_outbox (
  id bigint generated always as identity primary key,
  alert_id bigint not null references alerts (id),
  occasion text not null check (occasion in ('opened', 'reminder', 'resolved')),
  said_at timestamptz not null default statement_timestamp()
);

-- Deadlines that are to be spoken of: evidence of disputes that need an answer. A row goes when its
-- last threshold was spoken of, or when nothing is due any more. (Authorizations have a watch of
-- their own.)
create table alert_deadlines (
  kind text not null,
  resource_id text not null,
  deadline_at timestamptz not null,
  -- The next threshold.
  next_at timestamptz not null,
  primary key (kind, resource_id)
);
create index alert_deadlines_next on alert_deadlines (next_at);

do $$
begin
  if exists (select from pg_roles where rolname = 'tallyhook_app') then
    grant select, insert, update on alerts to tallyhook_app;
    grant select, insert, delete on alert_outbox to tallyhook_app;
    grant select, insert, update, delete on alert_deadlines to tallyhook_app;
  end if;
end $$;
