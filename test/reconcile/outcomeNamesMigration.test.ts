/** The migration that renames outcomes, applied to rows of the previous version. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

/** Restores the names of the previous version. */
const BEFORE = `
  alter table reconcile_runs rename column repaired to healed;
  alter table awaited_webhooks rename column repaired_at to healed_at;
  alter table messages drop constraint messages_state_check;
  alter table messages add constraint messages_state_check
    check (state in ('due', 'delivered', 'given_up'));`;

test('stored differences and messages get the new names, and subjects stay as they are', async () => {
  await db.query(BEFORE);
  const subject = 'payment:"outcome": "left"';
  const differences = ['healed', 'left', 'would_heal', 'accepted'].map((outcome) => ({
    class: 'stale_local',
    subject,
    outcome,
  }));
  await db.query(
    `insert into reconcile_runs (stream, mode, cause, is_dry_run, state, from_at, to_at,
                                 position_at, finished_at, found, healed, differences)
     select 'payments', 'full', 'operator', false, 'done', now(), now(), now(), now(), 3, 1, d
       from unnest(array[$1::jsonb, '[]']) as d`,
    [JSON.stringify(differences)],
  );
  await db.query(
    `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
     values ('msg_1', 'log', 'alert', '{}', 'given_up', now(), now(), now()),
            ('msg_2', 'log', 'alert', '{}', 'due', now(), now(), null)`,
  );

  await db.transaction((tx) =>
    tx.query(readFileSync(join(packageRoot(), 'migrations/00032_outcome-names.sql'), 'utf8')),
  );

  const renamed = ['repaired', 'remaining', 'would_repair', 'accepted'];
  expect(await db.query('select repaired, differences from reconcile_runs order by id')).toEqual([
    {
      repaired: 1,
      differences: renamed.map((outcome) => ({ class: 'stale_local', subject, outcome })),
    },
    { repaired: 1, differences: [] },
  ]);
  expect(await db.query('select state from messages order by id')).toEqual([
    { state: 'failed' },
    { state: 'due' },
  ]);
});
