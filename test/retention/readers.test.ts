/** What people and programs see of retention: the refusal of an old position, and the command. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi } from '../support/api.ts';
import { tallyhook as runCommand } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

let db: TestDatabase;
let running: TestTallyhook;
beforeAll(async () => {
  db = await createTestDatabase();
  running = await startTallyhook({ db, roles: ['console'] });
});
afterAll(async () => {
  await running.close();
  await db.drop();
});

test('a reader of removed changes gets 410 with the position from which to continue', async () => {
  await db.query(
    `insert into changes (number, kind, id, change, changed_at)
     select n, 'payment', 'pay_' || n, 'details', now() from generate_series(41, 43) as n`,
  );
  const api = createApi(running);
  for (const after of [0, 39]) {
    const { status, body } = await api.get(`/api/v1/changes?after=${after}`);
    expect(status).toBe(410);
    expect(body.error.message).toContain('Changes before 41 were removed');
    expect(body.error.message).toContain('continue from after=40');
  }
  const { status, body } = await api.get('/api/v1/changes?after=40');
  expect([status, body.changes.length, body.next_after]).toEqual([200, 3, 43]);
});

test('the command shows what a run would remove, removes it, and records who did it', async () => {
  await db.query(
    `insert into findings (class, subject, state, detail, opened_at, closed_at)
     values ('orphan', 'payment:2', 'closed', '{}', now() - interval '900 days', now() - interval '800 days')`,
  );
  const dry = await runCommand(db.url, 'retention', 'run', '--dry-run');
  expect(dry.code, dry.stderr).toBe(0);
  expect(dry.stdout).toMatch(/^findings +findings +400 +1 .* UTC +1 +0$/m);
  expect(dry.stdout).toMatch(/^bodies +webhook_bodies +90 /m);
  expect(dry.stdout).toMatch(/The next run is at \d{4}-\d\d-\d\d \d\d:23:00 UTC/);
  const done = await runCommand(db.url, 'retention', 'run', '--by', 'ada', '--json');
  expect(done.code, done.stderr).toBe(0);
  expect(JSON.parse(done.stdout).classes).toContainEqual({
    class: 'findings',
    removed_rows: 1,
    unit: 'rows',
    done: true,
  });
  const audit = await db.query(
    `select actor_name as name, result from audit where action = 'retention.run' order by id`,
  );
  expect(audit).toEqual([
    { name: 'ada', result: 'requested' },
    { name: 'ada', result: 'done' },
  ]);
});
