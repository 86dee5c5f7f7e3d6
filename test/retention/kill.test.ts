/**
 * Retention that is killed at random moments. Each step is one transaction, so what is gone is counted, and
 * the next run continues.
 */
import { stdout } from 'node:process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { KILLS } from '../support/kills.ts';
import { type Program, settingsFor, spawnProgram } from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { waitFor } from '../support/waitFor.ts';

const ROWS = 1_500 * KILLS;

let db: TestDatabase;
let running: Program | undefined;

beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  running?.kill('SIGKILL');
  await running?.exit;
  await db.drop();
});

/** As many old rows of each of three classes; the newest of each stays. */
async function fill(): Promise<void> {
  await db.query(
    `insert into body_days (day, state, removed_at) values ('2020-01-01', 'removed', now())`,
  );
  await db.query(
    `insert into webhook_events (event_id, merchant_id, event_type, body_day, body_bytes, body_sha256,
                                 received_at)
     select 'evt_' || n, 'mer', 'payment_succeeded', '2020-01-01', 1, sha256(n::text::bytea),
            now() - case when n <= $1 then interval '401 days' else interval '1 day' end
       from generate_series(1, $1 + 1) as n`,
    [ROWS],
  );
  await db.query(
    `insert into changes (number, kind, id, change, changed_at)
     select n, 'payment', 'pay_' || n, 'details', now() - interval '91 days'
       from generate_series(1, $1 + 1) as n`,
    [ROWS],
  );
  await db.query(
    `insert into findings (class, subject, detail, state, opened_at, closed_at)
     select 'orphan', 'payment:' || n, '{}', 'closed', now() - interval '500 days',
            now() - case when n <= $1 then interval '401 days' else interval '1 day' end
       from generate_series(1, $1 + 1) as n`,
    [ROWS],
  );
}

interface Facts {
  readonly events: number;
  readonly changes: number;
  readonly findings: number;
  readonly digests: number;
  /** By class, as recorded. */
  readonly removed: Readonly<Record<string, number>>;
}

async function readFacts(): Promise<Facts> {
  const [facts] = await db.query<Facts>(
    `select (select count(*) from webhook_events) as events,
            (select count(*) from changes) as changes,
            (select count(*) from findings) as findings,
            (select count(*) from removed_events) as digests,
            (select coalesce(jsonb_object_agg(class, removed_rows), '{}') from retention_state) as removed`,
  );
  if (!facts) throw new Error('there is always a row');
  return facts;
}

/** What is gone is counted, and the digest of each event is there. */
function expectConsistent({ events, changes, findings, digests, removed }: Facts): void {
  const gone = (left: number) => ROWS + 1 - left;
  expect({ events: gone(events), changes: gone(changes), findings: gone(findings) }).toEqual({
    events: removed.events ?? 0,
    changes: removed.changes ?? 0,
    findings: removed.findings ?? 0,
  });
  expect(digests).toBe(gone(events));
}

/** By what is left, not by what is recorded: a run may be killed between the two. */
async function removedRows(): Promise<number> {
  const { events, changes, findings } = await readFacts();
  return 3 * (ROWS + 1) - events - changes - findings;
}

function start(): Program {
  running = spawnProgram('bin/tallyhook.js', ['retention', 'run'], { env: settingsFor(db.url) });
  return running;
}

test(`a run that is killed ${KILLS} times leaves nothing half done, and the next one continues`, async () => {
  const seed = testSeed();
  stdout.write(`retention is killed with seed ${seed}; TEST_SEED=${seed} repeats it\n`);
  const random = seededRandom(seed);
  await fill();
  // Most of what a run removes before it is killed, so that the last one has something left.
  const most = (3 * ROWS) / (KILLS + 5);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const enough = (await removedRows()) + Math.floor(random() * most);
    const program = start();
    await waitFor('the run to have removed enough', async () => (await removedRows()) > enough);
    program.kill('SIGKILL');
    expect(await program.exit).toMatchObject({ signal: 'SIGKILL' });
    expectConsistent(await readFacts());
  }
  expect(await start().exit).toMatchObject({ code: 0 });
  const facts = await readFacts();
  expectConsistent(facts);
  expect(facts).toMatchObject({ events: 1, changes: 1, findings: 1 });
  const open = await db.query(`select result from audit where action = 'retention.run'`);
  expect(open).toHaveLength(KILLS + 2);
});
