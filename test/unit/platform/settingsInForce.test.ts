import { expect, test } from 'vitest';
import { loadConfig, SETTINGS } from '../../../src/config/config.ts';
import { withoutPassword } from '../../../src/config/settingsInForce.ts';

const VALUES = {
  DATABASE_URL: 'postgres://tallyhook:hush@db.example:5432/tallyhook?sslmode=require&password=hush',
  REDIS_URL: 'rediss://:hush@redis.example',
  ADMIN_TOKEN: 'hush-0123456789abcdefghijklmnopqrstuvwx',
  WEBHOOK_SECRETS: 'hush-0123456789abcdefghijklmnopqrstuvwx',
  PAYMENTS_API_KEY: 'snd_hush',
  PAYMENTS_BASE_URL: 'https://payments.example',
  PAYMENTS_MERCHANT_ID: 'merchant_1',
};

test('each setting has its source, and no value of a secret is shown', () => {
  const { inForce } = loadConfig(VALUES);
  expect(inForce.map(({ name }) => name)).toEqual(Object.keys(SETTINGS.shape));
  expect(JSON.stringify(inForce)).not.toContain('hush');
  const of = (name: string) => inForce.find((one) => one.name === name);
  expect(of('DATABASE_URL')).toEqual({
    name: 'DATABASE_URL',
    value: 'postgres://tallyhook:•••@db.example:5432/tallyhook?•••',
    source: 'environment',
  });
  expect(of('ADMIN_TOKEN')).toEqual({ name: 'ADMIN_TOKEN', value: null, source: 'environment' });
  expect(of('ADMIN_PORT')).toEqual({ name: 'ADMIN_PORT', value: '8081', source: 'default' });
  expect(of('METRICS_PORT')).toEqual({ name: 'METRICS_PORT', value: null, source: 'unset' });
});

const STANDARD_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

test('of an address that messages are posted to only the server is shown: its path may hold a token', () => {
  const { inForce } = loadConfig({
    ...VALUES,
    ALERT_WEBHOOK_URL: 'https://chat.example:8443/hooks/hush?key=hush',
    ALERT_WEBHOOK_SECRET: STANDARD_SECRET,
    ORDER_WEBHOOK_URL: 'https://shop.example/hooks/hush',
    ORDER_WEBHOOK_SECRET: STANDARD_SECRET,
  });
  const shownOf = (name: string) => inForce.find((one) => one.name === name)?.value;
  expect(shownOf('ALERT_WEBHOOK_URL')).toBe('https://chat.example:8443/…');
  expect(shownOf('ORDER_WEBHOOK_URL')).toBe('https://shop.example/…');
});

test.each([
  ['https://user@host/path', 'https://user@host/path'],
  ['smtp://a:p@ss:w@host:25', 'smtp://a:•••@host:25'],
  ['capture:6', 'capture:6'],
])('of an address the password is hidden: %s', (text, shown) => {
  expect(withoutPassword(text)).toBe(shown);
});
