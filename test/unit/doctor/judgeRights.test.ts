import { expect, test } from 'vitest';
import { judgeRights, type RightsFacts } from '../../../src/doctor/domain/judgeRights.ts';

const facts = (more: Partial<RightsFacts> = {}): RightsFacts => ({
  user: 'app_login',
  missingOfUser: { tallyhook_app: [], tallyhook_receiver: ['grant insert on inbox to app_login'] },
  roles: [{ role: 'tallyhook_app', missing: [], surplus: [] }],
  ...more,
});

test('a user with every right of a role passes, and the role is named', () => {
  expect(judgeRights(facts())).toEqual({
    state: 'ok',
    result: 'app_login has the rights of tallyhook_app',
    remedy: null,
  });
});

test('a role that lacks rights fails, with every GRANT to run', () => {
  const missing = [
    'grant select on a to tallyhook_app',
    'grant usage on schema b to tallyhook_app',
  ];
  const { state, result, remedy } = judgeRights(
    facts({ roles: [{ role: 'tallyhook_app', missing, surplus: [] }] }),
  );
  expect({ state, result }).toEqual({
    state: 'failed',
    result: 'tallyhook_app lacks rights on 2 objects',
  });
  for (const statement of missing) expect(remedy).toContain(`${statement};`);
  expect(remedy).toContain('npx tallyhook migrate');
});

test('a user with the rights of no role fails, with the role to grant', () => {
  const { state, remedy } = judgeRights(
    facts({ missingOfUser: { tallyhook_app: ['grant select on a to app_login'] } }),
  );
  expect(state).toBe('failed');
  expect(remedy).toContain('grant tallyhook_app to app_login');
});

test('a role that can do more than it needs is a warning, with every REVOKE', () => {
  const surplus = ['revoke truncate on a from tallyhook_app'];
  const { state, remedy } = judgeRights(
    facts({ roles: [{ role: 'tallyhook_app', missing: [], surplus }] }),
  );
  expect(state).toBe('warning');
  expect(remedy).toContain('revoke truncate on a from tallyhook_app;');
});
