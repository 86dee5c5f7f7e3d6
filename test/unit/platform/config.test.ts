import { describe, expect, test } from 'vitest';
import { loadConfig, SETTINGS } from '../../../src/config/config.ts';
import { OperatorError } from '../../../src/platform/errors.ts';

const SECRET = 'a-good-secret-0123456789abcdefgh';

function mistakesOf(env: Record<string, string>): string {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
  return 'no mistake';
}

test('by default everything has a value except secrets, accounts and addresses', () => {
  expect(loadConfig({})).toMatchObject({
    port: 8080,
    adminPort: 8081,
    adminHost: '127.0.0.1',
    webhookPath: '/webhooks',
    webhookSecrets: undefined,
    adminToken: undefined,
    commandToken: undefined,
    databaseUrl: undefined,
    merchantId: undefined,
  });
});

test('all errors are reported at once, by the name of the setting', () => {
  const message = mistakesOf({
    PORT: 'http',
    LOG_LEVEL: 'loud',
    DATABASE_URL: 'mysql://x',
    WEBHOOK_PATH: 'hooks',
  });
  for (const name of ['PORT', 'LOG_LEVEL', 'DATABASE_URL', 'WEBHOOK_PATH'])
    expect(message).toContain(name);
});

test.each([
  '70000',
  '-1',
  '8080.5',
  'yes',
  ' ',
  '0x50',
  '1e3',
  '8_080',
  '８０',
  '+80',
  'Infinity',
  '9'.repeat(400),
])('PORT=%j is no number and refused', (PORT) => {
  expect(mistakesOf({ PORT })).toContain('PORT');
});

test.each([
  ['8080', 8080],
  [' 8080 ', 8080],
  ['08080', 8080],
  ['0', 0],
  ['65535', 65_535],
])('PORT=%j is %d', (PORT, port) => {
  expect(loadConfig({ PORT }).port).toBe(port);
});

test.each([
  ['RATE_RESERVE_PERCENT', ' '],
  ['BACKGROUND_REQUESTS_PER_MINUTE', '1e3'],
  ['EVENT_MAX_ATTEMPTS', '0x5'],
  ['WEBHOOK_MAX_BODY_BYTES', '1_048_576'],
])('what is no whole number is no default either: %s=%j', (name, value) => {
  expect(mistakesOf({ [name]: value })).toMatch(new RegExp(`${name}: must be a whole number`));
});

test.each([
  ['ADMIN_PORT', '70000', 'must be a whole number from 0 to 65535'],
  ['SANDBOX_PORT', '9'.repeat(400), 'must be a whole number from 0 to 65535'],
  ['LOG_LEVEL', 'loud', 'must be one of trace, debug, info, warn, error, silent'],
  ['PAYMENTS_MERCHANT_ID', 'm'.repeat(256), 'must have at most 255 characters'],
])('an error states what to set: %s', (name, value, expected) => {
  expect(mistakesOf({ [name]: value })).toBe(`Some settings are invalid:\n  ${name}: ${expected}`);
});

// What a schema reports by itself ("Too big: expected number to be <=65535") names no setting to choose.
test.each(Object.keys(SETTINGS.shape))('no error is the text of a schema: %s', (name) => {
  for (const value of ['', ' ', '-1', '9'.repeat(400), 'x'.repeat(5_000), '\n', ',']) {
    const [, ...errors] = mistakesOf({ [name]: value }).split('\n');
    expect(errors.filter((error) => /: (Too|Invalid|Expected|Unrecognized)/.test(error))).toEqual(
      [],
    );
  }
});

test.each([
  ['AUTHORIZATION_THRESHOLD_HOURS', '48,x'],
  ['ALERT_MAIL_TO', 'ops@shop.example,nobody'],
  ['WEBHOOK_SECRETS', `${SECRET},b`],
])('an error in a list names the entry: %s', (name, value) => {
  expect(mistakesOf({ [name]: value })).toContain(`${name} (entry 2 of the list): `);
});

describe('secrets', () => {
  test('several are separated by commas', () => {
    const secrets = [SECRET, `${SECRET}-old`];
    expect(loadConfig({ WEBHOOK_SECRETS: secrets.join(',') }).webhookSecrets).toEqual(secrets);
  });

  test('an empty or short secret is rejected, and never printed', () => {
    for (const WEBHOOK_SECRETS of ['', 'hunter2-short', `${SECRET},`, `${SECRET},,b`]) {
      const message = mistakesOf({ WEBHOOK_SECRETS });
      expect(message).toMatch(/WEBHOOK_SECRETS.*at least 32 bytes/);
      expect(message).not.toContain('hunter2');
      expect(message).not.toContain(SECRET);
    }
  });

  test('bytes count, not characters', () => {
    expect(loadConfig({ WEBHOOK_SECRETS: '鍵印章暗号署名秘密文é' }).webhookSecrets).toHaveLength(1);
  });

  test('an empty value is "not set" for an address', () => {
    expect(loadConfig({ REDIS_URL: '', DATABASE_URL: '' }).redisUrl).toBeUndefined();
  });

  // As after `export PAYMENTS_API_KEY=$(cat missing-file)`: "not set" would start without it.
  test.each([
    'WEBHOOK_SECRETS',
    'ADMIN_TOKEN',
    'TALLYHOOK_TOKEN',
    'PAYMENTS_API_KEY',
    'PAYMENTS_MERCHANT_ID',
    'ALERT_WEBHOOK_SECRET',
    'ORDER_WEBHOOK_SECRET',
  ])('an empty value is a mistake for what must not go missing unnoticed: %s', (name) => {
    expect(mistakesOf({ [name]: '' })).toContain(`\n  ${name}`);
  });

  describe('WEBHOOK_SECRETS', () => {
    const name = 'WEBHOOK_SECRETS';
    const text = 'white-space-around-a-secret-is-kept';

    test.each([' ', '\t', '\n', '\r', '\r\n', '\u00a0'])(
      'is rejected with %j before or after it, and never printed',
      (space) => {
        for (const value of [`${text}${space}`, `${space}${text}`]) {
          const message = mistakesOf({ [name]: value });
          expect(message).toMatch(new RegExp(`${name}.*must not begin or end with whitespace`));
          expect(message).not.toContain(text);
        }
      },
    );

    const around = (character: string) => `${text.slice(0, 9)}${character}${text.slice(9)}`;

    test.each([' ', '\u00a0'])('may contain %j', (space) => {
      expect(mistakesOf({ [name]: around(space) })).toBe('no mistake');
    });

    test.each(['\t', '\n', '\r', '\r\n', '\0', '\u0085'])(
      'is rejected with %j in it, and never printed',
      (character) => {
        const message = mistakesOf({ [name]: around(character) });
        expect(message).toMatch(new RegExp(`${name}.*; separate secrets by commas$`));
        expect(message).not.toContain(text.slice(9));
      },
    );
  });
});

describe.each(['ADMIN_TOKEN', 'TALLYHOOK_TOKEN'])('a token in %s', (name) => {
  test('has the characters of a bearer token', () => {
    const token = 'thk_viewer_-._~+/=abcdefgXYZ0189';
    const { adminToken, commandToken } = loadConfig({ [name]: token });
    expect(name === 'ADMIN_TOKEN' ? adminToken : commandToken).toBe(token);
  });

  // A list or a name would become part of the token, and no header matches it.
  test.each([
    ['a list', `${SECRET},${SECRET}-old`],
    ['a name before it', `shop:${SECRET}`],
    ['a short one', 'hunter2-short'],
    ['a repetitive one', 'a'.repeat(64)],
    ['a space inside', `${SECRET} ${SECRET}`],
  ])('is refused, and never printed: %s', (_what, value) => {
    const message = mistakesOf({ [name]: value });
    expect(message).toContain(name);
    for (const text of ['hunter2', 'aaaa', SECRET]) expect(message).not.toContain(text);
  });
});

test('a token that was cut off is copied again: a random value in its place is no token', () => {
  const message = mistakesOf({ TALLYHOOK_TOKEN: 'thk_viewer_cut' });
  expect(message).toContain('`npx tallyhook tokens create`');
  expect(message).not.toContain('openssl');
});

test.each(['0', '11', '1.5'])(
  'an event has one to ten attempts, for which the sweep waits: EVENT_MAX_ATTEMPTS=%s is rejected',
  (attempts) => {
    expect(loadConfig({ EVENT_MAX_ATTEMPTS: '10' }).eventMaxAttempts).toBe(10);
    expect(mistakesOf({ EVENT_MAX_ATTEMPTS: attempts })).toContain('EVENT_MAX_ATTEMPTS');
  },
);

describe('the policy for authorizations that expire', () => {
  const policyOf = (AUTHORIZATION_POLICY: string, AUTHORIZATION_THRESHOLD_HOURS = '48,24,6,1') =>
    loadConfig({ AUTHORIZATION_POLICY, AUTHORIZATION_THRESHOLD_HOURS }).authorizationPolicy;

  test.each([
    ['capture:6', { action: 'capture', hours: 6 }],
    ['cancel:48', { action: 'cancel', hours: 48 }],
    ['none', undefined],
    ['', undefined],
  ])('%j is taken', (text, policy) => {
    expect(policyOf(text)).toEqual(policy);
  });

  test.each(['capture:7', 'capture:12', 'cancel:49'])(
    'is rejected at an hour without a check of authorizations, because it would never act: %s',
    (AUTHORIZATION_POLICY) => {
      expect(mistakesOf({ AUTHORIZATION_POLICY })).toMatch(
        /AUTHORIZATION_POLICY: must use one of AUTHORIZATION_THRESHOLD_HOURS/,
      );
    },
  );

  test('may name any hour at which authorizations are checked', () => {
    expect(policyOf('capture:7', '7')).toEqual({ action: 'capture', hours: 7 });
    expect(
      mistakesOf({ AUTHORIZATION_POLICY: 'capture:6', AUTHORIZATION_THRESHOLD_HOURS: '7' }),
    ).toContain('AUTHORIZATION_POLICY');
  });

  test.each(['capture', 'capture:0', 'capture:-6', 'capture:6h', 'refund:6', 'capture:6,cancel:1'])(
    'is rejected if it cannot be read: %s',
    (AUTHORIZATION_POLICY) => {
      expect(mistakesOf({ AUTHORIZATION_POLICY })).toContain('AUTHORIZATION_POLICY: must be none');
    },
  );
});

describe('the request rate of background work', () => {
  test('is a reserve of 30 % and no ceiling unless set', () => {
    expect(loadConfig({})).toMatchObject({
      rateReservePercent: 30,
      backgroundRequestsPerMinute: undefined,
    });
    expect(
      loadConfig({ RATE_RESERVE_PERCENT: '0', BACKGROUND_REQUESTS_PER_MINUTE: '600' }),
    ).toMatchObject({ rateReservePercent: 0, backgroundRequestsPerMinute: 600 });
  });

  test.each([
    ['RATE_RESERVE_PERCENT', '91'],
    ['RATE_RESERVE_PERCENT', '-1'],
    ['RATE_RESERVE_PERCENT', '30%'],
    ['BACKGROUND_REQUESTS_PER_MINUTE', '0'],
    ['BACKGROUND_REQUESTS_PER_MINUTE', '1.5'],
  ])('%s=%s is refused', (name, value) => {
    expect(mistakesOf({ [name]: value })).toContain(name);
  });
});

test('TRUSTED_PROXIES is a list of addresses and networks, and empty by default', () => {
  const { trustedProxies } = loadConfig({ TRUSTED_PROXIES: '10.0.0.0/8, ::1' });
  expect(['10.1.2.3', '::1', '11.0.0.1'].map(trustedProxies.has)).toEqual([true, true, false]);
  expect(loadConfig({}).trustedProxies.has('127.0.0.1')).toBe(false);
  expect(mistakesOf({ TRUSTED_PROXIES: 'proxy.internal' })).toContain(
    'TRUSTED_PROXIES: must be IP addresses or CIDR networks',
  );
});

test('settings that need another one are named together with values that cannot be read', () => {
  const mistakes = mistakesOf({
    LOG_LEVEL: 'loud',
    TRUSTED_PROXIES: 'proxy.internal',
    REDIS_CA_FILE: '/ca.pem',
    QUEUE_DATABASE_URL: 'postgres://127.0.0.1/shop',
    DATABASE_READ_URL: 'postgres://127.0.0.1/shop',
    AUTHORIZATION_POLICY: 'capture:7',
  });
  for (const name of [
    'LOG_LEVEL',
    'TRUSTED_PROXIES',
    'REDIS_CA_FILE',
    'QUEUE_DATABASE_URL',
    'DATABASE_READ_URL',
    'AUTHORIZATION_POLICY',
  ]) {
    expect(mistakes.match(new RegExp(`^ *${name}: `, 'gm'))).toHaveLength(1);
  }
});

test('a setting is compared with another one only if both can be read', () => {
  const mistakes = mistakesOf({ REDIS_URL: 'nonsense', REDIS_CA_FILE: '/ca.pem' });
  expect(mistakes).toContain('REDIS_URL: ');
  expect(mistakes).not.toContain('REDIS_CA_FILE');
});
