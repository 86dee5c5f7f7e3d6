/** Secrets that are read from files: src/config/secretFiles.ts has the rules. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig, SETTINGS } from '../../../src/config/config.ts';
import { FILE_SETTINGS } from '../../../src/config/secretFiles.ts';
import { judgeSecretFiles } from '../../../src/doctor/domain/judgeExposure.ts';

const TOKEN = 'a-good-token-0123456789abcdefghijkl';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tallyhook-secrets-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(content: string, mode = 0o400): string {
  const path = join(folder, 'secret');
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

test('every secret and every address with a password can be in a file', () => {
  const secret = Object.keys(SETTINGS.shape).filter((name) =>
    /SECRET|TOKEN|PASSWORD|_KEY|(DATABASE|DATABASE_READ|REDIS|SMTP|SLACK)_URL$/.test(name),
  );
  expect([...FILE_SETTINGS].toSorted()).toEqual(secret.toSorted());
});

test.each([
  ['a line break', `${TOKEN}\n`],
  ['a line break of Windows', `${TOKEN}\r\n`],
  ['none', TOKEN],
])('%s at the end is not part of the secret', (_, content) => {
  expect(loadConfig({ ADMIN_TOKEN_FILE: write(content) }).adminToken).toBe(TOKEN);
});

test('only one line break is cut: white space of the secret is a mistake, as in the environment', () => {
  const env = { ADMIN_TOKEN_FILE: write(`${TOKEN}\n\n`) };
  expect(() => loadConfig(env)).toThrow(/ADMIN_TOKEN: must not begin or end with whitespace/);
});

test.each([
  ['one per line', `${TOKEN}\n${TOKEN}-old\n`, 1],
  ['one per line of Windows', `${TOKEN}\r\n${TOKEN}-old\r\n`, 1],
  ['a comma and a line break', `${TOKEN},${TOKEN}-old\n${TOKEN}-older`, 2],
  ['a tab', `${TOKEN}\t${TOKEN}-old`, 1],
])('secrets are separated by commas only, and a file with %s is refused', (_, content, entry) => {
  expect(() => loadConfig({ WEBHOOK_SECRETS_FILE: write(content) })).toThrow(
    `Some settings are invalid:\n  WEBHOOK_SECRETS (entry ${entry} of the list): ` +
      'must not contain a line break or another control character; separate secrets by commas',
  );
});

test.each([
  ['two lines', `${TOKEN}\n${TOKEN}-old\n`],
  ['a character that nobody sees', `${TOKEN}\u0000`],
])('a file with %s is not one secret', (_, content) => {
  const path = write(content);
  for (const name of ['CHAIN_KEY', 'SANDBOX_WEBHOOK_SECRET']) {
    expect(() => loadConfig({ [`${name}_FILE`]: path })).toThrow(
      `  ${name}: must not contain a line break or another control character; write one secret on one line`,
    );
  }
});

test('a setting with a file and a value is refused, and neither is shown', () => {
  const env = { ADMIN_TOKEN: `other-${TOKEN}`, ADMIN_TOKEN_FILE: write(TOKEN) };
  expect(() => loadConfig(env)).toThrow(
    /ADMIN_TOKEN_FILE: must not be set together with ADMIN_TOKEN; remove one of the two$/,
  );
});

test('a file that has no secret is an error, not a setting that is not set', () => {
  const missing = join(folder, 'missing');
  const nested = join(folder, 'folder');
  mkdirSync(nested);
  const large = join(folder, 'large');
  writeFileSync(large, 'x'.repeat(64 * 1024 + 1));
  const env = {
    ADMIN_TOKEN_FILE: missing,
    DATABASE_URL_FILE: write('\n'),
    PAYMENTS_API_KEY_FILE: nested,
    REDIS_URL_FILE: large,
    SMTP_URL_FILE: `${large}/below`,
  };
  expect(() => loadConfig(env)).toThrow(
    [
      'Some settings are invalid:',
      `  ADMIN_TOKEN_FILE: there is no file ${missing}; correct the path, or check that the secret is mounted there`,
      `  PAYMENTS_API_KEY_FILE: ${nested} is not a file`,
      `  DATABASE_URL_FILE: ${env.DATABASE_URL_FILE} is empty; write the secret to it`,
      `  REDIS_URL_FILE: ${large} is larger than 65536 bytes`,
      `  SMTP_URL_FILE: ${large}/below cannot be read (ENOTDIR)`,
    ].join('\n'),
  );
});

test('a file that cannot be read is one line: no other setting is reported for it', () => {
  const missing = join(folder, 'missing');
  const lines = (env: Record<string, string>): readonly string[] => {
    try {
      loadConfig(env);
    } catch (error) {
      return String(error).split('\n').slice(1);
    }
    return [];
  };
  for (const [name, others] of [
    ['ALERT_WEBHOOK_SECRET', { ALERT_WEBHOOK_URL: 'https://hooks.example/alerts' }],
    ['SMTP_URL', { ALERT_MAIL_TO: 'a@shop.example', ALERT_MAIL_FROM: 'b@shop.example' }],
    ['DATABASE_URL', { QUEUE_DATABASE_URL: 'postgres://db.example/shop' }],
    ['DATABASE_URL', { DATABASE_READ_URL: 'postgres://standby.example/shop' }],
    ['REDIS_URL', { REDIS_CA_FILE: '/ca.pem' }],
  ] as const) {
    expect(lines({ ...others, [`${name}_FILE`]: missing })).toEqual([
      expect.stringMatching(`^  ${name}_FILE: there is no file `),
    ]);
  }
});

test('a value from a file is checked like one of the environment, and not shown', () => {
  const env = { DATABASE_URL_FILE: write('mysql://shop:hush@db.example/shop\n') };
  expect(() => loadConfig(env)).toThrow(
    /^Some settings are invalid:\n {2}DATABASE_URL: (?!.*hush)/,
  );
});

test('settings in force name the file, and show no secret of it', () => {
  const path = write('postgres://shop:hush@db.example/shop\n');
  const { inForce } = loadConfig({ DATABASE_URL_FILE: path });
  expect(inForce.find(({ name }) => name === 'DATABASE_URL')).toEqual({
    name: 'DATABASE_URL',
    value: 'postgres://shop:•••@db.example/shop',
    source: 'secret_file',
    path,
  });
});

test.each([
  [0o400, 'ok'],
  [0o440, 'ok'],
  [0o600, 'ok'],
  [0o444, 'warning'],
  [0o644, 'warning'],
  [0o660, 'ok'],
  [0o602, 'warning'],
])('a file with the permissions %o is judged: %s', (mode, state) => {
  const path = write(TOKEN, mode);
  const { secretFiles } = loadConfig({ ADMIN_TOKEN_FILE: path });
  const judged = judgeSecretFiles(secretFiles);
  expect(judged.state).toBe(state);
  if (state === 'warning') {
    expect(judged.result).toBe(
      `ADMIN_TOKEN_FILE: every user of the machine can read or change ${path}`,
    );
    expect(judged.remedy).toBe(`Run: chmod 400 ${path}`);
  }
});
