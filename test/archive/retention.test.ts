/** What retention removes is in the archive, exactly; and nothing is removed that could not be archived. */
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eraseAs, planErasure } from '../../src/actions/eraseData.ts';
import { clearImportAs, importArchiveAs } from '../../src/actions/importArchive.ts';
import { createFolderTarget } from '../../src/archive/folderTarget.ts';
import { readArchivedClasses, readLatestBatches } from '../../src/archive/store/batches.ts';
import { writeTimesInUtc } from '../../src/archive/store/session.ts';
import { verifyArchive } from '../../src/archive/verifyArchive.ts';
import { withRemovalArchive } from '../../src/assembly/archive.ts';
import type { Actor } from '../../src/audit/domain/actor.ts';
import { searchAudit } from '../../src/audit/store/audit.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { removeOld } from '../../src/retention/removeOld.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import { DEFAULT_DAYS, noSleep } from '../support/retention.ts';

const ACTOR: Actor = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@host' };

let db: TestDatabase;
let folder: string;
beforeEach(async () => {
  db = await createTestDatabase();
  folder = mkdtempSync(join(memoryFolder(), 'tallyhook-archive-'));
});
afterEach(async () => {
  await db.drop();
  rmSync(folder, { recursive: true });
});

const runWith = (place: string) =>
  withRemovalArchive({ kind: 'folder', folder: place }, { db, clock: systemClock }, (archive) =>
    removeOld(
      { db, days: DEFAULT_DAYS, sleep: noSleep, machine: systemClock, ...archive },
      { longestMs: 60_000, signal: new AbortController().signal },
    ),
  );

/** Old rows of every class, with values that are easily damaged. */
async function fill(): Promise<void> {
  await db.query(
    `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
     select 'msg_' || n, 'log', 'alert', '{"text": "line\\u2028\\n\\"é\\" 😀", "amount": 9007199254740991}',
            'delivered', now(), '2020-01-01T00:00:00.123456Z', now() - interval '31 days'
       from generate_series(1, 700) as n`,
  );
  await db.query(
    `insert into alerts (rule, subject, severity, state, sentence, next_step, detail, opened_at, resolved_at)
     values ('backlog', 'system:1', 'warning', 'resolved', 'x', 'x', '{"amount_minor": 12345678901234}',
             now() - interval '900 days', now() - interval '401 days')`,
  );
  await db.query(
    `insert into findings (class, subject, state, detail, opened_at, closed_at)
     values ('orphan', 'payment:2', 'closed', '{}', now() - interval '900 days', now() - interval '800 days')`,
  );
  await db.query(
    `insert into reconcile_runs (stream, mode, cause, is_dry_run, state, from_at, to_at, position_at,
                                 started_at, finished_at)
     select 'payments', 'full', 'tail', false, 'done', now(), now(), now(),
            now() - interval '200 days', now() - interval '91 days'
       from generate_series(1, 2)`,
  );
  await db.query(
    `insert into changes (number, kind, id, change, changed_at)
     select n, 'payment', 'pay_' || n, 'status', now() - interval '91 days' from generate_series(1, 3) n`,
  );
  const [id] = await receive(db, [eventBody(paymentObject())]);
  await testApplier(db).applyBatch([id ?? 0]);
  await db.query(
    `insert into event_variants (webhook_event_id, body, body_sha256, received_at)
     values ($1, convert_to(repeat('another body ', 20), 'UTF8'), sha256('x'), now())`,
    [id],
  );
  await db.query(
    `insert into body_days (day, state, removed_at) values ('2020-01-01', 'removed', now())
     on conflict do nothing`,
  );
  await db.query('delete from webhook_bodies');
  await db.query(
    `update webhook_events set body = null, body_day = '2020-01-01',
                               received_at = now() - interval '401 days'`,
  );
}

/** Rows as PostgreSQL has them, by class and key, to compare with what comes back. */
const readRows = () =>
  db.transaction(async (tx) => {
    await writeTimesInUtc(tx);
    return await tx.query<{ class: string; key: number; row: object }>(
      `select 'messages' as class, number as key, to_jsonb(m) - 'number' as row from messages m
     union all select 'changes', number, to_jsonb(c) - 'number' from changes c
     union all select 'alerts', id, to_jsonb(a) - 'id' from alerts a
     union all select 'findings', id, to_jsonb(f) - 'id' from findings f
     union all select 'runs', id, to_jsonb(r) - 'id' from reconcile_runs r
     union all select 'events', id, to_jsonb(e) - 'id' - 'body' - 'body_sha256' from webhook_events e
     order by class, key`,
    );
  });

test('every class is archived and removed, and comes back by an import', async () => {
  await fill();
  const before = await readRows();
  const removed = await runWith(folder);
  expect(Object.fromEntries(removed.map(({ name, rows }) => [name, rows]))).toEqual({
    bodies: 0,
    messages: 700,
    changes: 2,
    alerts: 1,
    findings: 1,
    runs: 1,
    events: 1,
    sessions: 0,
  });
  const target = createFolderTarget(folder);
  const report = await verifyArchive(db, target, { className: undefined });
  expect(report).toMatchObject({ rows: 706, unrecorded: 0, problems: 0 });
  const classes = await readArchivedClasses(db);
  expect(classes.map((one) => [one.className, one.rows, one.removed])).toEqual([
    ['alerts', 1, 1],
    ['changes', 2, 2],
    ['events', 1, 1],
    ['findings', 1, 1],
    ['messages', 700, 700],
    ['runs', 1, 1],
  ]);

  for (const className of classes.map((one) => one.className)) {
    const range = { className, first: 0, last: Number.MAX_SAFE_INTEGER };
    await importArchiveAs({ db, target }, ACTOR, { range, reason: 'a question' });
    // A second time changes nothing.
    await importArchiveAs({ db, target }, ACTOR, { range, reason: 'a question' });
  }
  const left = new Set((await readRows()).map((row) => `${row.class} ${row.key}`));
  const gone = before.filter((row) => !left.has(`${row.class} ${row.key}`));
  expect(
    await db.query(
      `select class, key,
              (row - 'key' - 'number' - 'id' - 'body_sha256' - 'variants' - 'replays')
              || case when class = any ('{messages,changes}') then jsonb_build_object('id', row->'id')
                      else '{}' end as row
         from imported_rows order by class, key`,
    ),
  ).toEqual(gone.map(({ row, ...rest }) => ({ ...rest, row })));
  expect(
    await db.query(
      `select key::text = row->>'key' as keyed, row->>'id' as id,
              jsonb_array_length(row->'variants') as variants,
              decode(row->'variants'->0->>'body', 'base64')
                = convert_to(repeat('another body ', 20), 'UTF8') as "isBody"
         from imported_rows where class = 'events'`,
    ),
  ).toEqual([{ keyed: true, id: '1', variants: 1, isBody: true }]);

  expect(await clearImportAs(db, ACTOR)).toBe(706);
  const { rows: entries } = await searchAudit(
    db,
    {
      actor: 'ada',
      action: undefined,
      subject: undefined,
      orderKeys: undefined,
      since: undefined,
      isOpen: false,
    },
    { below: Number.MAX_SAFE_INTEGER, limit: 3 },
  );
  expect(entries.map(({ action, result, reason }) => [action, result, reason])).toEqual([
    ['archive.clear', 'done', null],
    ['archive.restore', 'done', 'a question'],
    ['archive.restore', 'requested', 'a question'],
  ]);
});

test('nothing is removed while the archive cannot be written', async () => {
  await fill();
  const before = await readRows();
  const occupied = join(folder, 'occupied');
  writeFileSync(occupied, '');
  await expect(runWith(occupied)).rejects.toThrow('ENOTDIR');
  expect(await readRows()).toEqual(before);
  expect(await readArchivedClasses(db)).toEqual([]);
});

/** Messages that are past their days. */
async function settleOldMessages(prefix: string): Promise<void> {
  await db.query(
    `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
     select $1 || n, 'log', 'alert', '{}', 'delivered', now(), now() - interval '41 days',
            now() - interval '40 days'
       from generate_series(1, 3) as n`,
    [prefix],
  );
}

// A file system that is not mounted leaves its empty folder, and a container without its volume begins with one.
test('nothing is removed while the folder is not the one that was archived to before', async () => {
  await settleOldMessages('msg_first_');
  await runWith(folder);
  await settleOldMessages('msg_second_');
  const before = await readRows();
  expect(before).toHaveLength(3);

  const unmounted = mkdtempSync(join(memoryFolder(), 'tallyhook-archive-'));
  try {
    const [batch] = await readLatestBatches(db, 'messages', { after: undefined, limit: 1 });
    await expect(runWith(unmounted)).rejects.toThrow(
      `The archive ${unmounted} lacks ${batch?.name}, which was archived last: its file system is not mounted`,
    );
    expect(await readRows()).toEqual(before);
    expect(readdirSync(unmounted)).toEqual([]);

    // A moved archive is the same one.
    cpSync(folder, unmounted, { recursive: true });
    await runWith(unmounted);
    expect(await readRows()).toEqual([]);

    // A lifecycle rule may have removed what was archived long ago.
    await settleOldMessages('msg_third_');
    await db.query(`update archived_batches set removed_at = removed_at - interval '8 days'`);
    rmSync(unmounted, { recursive: true });
    await runWith(unmounted);
    expect(await readRows()).toEqual([]);
  } finally {
    rmSync(unmounted, { recursive: true });
  }
});

test('a removal of more rows than were archived is rolled back', async () => {
  await fill();
  const before = await readRows();
  // Retention archives what it picked. One row less is like a row that nothing picked.
  const removal = withRemovalArchive(
    { kind: 'folder', folder },
    { db, clock: systemClock },
    ({ beforeRemoval }) =>
      removeOld(
        {
          db,
          days: { ...DEFAULT_DAYS, events: undefined },
          sleep: noSleep,
          machine: systemClock,
          beforeRemoval: async (name, keys) =>
            (await beforeRemoval?.(name, keys.slice(1).length > 0 ? keys.slice(1) : keys)) ??
            (() => Promise.resolve()),
        },
        { longestMs: 60_000, signal: new AbortController().signal },
      ),
  );
  await expect(removal).rejects.toThrow(/would be removed, and \d+ are archived/);
  const messages = before.filter((row) => row.class === 'messages');
  expect((await readRows()).filter((row) => row.class === 'messages')).toEqual(messages);
});

test('an erasure deletes every imported row', async () => {
  await db.query(
    `insert into imported_rows (class, key, row) values ('events', 1, '{"key": "1"}')`,
  );
  const plan = await planErasure({ db }, [{ kind: 'order', id: 'ord_1' }]);
  await eraseAs({ db }, ACTOR, { plan, reason: 'request' });
  expect(await db.query('select key from imported_rows')).toEqual([]);
});
