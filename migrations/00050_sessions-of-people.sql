-- People may sign in to the console at an OpenID Connect provider. Such a session acts for no token: it has
-- the person, by the provider's address and the subject there, and the role that the sign-in gave.
alter table console_sessions
  alter column token_digest drop not null,
  add column sign_in text not null default 'token' check (sign_in in ('token', 'link', 'provider')),
  add column issuer text,
  add column subject text,
  add column role text,
  add constraint console_sessions_acts_for check (
    case when sign_in = 'provider'
         then token_digest is null and issuer is not null and subject is not null and role is not null
         else token_digest is not null and issuer is null and subject is null and role is null end
  );

-- `person`: somebody whom the provider named. `unknown`: a sign-in that failed.
alter table audit
  drop constraint audit_actor_kind_check,
  add constraint audit_actor_kind_check check (
    actor_kind in ('token', 'person', 'cli', 'process', 'unknown')
  );
