/** Every list of the command line can be read to its end, however small the pages. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertToken } from '../../src/access/store/tokens.ts';
import { readInterruptedAttempts } from '../../src/audit/interrupted.ts';
import { judgeOpenAttempts, MOST_ATTEMPTS_NAMED } from '../../src/doctor/domain/judge.ts';
import { MAX_EVENT_FINDINGS, MAX_EVENT_VARIANTS } from '../../src/ledger/read/eventDetail.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { paymentEvent } from '../support/payments.ts';
import { type Exit, settingsFor } from '../support/program.ts';

const ROWS = 3;

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await fill();
});
afterAll(() => db.drop());

/** At least `ROWS` rows of every list. */
async function fill(): Promise<void> {
  const times = Array.from({ length: ROWS }, (_, nth) => nth);
  const applier = testApplier(db);
  for (const _ of times) {
    const held = { payment_id: unique('pay'), status: 'requires_capture', amount_received: 0 };
    await applyEach(db, applier, [
      paymentEvent({ orderId: unique('ord'), amount: 1000, amount_received: 1500 }),
      paymentEvent({ ...held, amount: 1000, amount_capturable: 1000 }),
    ]);
    await insertToken(db, {
      name: unique('token'),
      role: 'viewer',
      digest: Buffer.from(unique('digest').padEnd(32, '-').slice(0, 32)),
      createdBy: 'ada',
      expiresInMs: undefined,
    });
  }
  await db.query(
    `insert into console_sessions (digest, token_digest, holder, started_at, last_seen_at, expires_at)
     select sha256(n::text::bytea), sha256('token'), 'ada', now(), now(), now() + interval '1 day'
       from generate_series(1, $1::integer) as n`,
    [ROWS],
  );
  await db.query(
    `insert into authorization_watch (payment_id, start_at, deadline_at, next_check_at)
     select id, '2026-11-01', '2026-11-08', '2026-11-08' from resources
      where status = 'requires_capture'`,
  );
  await db.query(
    `insert into erasures (subjects, reason, requested_by)
     select '{order:1}', 'a request', 'ada' from generate_series(1, $1::integer)`,
    [ROWS],
  );
  await db.query(
    `insert into audit (actor_kind, actor_name, actor_role, actor_origin, action, subject_kind, subject_id, result)
     select 'cli', 'ada', 'admin', 'ada@host', 'event.replay', 'event', n::text, 'done'
       from generate_series(1, $1::integer) as n`,
    [ROWS],
  );
  // One transaction: they have the same time, to the microsecond.
  await db.query(
    `insert into archived_batches (name, class, rows, removed, files, bytes, manifest_sha256)
     select 'messages/' || n, 'messages', 1, 1, 1, 1, sha256('x') from generate_series(1, $1::integer) as n`,
    [ROWS],
  );
}

const run = (...args: readonly string[]): Promise<Exit> =>
  runTallyhook(args, { env: settingsFor(db.url) });

type Page = Readonly<Record<string, readonly unknown[]>> & { readonly next_cursor: string | null };

async function pageOf(...args: readonly string[]): Promise<Page> {
  const exit = await run(...args, '--json');
  expect(exit, exit.stderr).toMatchObject({ code: 0 });
  return JSON.parse(exit.stdout) as Page;
}

test.each([
  ['alerts list', 'alerts'],
  ['archive list --class messages', 'batches'],
  ['audit list', 'entries'],
  ['authorizations list', 'authorizations'],
  ['erasures list', 'erasures'],
  ['events list', 'events'],
  ['events list --state applied', 'events'],
  ['findings list', 'findings'],
  ['sessions list', 'sessions'],
  ['tokens list', 'tokens'],
])(
  '%s returns every row once, and where a page is cut, the command that goes on',
  async (command, name) => {
    const words = command.split(' ');
    const all = await pageOf(...words, '--limit', '1000');
    expect(all).toMatchObject({ next_cursor: null });
    const rows = all[name] ?? [];
    expect(rows.length).toBeGreaterThanOrEqual(ROWS);

    const paged: unknown[] = [];
    let cursor: readonly string[] = [];
    do {
      const page = await pageOf(...words, '--limit', '2', ...cursor);
      paged.push(...(page[name] ?? []));
      cursor = page.next_cursor === null ? [] : ['--cursor', page.next_cursor];
    } while (cursor.length > 0 && paged.length <= rows.length);
    expect(paged).toEqual(rows);

    const cut = await run(...words, '--limit', '1');
    expect(cut.stderr).toMatch(
      /^There are more\. Continue with `npx tallyhook .*--cursor \S+`\.\n$/,
    );
    const [, rest = ''] = /`npx tallyhook (.*)`/.exec(cut.stderr) ?? [];
    const next = await run(...rest.split(' '));
    expect(next).toMatchObject({ code: 0 });
    expect(next.stdout).not.toBe(cut.stdout);
    expect((await run(...words, '--limit', '1000')).stderr).toBe('');
  },
);

/** More than a page that is read at once. */
const MANY = 1_001;

test('an event with many findings and bodies shows that, and the commands that print all of them', async () => {
  const [number = 0] = await receive(db, [eventBody(paymentObject())]);
  const extra = { findings: MAX_EVENT_FINDINGS + 1, variants: MAX_EVENT_VARIANTS + 2 };
  await db.query(
    `insert into findings (class, subject, state, detail, closed_at)
     select 'over_capture', 'event:' || $1::bigint, 'closed', '{}', statement_timestamp()
       from generate_series(1, $2::integer)`,
    [number, extra.findings],
  );
  // Some of them at the same time, to the microsecond.
  await db.query(
    `insert into event_variants (webhook_event_id, body, body_sha256, received_at)
     select $1::bigint, convert_to('body ' || n, 'UTF8'), sha256(convert_to('body ' || n, 'UTF8')),
            statement_timestamp() + n / 3 * interval '1 microsecond'
       from generate_series(1, $2::integer) as n`,
    [number, extra.variants],
  );
  const id = String(number);
  const shown = await run('events', 'show', id);
  expect(shown.stdout).toContain(
    `\`npx tallyhook findings list --subject event:${id} --state any\``,
  );
  expect(shown.stdout).toContain(`\`npx tallyhook events variants ${id}\``);
  expect(shown.stdout.match(/^Finding /gm)).toHaveLength(MAX_EVENT_FINDINGS);
  expect(shown.stdout.match(/^Another body /gm)).toHaveLength(MAX_EVENT_VARIANTS);
  expect(await pageOf('events', 'show', id)).toMatchObject({
    findings_complete: false,
    variants_complete: false,
  });

  const bodies: unknown[] = [];
  let cursor: readonly string[] = [];
  do {
    const page = await pageOf('events', 'variants', id, '--limit', '7', ...cursor);
    bodies.push(...(page.variants ?? []).map((one) => (one as { body: string }).body));
    cursor = page.next_cursor === null ? [] : ['--cursor', page.next_cursor];
  } while (cursor.length > 0 && bodies.length <= extra.variants);
  const all = Array.from({ length: extra.variants }, (_, nth) => `body ${nth + 1}`);
  expect(bodies.toSorted()).toEqual(all.toSorted());

  const [few = 0] = await receive(db, [eventBody(paymentObject())]);
  expect(await pageOf('events', 'show', String(few))).toMatchObject({
    findings_complete: true,
    variants_complete: true,
  });
});

test('a reference finds all of its payouts', async () => {
  const reference = unique('batch');
  await db.query(
    `insert into resources
     select (jsonb_populate_record(r, jsonb_build_object(
              'kind', 'payout', 'id', $1 || '_' || n, 'reference', $1, 'order_key', null,
              'payment_id', null, 'posts', false))).*
       from resources r,
            generate_series(1, $2::integer) as n
      where r.kind = 'payment' and r.id = (select min(id) from resources where kind = 'payment')`,
    [reference, MANY],
  );
  const { matches = [] } = await pageOf('find', reference);
  expect(new Set(matches.map((match) => (match as { id: string }).id)).size).toBe(MANY);
});

test('replay --dead replays all dead events, with one entry in the audit log and each event in its steps', async () => {
  const bodies = Array.from({ length: MANY }, () => eventBody(paymentObject()));
  const numbers = await receive(db, bodies);
  await db.query(
    `with removed as (
       delete from pending where webhook_event_id = any ($1::bigint[]) returning webhook_event_id
     )
     insert into dead_events (webhook_event_id, attempts, error)
     select webhook_event_id, 5, 'a test' from removed`,
    [numbers],
  );
  const { replayed = [] } = await pageOf('events', 'replay', '--dead');
  expect(new Set(replayed)).toEqual(new Set(numbers));
  expect(await db.query('select webhook_event_id from dead_events')).toEqual([]);
  const entries = await db.query(
    `select action, subject_kind as kind, subject_id as id, reason, detail -> 'planned' as planned
       from audit
      where action = 'replay.start'
         or action = 'event.replay' and subject_id = any ($1::text[])`,
    [numbers.map(String)],
  );
  expect(entries).toEqual([
    { action: 'replay.start', kind: 'replay', id: '1', reason: 'all dead events', planned: MANY },
  ]);
  const { events = [] } = await pageOf('events', 'list', '--replay', '1', '--limit', '100');
  expect(events.length).toBeGreaterThan(0);
  for (const event of events) expect(numbers).toContain((event as { number: number }).number);
  expect(await pageOf('events', 'replay', '--dead')).toMatchObject({ replayed: [], replay: null });
});

test('an installation with many open attempts shows that there are more', async () => {
  await db.query(
    `insert into audit (recorded_at, actor_kind, actor_name, actor_role, actor_origin, action,
                        subject_kind, subject_id, result)
     select statement_timestamp() - interval '1 hour', 'cli', 'ada', 'admin', 'ada@host',
            'authorization.capture', 'payment', 'pay_' || n, 'requested'
       from generate_series(1, $1::integer) as n`,
    [MOST_ATTEMPTS_NAMED + 1],
  );
  const judged = judgeOpenAttempts(await readInterruptedAttempts(db, MOST_ATTEMPTS_NAMED + 1));
  expect(judged.result).toMatch(/attempt \d+\); and more, which npx tallyhook audit list --open/);
  expect(judged.result.match(/\(attempt /g)).toHaveLength(MOST_ATTEMPTS_NAMED);
  const few = judgeOpenAttempts(await readInterruptedAttempts(db, MOST_ATTEMPTS_NAMED));
  expect(few.result).not.toMatch(/and more/);
});

test('an installation names interrupted submissions and files of evidence, with what to do', async () => {
  await db.query(
    `insert into audit (recorded_at, actor_kind, actor_name, actor_role, actor_origin, action,
                        subject_kind, subject_id, result)
     select statement_timestamp() - interval '2 hours', 'cli', 'ada', 'admin', 'ada@host', action,
            'dispute', 'dp_left', 'requested'
       from unnest('{dispute.evidence,dispute.upload}'::text[]) as action`,
  );
  // Those of another test are older, and are named first.
  const attempts = await readInterruptedAttempts(db, 100);
  const judged = judgeOpenAttempts(attempts.filter(({ subjectId }) => subjectId === 'dp_left'));
  expect(judged.state).toBe('warning');
  expect(judged.result).toMatch(/dispute\.evidence of dp_left by ada at .*\(attempt \d+\)/);
  expect(judged.result).toMatch(/dispute\.upload of dp_left by ada/);
  expect(judged).toMatchObject({
    remedy: expect.stringContaining('npx tallyhook disputes evidence with the id of the dispute'),
  });
  const ofMoney = attempts.filter(({ action }) => action === 'authorization.capture');
  expect(JSON.stringify(judgeOpenAttempts(ofMoney))).not.toContain('evidence');
});
