/** A scheduler process that is killed during a run. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TIMES } from '../../src/scheduler/scheduler.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Program, settingsFor, spawnProgram } from '../support/program.ts';
import { waitFor } from '../support/waitFor.ts';

/** Its run is blocked by a lock on its table. */
const SCHEDULE = 'deadlines';

let db: TestDatabase;
const programs: Program[] = [];

beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.kill('SIGKILL');
    await program.exit;
  }
  await db.drop();
});

function startScheduler(): Program {
  const program = spawnProgram('bin/tallyhook.js', ['start', '--roles', 'scheduler'], {
    env: settingsFor(db.url),
  });
  programs.push(program);
  return program;
}

async function readSlot() {
  const rows = await db.query<{ holder: string; isFinished: boolean; leaseLeftMs: number }>(
    `select holder, finished_at is not null as "isFinished",
            (extract(epoch from lease_until - statement_timestamp()) * 1000)::float8 as "leaseLeftMs"
       from schedule_slots where schedule = $1`,
    [SCHEDULE],
  );
  return rows[0];
}

test('a restarted scheduler takes over the run of a killed one within a minute', async () => {
  await db.transaction(async (tx) => {
    await tx.query('lock table alert_deadlines in access exclusive mode');
    const killed = startScheduler();
    await waitFor('the run to begin', async () => (await readSlot())?.isFinished === false);
    killed.kill('SIGKILL');
    await killed.exit;
  });
  const left = await readSlot();
  expect(left).toMatchObject({ isFinished: false });
  // At most a minute: the remaining lease, and the time until the next check for expired leases.
  expect((left?.leaseLeftMs ?? Number.NaN) + TIMES.catchUpEveryMs).toBeLessThanOrEqual(45_000);

  await db.query(
    `update schedule_slots set lease_until = statement_timestamp() where schedule = $1`,
    [SCHEDULE],
  );
  startScheduler();
  await waitFor('the takeover', async () => {
    const slot = await readSlot();
    return slot?.isFinished === true && slot.holder !== left?.holder;
  });
});
