/** Accepting findings, and pausing reconciliation. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { isPaused } from '../../src/reconcile/store/pauses.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { paymentEvent } from '../support/payments.ts';
import { type Exit, settingsFor } from '../support/program.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const run = (...args: readonly string[]): Promise<Exit> =>
  runTallyhook(args, { env: settingsFor(db.url) });

/** A database of its own, and commands for it. */
async function installation() {
  const other = await createTestDatabase();
  onTestFinished(() => other.drop());
  const env = settingsFor(other.url);
  return { db: other, run: (...args: readonly string[]) => runTallyhook(args, { env }) };
}

interface Finding {
  readonly number: number;
  readonly class: string;
  readonly state: string;
  readonly accepted: { readonly by: string; readonly reason: string } | null;
}

async function list(...args: readonly string[]): Promise<readonly Finding[]> {
  const exit = await run('findings', 'list', '--json', ...args);
  expect(exit).toMatchObject({ code: 0, stderr: '' });
  return (JSON.parse(exit.stdout) as { findings: Finding[] }).findings;
}

/** Applies a payment with more captured than its amount. */
async function overCapture(id: string, capturedMinor: number): Promise<void> {
  const body = paymentEvent({
    payment_id: id,
    amount: 1000,
    amount_received: capturedMinor,
    modified_at: new Date(Date.UTC(2026, 0, 1) + capturedMinor).toISOString(),
  });
  await applyEach(db, testApplier(db), [body]);
}

describe('a finding', () => {
  test('is no longer open once it is accepted, with a name and reason, and is open again when it grows', async () => {
    const id = unique('pay');
    const subject = ['--subject', `payment:${id}`];
    await overCapture(id, 1500);
    const [finding] = await list(...subject);
    expect(finding).toMatchObject({ class: 'over_capture', state: 'open', accepted: null });
    const number = String(finding?.number);

    const exit = await run('findings', 'accept', number, '--reason', 'a tip', '--by', 'ada');
    expect(exit).toMatchObject({ code: 0, stdout: `Finding ${number} is accepted by ada.\n` });
    expect(await list(...subject)).toEqual([]);
    expect(await list('--state', 'accepted', ...subject)).toMatchObject([
      { state: 'accepted', accepted: { by: 'ada', reason: 'a tip' } },
    ]);

    // The same difference is observed again.
    await db.query(`update resources set open_findings = '{}' where id = $1`, [id]);
    await overCapture(id, 1500);
    expect(await list(...subject)).toEqual([]);
    // The larger difference was not accepted.
    await overCapture(id, 1800);
    expect(await list(...subject)).toMatchObject([{ number: finding?.number, accepted: null }]);
  });

  test('closes by itself after it was accepted, and still shows who accepted it', async () => {
    const id = unique('pay');
    await overCapture(id, 1500);
    const [finding] = await list('--subject', `payment:${id}`);
    await run('findings', 'accept', String(finding?.number), '--reason', 'known', '--by', 'ada');
    const raised = paymentEvent({
      payment_id: id,
      amount: 1500,
      amount_received: 1500,
      modified_at: '2026-02-01T00:00:00Z',
    });
    await applyEach(db, testApplier(db), [raised]);
    expect(await list('--state', 'closed', '--subject', `payment:${id}`)).toMatchObject([
      { state: 'closed', accepted: { by: 'ada' } },
    ]);
    const again = await run('findings', 'accept', String(finding?.number), '--reason', 'x');
    expect(again).toMatchObject({ code: 4, stdout: '' });
    expect(again.stderr).toMatch(/is already closed/);
  });

  test('is accepted once, by its number, and for a reason', async () => {
    const id = unique('pay');
    await overCapture(id, 1500);
    const [finding] = await list('--subject', `payment:${id}`);
    const number = String(finding?.number);
    expect((await run('findings', 'accept', number)).stderr).toMatch(/--reason/);
    expect((await run('findings', 'accept', number, '--reason', ' ')).stderr).toMatch(
      /Give a reason/,
    );
    expect((await run('findings', 'accept', number, '--reason', 'known')).code).toBe(0);
    expect((await run('findings', 'accept', number, '--reason', 'other')).stderr).toMatch(
      /is already accepted/,
    );
    expect((await run('findings', 'accept', '99999999', '--reason', 'x')).stderr).toMatch(
      /no finding 99999999/,
    );
    const others = [unique('pay'), unique('pay')];
    for (const other of others) await overCapture(other, 1500);
    const numbers = await Promise.all(
      others.map(async (other) => (await list('--subject', `payment:${other}`))[0]?.number ?? 0),
    );
    const several = [...numbers.map(String), '99999999'];
    const exit = await run('findings', 'accept', ...several, '--reason', 'known', '--json');
    expect(exit.code).toBe(4);
    expect(JSON.parse(exit.stdout)).toMatchObject({
      accepted: numbers,
      refused: [{ number: 99_999_999, reason: 'There is no finding 99999999.' }],
    });
    // The user who runs the command is recorded by default.
    const [accepted] = await list('--state', 'accepted', '--subject', `payment:${id}`);
    expect(accepted?.accepted?.by).not.toBe('');
  });

  test('is accepted with all others of its class', async () => {
    const { db: other, run: runThere } = await installation();
    // More than the command reads at once.
    await other.query(
      `insert into findings (class, subject, detail)
       select 'event_id_reused', 'event:' || n, '{}'::jsonb from generate_series(1, 1001) n
       union all select 'unreadable_event', 'event:1', '{}'::jsonb`,
    );
    const all = ['findings', 'accept', '--class', 'event_id_reused', '--reason', 'a flood'];
    const prompted = await runThere(...all);
    expect(prompted).toMatchObject({ code: 4, stdout: '' });
    expect(prompted.stderr).toMatch(/Accept 1001 findings\? There is no terminal.*--yes/);

    const exit = await runThere(...all, '--yes', '--json');
    expect(exit.code).toBe(0);
    expect(JSON.parse(exit.stdout)).toMatchObject({ accepted: { length: 1001 }, refused: [] });
    expect(
      await other.query(
        'select class, accepted_at is not null as accepted, count(*) from findings group by 1, 2 order by 1',
      ),
    ).toEqual([
      { class: 'event_id_reused', accepted: true, count: 1001 },
      { class: 'unreadable_event', accepted: false, count: 1 },
    ]);
    expect(await runThere(...all, '--yes')).toMatchObject({ code: 3 });
    expect(await runThere(...all, '--yes', '1')).toMatchObject({ code: 2 });
    expect(await runThere('findings', 'accept', '--reason', 'x')).toMatchObject({ code: 2 });
  });
});

describe('the pause', () => {
  test('begins and ends once each, and shows who did it', async () => {
    expect(await isPaused(db)).toBe(false);
    expect((await run('resume')).stderr).toMatch(/is not paused/);
    expect((await run('pause', '--reason', 'the bank is down', '--by', 'ada')).code).toBe(0);
    expect(await isPaused(db)).toBe(true);
    const again = await run('pause', '--reason', 'x');
    expect(again).toMatchObject({ code: 4, stdout: '' });
    expect(again.stderr).toMatch(/already paused by ada since .*: the bank is down/);
    expect((await run('resume', '--by', 'bob', '--json')).stdout).toContain('"by": "bob"');
    expect(await isPaused(db)).toBe(false);
    expect(await db.query('select paused_by, reason, resumed_by from reconcile_pauses')).toEqual([
      { paused_by: 'ada', reason: 'the bank is down', resumed_by: 'bob' },
    ]);
  });
});
