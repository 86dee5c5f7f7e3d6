-- Who is to handle an alert, and why an alert was snoozed. New columns without a default: no rewrite.
alter table alerts
  add column snoozed_reason text,
  add column assigned_to text,
  add column assigned_at timestamptz,
  add column assigned_by text,
  add column assigned_reason text,
  add constraint alerts_assigned check (
    (assigned_to is null) = (assigned_at is null)
    and (assigned_to is null) = (assigned_by is null)
    and (assigned_to is null) = (assigned_reason is null)) not valid;
