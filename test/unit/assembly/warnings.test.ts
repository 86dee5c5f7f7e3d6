/** What a process logs about its settings when it starts; the rules are those of `doctor`. */
import { expect, test } from 'vitest';
import { defaultRoles, type Role } from '../../../src/assembly/roles.ts';
import { start } from '../../../src/assembly/start.ts';
import { logSettingWarnings } from '../../../src/assembly/warnings.ts';
import { type Environment, loadConfig } from '../../../src/config/config.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createLog } from '../../../src/platform/log.ts';

const SAFE = {
  DATABASE_URL: 'postgres://shop:hunter2@127.0.0.1/shop',
  PAYMENTS_BASE_URL: 'https://sandbox.payments.example',
  PAYMENTS_API_KEY: 'snd_0123456789abcdef',
};

function problemsOf(env: Environment, roles?: readonly Role[]): readonly string[] {
  const lines: string[] = [];
  const config = loadConfig({ ...SAFE, ...env });
  const log = createLog('warn', (line) => lines.push(line));
  logSettingWarnings(config, new Set(roles ?? defaultRoles(config)), log);
  expect(lines.join('')).not.toMatch(/hunter2|0123456789abcdef/);
  return lines.map((line) => {
    const { msg, problem, remedy } = JSON.parse(line);
    expect(msg).toBe('settings.unsafe');
    expect(remedy).toMatch(/\w/);
    return problem;
  });
}

test('safe settings log nothing', () => {
  expect(problemsOf({})).toEqual([]);
});

test('each problem is logged once, without its secrets', () => {
  const problems = problemsOf({
    DATABASE_URL: 'postgres://shop:hunter2@db.example/shop',
    ADMIN_HOST: '0.0.0.0',
    PAYMENTS_API_KEY: 'prd_0123456789abcdef',
  });
  expect(problems).toEqual([
    'DATABASE_URL connects to db.example without TLS',
    'ADMIN_HOST opens the admin port at 0.0.0.0',
    'a production key is used with sandbox.payments.example, which looks like a sandbox',
  ]);
});

test('a sandbox key beside another address is logged', () => {
  expect(problemsOf({ PAYMENTS_BASE_URL: 'https://api.payments.example' })).toEqual([
    'a sandbox key is used with api.payments.example, which does not look like a sandbox',
  ]);
});

test('a key without an address is logged, because nothing is reconciled', () => {
  expect(problemsOf({ PAYMENTS_BASE_URL: '' })).toEqual([
    'PAYMENTS_API_KEY is set without PAYMENTS_BASE_URL: webhooks are applied, but nothing is reconciled',
  ]);
  expect(problemsOf({ PAYMENTS_API_KEY: undefined })).toEqual([]);
  // The sandbox alone has a key, and no ledger.
  expect(problemsOf({ PAYMENTS_BASE_URL: '' }, ['sandbox'])).toEqual([]);
});

test('a process logs its own ports only', () => {
  const env = { ADMIN_HOST: '0.0.0.0', METRICS_HOST: '0.0.0.0' };
  expect(problemsOf(env, ['receiver'])).toEqual(['METRICS_HOST opens the health port at 0.0.0.0']);
  expect(problemsOf(env, ['sandbox'])).toEqual([]);
});

test('they are logged before anything else, so also by a process that fails to start', async () => {
  const lines: string[] = [];
  const log = createLog('warn', (line) => lines.push(line));
  // Nothing listens at this port.
  const settings = { DATABASE_URL: 'postgres://shop@127.0.0.1:9/shop', ADMIN_HOST: '0.0.0.0' };
  const config = loadConfig({ ...SAFE, ...settings });
  const starting = start(config, new Set(['console']), { machine: systemClock, log });
  await expect(starting).rejects.toThrow();
  expect(lines[0]).toContain('ADMIN_HOST opens the admin port at 0.0.0.0');
});
