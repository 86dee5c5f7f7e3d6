/** The demo as README.md and first-hour.md have users run it: everything in one program, with no settings except free ports. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runTallyhook } from '../support/cli.ts';
import { checkOutput } from '../support/commandOutput.ts';
import { runTallyhookProcess, spawnProgram } from '../support/program.ts';
import { serverPort } from '../support/serverPort.ts';
import { waitFor } from '../support/waitFor.ts';

const folder = mkdtempSync(join(tmpdir(), 'tallyhook-demo-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = {
  DATA_DIR: join(folder, 'data'),
  HOST: '127.0.0.1',
  PORT: '0',
  ADMIN_PORT: '0',
  SANDBOX_PORT: '0',
};

interface Order {
  readonly outcome: string;
  readonly differences: readonly string[];
}

interface Report {
  readonly failures: readonly string[];
  readonly webhooks: { readonly lost: number; readonly duplicated: number };
  readonly after_webhooks: readonly Order[];
  readonly reconciliation: { readonly repaired: number; readonly failures: readonly string[] };
  readonly after_reconciliation: readonly Order[];
}

async function demo(...args: readonly string[]) {
  const { code, stdout, stderr } = await runTallyhookProcess(
    ['demo', '--once', '--json', ...args],
    {
      env,
    },
  );
  checkOutput(['demo', '--json'], { code, stdout });
  return { code, stderr, report: JSON.parse(stdout) as Report };
}

test('without lost webhooks every order equals the service, to the cent', async () => {
  const args = ['--orders', '15', '--seed', '11', '--loss', '0', '--duplicates', '0.5'];
  const { code, stderr, report } = await demo(...args);
  expect({ code, stderr, failures: report.failures }).toEqual({
    code: 0,
    stderr: '',
    failures: [],
  });
  expect(report.webhooks.lost).toBe(0);
  expect(report.webhooks.duplicated).toBeGreaterThan(0);
  expect(report.after_reconciliation).toHaveLength(15);
  expect(report.after_webhooks.filter(({ outcome }) => outcome !== 'equal')).toEqual([]);
  expect(report.reconciliation).toMatchObject({ found: 0, repaired: 0, failures: [] });
  expect(report.after_reconciliation).toEqual(report.after_webhooks);
});

test('with lost webhooks the report names them, nothing else differs, and reconciliation repairs every order', async () => {
  const { code, report } = await demo('--orders', '15', '--seed', '12', '--loss', '0.3');
  expect(report.webhooks.lost).toBeGreaterThan(0);
  const lost = report.after_webhooks.filter(({ outcome }) => outcome === 'lost');
  expect(lost.length).toBeGreaterThan(0);
  for (const { differences } of lost) expect(differences.length).toBeGreaterThan(0);
  expect(report.after_webhooks.filter(({ outcome }) => outcome === 'different')).toEqual([]);
  expect(report.reconciliation.failures).toEqual([]);
  expect(report.reconciliation.repaired).toBeGreaterThan(0);
  expect(report.after_reconciliation.filter(({ outcome }) => outcome !== 'equal')).toEqual([]);
  expect(code).toBe(0);
});

test('a seed that was used with this ledger is rejected, with what to do', async () => {
  const { code, stderr } = await runTallyhookProcess(['demo', '--once', '--seed', '11'], { env });
  expect(code).toBe(4);
  expect(stderr).toContain('Seed 11 was used on this ledger before');
  expect(stderr).toContain('--seed');
});

test('the demo ends with three commands that work, and the installation passes doctor', async () => {
  const here = { ...env, SANDBOX_PORT: String(await serverPort()) };
  const program = spawnProgram('bin/tallyhook.js', ['demo', '--orders', '5'], {
    env: here,
  });
  try {
    await waitFor('the report', () => program.stdout().includes('break something yourself'));
    const next = [...program.stdout().matchAll(/^ {2}npx tallyhook (.*?) +# /gm)];
    expect(next.map(([, command = '']) => command.replace(/demo-\d+-\d+/, 'ORDER'))).toEqual([
      'orders show ORDER',
      'orders explain ORDER',
      'status',
    ]);
    for (const [, command = ''] of next) {
      expect(await runTallyhook(command.split(' '), { env: here })).toMatchObject({ code: 0 });
    }
    const { code, stdout } = await runTallyhook(['doctor', '--json'], { env: here });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string }[] };
    expect(checks.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(checks).toContainEqual(
      expect.objectContaining({ result: expect.stringMatching(/clock was advanced by \d+ s/) }),
    );
    expect(code).toBe(0);
  } finally {
    program.kill('SIGTERM');
    await program.exit;
  }
});

test.each([
  ['DATABASE_URL', 'postgres://127.0.0.1:1/shop'],
  ['PAYMENTS_API_KEY', 'snd_real'],
])('with a configured database or service nothing is started: %s', async (name, value) => {
  const { code, stderr, stdout } = await runTallyhook(['demo', '--once'], {
    env: { ...env, [name]: value, PAYMENTS_MERCHANT_ID: 'merchant_real' },
  });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('The demo creates simulated payments');
  expect(stderr).toContain(name);
});
