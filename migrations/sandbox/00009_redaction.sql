-- A signature belongs to the body that it was made of. Who redacts a stored body leaves it without one,
-- and the sender signs it when it is sent. A changed column and two triggers; no row is read.
alter table sandbox.events alter column signature drop not null;

create function sandbox.drop_signature() returns trigger language plpgsql as $$
begin
  new.signature := null;
  return new;
end $$;
create trigger events_redacted before update of body on sandbox.events
  for each row when (old.body is distinct from new.body) execute function sandbox.drop_signature();

create function sandbox.drop_other_signature() returns trigger language plpgsql as $$
begin
  new.other_signature := null;
  return new;
end $$;
create trigger deliveries_redacted before update of other_body on sandbox.deliveries
  for each row when (old.other_body is distinct from new.other_body)
  execute function sandbox.drop_other_signature();
