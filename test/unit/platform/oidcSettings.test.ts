/** Settings of the sign-in at an identity provider. */
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';

const COMPLETE = {
  PUBLIC_CONSOLE_URL: 'https://tallyhook.shop.example',
  CONSOLE_OIDC_ISSUER: 'https://login.shop.example/realms/staff',
  CONSOLE_OIDC_CLIENT_ID: 'tallyhook',
  CONSOLE_OIDC_CLIENT_SECRET: 'secret-of-the-client',
  CONSOLE_OIDC_ROLES: 'CN=ops=operator, accounting=viewer',
};

test('without them there is no provider', () => {
  expect(loadConfig({}).oidc).toBeUndefined();
});

test('together they name the provider and its roles; a value may contain =', () => {
  expect(loadConfig(COMPLETE).oidc).toMatchObject({
    issuer: 'https://login.shop.example/realms/staff',
    consoleUrl: 'https://tallyhook.shop.example',
    roleClaim: 'groups',
    scopes: 'openid profile email',
    roles: [
      { value: 'CN=ops', role: 'operator' },
      { value: 'accounting', role: 'viewer' },
    ],
  });
});

test.each(Object.keys(COMPLETE))('%s must be set with the others', (name) => {
  const others = Object.fromEntries(Object.entries(COMPLETE).filter(([key]) => key !== name));
  expect(() => loadConfig(others)).toThrow(`${name}: must be set, too`);
});

test('the public address alone is no provider', () => {
  expect(loadConfig({ PUBLIC_CONSOLE_URL: COMPLETE.PUBLIC_CONSOLE_URL }).oidc).toBeUndefined();
});

test.each([
  ['CONSOLE_OIDC_ISSUER', 'http://login.shop.example', 'only for this machine'],
  ['CONSOLE_OIDC_ISSUER', 'https://login.shop.example/?a=b', 'without a query'],
  ['CONSOLE_OIDC_ROLES', 'ops', 'must be value=role'],
  ['CONSOLE_OIDC_ROLES', 'ops=root', 'must be value=role'],
  ['CONSOLE_OIDC_ROLES', 'ops=metrics', 'must be value=role'],
  ['CONSOLE_OIDC_ROLES', '=viewer', 'must be value=role'],
  ['CONSOLE_OIDC_ROLES', 'ops=viewer,ops=admin', 'each value once'],
  ['CONSOLE_OIDC_SCOPES', 'profile email', 'must contain openid'],
  ['CONSOLE_OIDC_CLIENT_SECRET', '', 'CONSOLE_OIDC_CLIENT_SECRET'],
])('%s=%s is refused', (name, value, message) => {
  expect(() => loadConfig({ ...COMPLETE, [name]: value })).toThrow(message);
});
