/** Alerts on the command line. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { syncAlerts } from '../../src/alerts/syncAlerts.ts';
import { alertOf } from '../support/alerts.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { type Exit, settingsFor } from '../support/program.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const run = (...args: readonly string[]): Promise<Exit> =>
  runTallyhook(['alerts', ...args], { env: settingsFor(db.url) });

interface Shown {
  readonly number: number;
  readonly state: string;
  readonly subject: string;
}

async function list(...args: readonly string[]): Promise<readonly Shown[]> {
  const exit = await run('list', '--json', ...args);
  expect(exit).toMatchObject({ code: 0, stderr: '' });
  return (JSON.parse(exit.stdout) as { alerts: Shown[] }).alerts;
}

/** Raises an alert about a new subject. @returns its number */
async function raise(severity: 'info' | 'warning' | 'critical' = 'warning'): Promise<string> {
  const subject = `payment:${unique('pay')}`;
  const alert = alertOf({ rule: 'over_capture', subject, severity, paymentId: 'pay_1' });
  await db.transaction((tx) =>
    syncAlerts(tx, [{ subject, rules: ['over_capture'], active: [alert] }]),
  );
  const rows = await db.query<{ id: number }>('select id from alerts where subject = $1', [
    subject,
  ]);
  return String(rows[0]?.id);
}

async function resolve(number: string): Promise<void> {
  const [row] = await db.query<{ subject: string }>('select subject from alerts where id = $1', [
    number,
  ]);
  const subject = row?.subject ?? '';
  await db.transaction((tx) => syncAlerts(tx, [{ subject, rules: ['over_capture'], active: [] }]));
}

test('the list shows unresolved alerts, all alerts with --all, and only those that match the filters', async () => {
  const [open, grave, over] = [await raise(), await raise('critical'), await raise()];
  await resolve(over);
  const numbers = async (...args: readonly string[]) =>
    (await list(...args)).map(({ number }) => String(number));
  expect(await numbers()).toEqual([grave, open]);
  expect(await numbers('--all')).toEqual([over, grave, open]);
  expect(await numbers('--severity', 'critical')).toEqual([grave]);
  expect(await numbers('--rule', 'webhooks_stopped')).toEqual([]);
  const text = await run('list');
  expect(text.stdout).toContain('needs attention.');
});

test('one alert is shown with its sentence and the next step', async () => {
  const number = await raise();
  const { code, stdout } = await run('show', number);
  expect(code).toBe(0);
  expect(stdout).toContain('over_capture (warning, open) about payment:');
  expect(stdout).toContain('Next: npx tallyhook alerts list');
  expect(stdout).toContain('Payment: pay_1');
});

test('an alert is acknowledged once, with a name and a reason', async () => {
  const number = await raise();
  const exit = await run('ack', number, '--reason', 'called the bank', '--by', 'ada');
  expect(exit).toMatchObject({ code: 0, stdout: `Alert ${number} is acknowledged by ada.\n` });
  const shown = await run('show', number);
  expect(shown.stdout).toMatch(/Acknowledged by ada, .* UTC: called the bank/);
  const again = await run('ack', number, '--reason', 'me too', '--by', 'bob');
  expect(again.code).toBe(4);
  expect(again.stderr).toContain(`Alert ${number} is already acknowledged by ada`);
});

test('an alert is snoozed for a number of hours', async () => {
  const number = await raise();
  const exit = await run('snooze', number, '--for', '4h', '--by', 'ada', '--json');
  expect(exit.code).toBe(0);
  const { snoozed } = JSON.parse(exit.stdout) as { snoozed: { until: string } };
  const hours = (Date.parse(snoozed.until) - Date.now()) / 3_600_000;
  expect(hours).toBeGreaterThan(3.9);
  expect(hours).toBeLessThan(4.1);
  expect((await run('list')).stdout).toContain('open, snoozed');
});

test('an alert is assigned, and shows to whom and why', async () => {
  const number = await raise();
  const args = ['--to', 'bob', '--reason', 'knows the bank', '--by', 'ada'];
  const exit = await run('assign', number, ...args);
  expect(exit).toMatchObject({ code: 0, stdout: `Alert ${number} is assigned to bob.\n` });
  expect((await run('show', number)).stdout).toMatch(/Assigned to bob by ada, .*: knows the bank/);
  const both = await run('assign', number, '--nobody', '--to', 'bob', '--reason', 'x');
  expect(both.stderr).toContain('Name one person');
});

describe('an invalid request is rejected with a message', () => {
  test.each([
    ['an alert that is not there', ['show', '999999'], 'There is no alert 999999'],
    ['one to acknowledge', ['ack', '999999', '--reason', 'x'], 'There is no alert 999999'],
    ['one to snooze', ['snooze', '999999', '--for', '1h'], 'There is no alert 999999'],
    [
      'one to assign',
      ['assign', '999999', '--to', 'ada', '--reason', 'x'],
      'There is no alert 999999',
    ],
    ['no reason', ['ack', '1'], "required option '--reason <text>'"],
    ['an empty reason', ['ack', '1', '--reason', ' '], 'Give a reason'],
    ['a number that is none', ['show', 'x'], 'Give the number of an alert'],
    ['a time that is none', ['snooze', '1', '--for', '4'], 'Give minutes, hours or days'],
    ['a time that is too long', ['snooze', '1', '--for', '31d'], '30d at most'],
  ])('%s', async (_name, args, message) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(message.startsWith('There is no') ? 3 : 2);
    expect(stderr).toContain(message);
  });

  test('an alert that is resolved', async () => {
    const number = await raise();
    await resolve(number);
    for (const args of [
      ['ack', number, '--reason', 'x'],
      ['snooze', number, '--for', '1h'],
    ]) {
      const { code, stderr } = await run(...args);
      expect(code).toBe(4);
      expect(stderr).toContain(`Alert ${number} was resolved`);
    }
  });
});
