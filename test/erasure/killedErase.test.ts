/**
 * kill -9 of a process that erases, at random statements: the next process continues the request, and at the
 * end nothing of the people is left and the ledger is the same. TEST_SEED repeats a run.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { requestErasureAs } from '../../src/actions/eraseData.ts';
import type { Actor } from '../../src/audit/domain/actor.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { MERCHANT_ID } from '../support/events.ts';
import { KILLS } from '../support/kills.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { createPeople, digestLedger, findWordSets, type TestPerson } from '../support/people.ts';
import { type Program, spawnProgram } from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { waitFor } from '../support/waitFor.ts';

const SEED = testSeed();
const PEOPLE_IN_A_REQUEST = 5;
/** For a few more requests than kills: not every process meets its moment. */
const PEOPLE = 8 * PEOPLE_IN_A_REQUEST + 13 * KILLS;
const ADA: Actor = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@test' };

let db: TestDatabase;
const programs = new Set<Program>();
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  for (const program of programs) {
    program.kill('SIGKILL');
    await program.exit;
  }
  programs.clear();
  await db.drop();
});

/** What a process does: it ends by itself, or kills itself at one of its statements. */
interface Moment {
  readonly counted: 'statements' | 'writes';
  readonly number: number;
  readonly moment: 'before' | 'after';
}

const NEVER: Moment = { counted: 'statements', number: 0, moment: 'after' };

function startEraser({ counted, number, moment }: Moment): Program {
  const args = [db.url, counted, String(number), moment];
  const program = spawnProgram('test/support/eraser.mjs', args);
  programs.add(program);
  return program;
}

/** Lets a process work until it ends. @returns whether it was killed */
async function work(program: Program): Promise<boolean> {
  await waitFor('the process to be ready', () => program.stdout().includes('ready'));
  program.kill('SIGUSR2');
  const { code, signal, stderr } = await program.exit;
  programs.delete(program);
  if (signal === null) expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  await waitFor('its transactions to end', async () => {
    const [row] = await db.query<{ open: number }>(
      `select count(*) as open from pg_stat_activity
        where datname = current_database() and application_name = 'eraser'`,
    );
    return row?.open === 0;
  });
  return signal === 'SIGKILL';
}

/** Ends the claims of dead processes, as a minute does. @returns whether a request is not done */
async function endClaims(): Promise<boolean> {
  const left = await db.query(
    `update erasures set claimed_until = now() where state = 'running' returning id`,
  );
  return left.length > 0;
}

test(`${KILLS} kills of an erasure lose nothing and leave nothing (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const { people, bodies } = createPeople(PEOPLE, random);
  const applier = testApplier(db);
  for (let start = 0; start < bodies.length; start += 50) {
    await applier.applyBatch(await receive(db, bodies.slice(start, start + 50)));
  }
  await leaveNotes(people);
  const ledger = await digestLedger(db);
  const erased: TestPerson[] = [];
  const requestNext = async (): Promise<void> => {
    const some = people.slice(erased.length, erased.length + PEOPLE_IN_A_REQUEST);
    const subjects = some.map(({ customerId: id }) => ({ kind: 'customer', id }) as const);
    await requestErasureAs({ db }, ADA, { subjects, reason: 'a request' });
    erased.push(...some);
  };

  // The first request shows how many statements one needs.
  await requestNext();
  const first = startEraser(NEVER);
  expect(await work(first)).toBe(false);
  const { statements, writes } = JSON.parse(first.stdout().split('\n')[1] ?? '');
  // Most statements read. Kills at those that write meet each step of the erasure.
  const draw = (): Moment => {
    const counted = random() < 0.25 ? 'statements' : 'writes';
    const of = counted === 'writes' ? writes : statements;
    const moment = random() < 0.5 ? 'before' : 'after';
    return { counted, number: 1 + Math.floor(random() * of), moment };
  };

  let killed = 0;
  let isUnfinished = false;
  let next = startEraser(draw());
  while (killed < KILLS) {
    if (!isUnfinished) await requestNext();
    const program = next;
    next = startEraser(draw());
    if (await work(program)) killed += 1;
    isUnfinished = await endClaims();
  }
  expect(await work(startEraser(NEVER))).toBe(false);

  const requests = await db.query<{ state: string; remaining: number }>(
    'select distinct state, remaining from erasures',
  );
  expect(requests).toEqual([{ state: 'done', remaining: 0 }]);
  const wordsOf = (some: readonly TestPerson[]) => new Set(some.flatMap(({ words }) => words));
  const stayed = people.slice(erased.length);
  const [left = new Map(), kept = new Map()] = await findWordSets(db, [
    wordsOf(erased),
    wordsOf(stayed),
  ]);
  expect([...left]).toEqual([]);
  expect(kept.get('public.notes.body')).toBe(stayed.length);
  expect(await digestLedger(db)).toEqual(ledger);
  const report = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: true });
  expect(report.checks.flatMap(({ offenders }) => offenders)).toEqual([]);
});

/** A copy of each person's data that only a value of the person's bodies finds. */
async function leaveNotes(people: readonly TestPerson[]): Promise<void> {
  await db.query('create table notes (body text)');
  await db.query('insert into notes select unnest($1::text[])', [
    people.map(({ email }) => `mail to ${email}`),
  ]);
}
