/** The audit log, over a database: what it holds, and what it refuses (src/audit/domain/entry.ts). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptFindingAs } from '../../src/actions/acceptFinding.ts';
import {
  pauseReconciliationAs,
  resumeReconciliationAs,
} from '../../src/actions/pauseReconciliation.ts';
import { registerOrderAs } from '../../src/actions/registerOrder.ts';
import type { Actor } from '../../src/audit/domain/actor.ts';
import {
  denialOf,
  recordAttempt,
  recordAudit,
  recordRefusal,
} from '../../src/audit/recordAudit.ts';
import { createRefusals } from '../../src/audit/refusals.ts';
import {
  type AuditFilter,
  type AuditRow,
  readOpenAttempts,
  searchAudit,
} from '../../src/audit/store/audit.ts';
import { createDatabase, type Database, type Queryable } from '../../src/platform/db/database.ts';
import { countRead } from '../support/countRead.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { waitFor } from '../support/waitFor.ts';

const ADA: Actor = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@ledger-1' };

let db: TestDatabase;
let least: Database;
beforeAll(async () => {
  db = await createTestDatabase();
  least = createDatabase({
    connectionString: `${db.url}?options=${encodeURIComponent('-c role=tallyhook_app')}`,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 4,
    responseTimeoutMs: 30_000,
    plans: 'any',
  });
});
afterAll(async () => {
  await least.close();
  await db.drop();
});

const EVERYTHING = {
  actor: undefined,
  action: undefined,
  subject: undefined,
  orderKeys: undefined,
  since: undefined,
  isOpen: false,
} as const;
const readAuditRows = async (queryable: Queryable, filter: AuditFilter) =>
  (await searchAudit(queryable, filter, { below: Number.MAX_SAFE_INTEGER, limit: 1_000 })).rows;
const entriesOf = (kind: string, id: string): Promise<readonly AuditRow[]> =>
  readAuditRows(db, { ...EVERYTHING, subject: { kind, id } });
const count = async (): Promise<number> => (await readAuditRows(db, EVERYTHING)).length;

describe('entries', () => {
  test.each([`update audit set actor_name = 'eve'`, 'delete from audit', 'truncate audit'])(
    'are kept from `%s`, as the owner and as the role of the processes',
    async (attack) => {
      await recordAudit(least, {
        actor: ADA,
        action: 'reconciliation.pause',
        subject: { kind: 'reconciliation', id: 'background' },
      });
      const before = await readAuditRows(db, EVERYTHING);
      expect(before.length).toBeGreaterThan(0);
      await expect(db.query(attack)).rejects.toThrow('audit is append-only');
      await expect(least.query(attack)).rejects.toThrow(/permission denied for table audit/);
      expect(await readAuditRows(db, EVERYTHING)).toEqual(before);
    },
  );

  test('of an action are rolled back with it', async () => {
    const orderId = unique('ord');
    const failing: Database = {
      ...db,
      transaction: (work) =>
        db.transaction(async (tx) => {
          await work(tx);
          throw new Error('the commit failed');
        }),
    };
    const wanted = { orderKey: `order:${orderId}`, orderId, currency: 'USD', amountMinor: 1 };
    await expect(registerOrderAs({ db: failing }, ADA, wanted)).rejects.toThrow(
      'the commit failed',
    );
    expect(await entriesOf('order', orderId)).toEqual([]);

    await registerOrderAs({ db }, ADA, wanted);
    expect(await entriesOf('order', orderId)).toEqual([
      expect.objectContaining({
        action: 'order.register',
        actorKind: 'cli',
        actorName: 'ada',
        actorRole: 'admin',
        actorOrigin: 'ada@ledger-1',
        orderKey: `order:${orderId}`,
        result: 'done',
        attempt: null,
        detail: { registration: 'registered', amount: 1, currency: 'USD' },
      }),
    ]);
  });

  test('are not made by an action that changes nothing', async () => {
    await pauseReconciliationAs({ db }, ADA, { reason: 'a new key' });
    const before = await count();
    expect(await pauseReconciliationAs({ db }, ADA, { reason: 'again' })).toMatchObject({
      outcome: 'already',
      pause: { reason: 'a new key' },
    });
    expect(await acceptFindingAs({ db }, ADA, { number: 999_999, reason: 'none' })).toEqual({
      outcome: 'unknown',
    });
    expect(await count()).toBe(before);
    await resumeReconciliationAs({ db }, ADA);
    expect(await resumeReconciliationAs({ db }, ADA)).toEqual({ outcome: 'not_paused' });
    expect(await count()).toBe(before + 1);
  });
});

describe('an attempt', () => {
  const intent = (id: string) =>
    ({
      actor: ADA,
      action: 'authorization.capture',
      subject: { kind: 'payment', id },
      reason: 'shipped',
      detail: { amount: 6540, currency: 'USD' },
    }) as const;

  test('has an entry before it begins, and one with its result after', async () => {
    const id = unique('pay');
    const value = await recordAttempt(db, intent(id), async () => {
      // What another process sees while the call runs.
      const during = await readAuditRows(least, {
        ...EVERYTHING,
        subject: { kind: 'payment', id },
      });
      expect(during.map(({ result }) => result)).toEqual(['requested']);
      return { value: 7, result: 'refused', detail: { status: 'cancelled' } };
    });
    expect(value).toBe(7);
    const [after, before] = await entriesOf('payment', id);
    expect(before).toMatchObject({ result: 'requested', attempt: before?.id, reason: 'shipped' });
    expect(after).toMatchObject({
      result: 'refused',
      attempt: before?.id,
      reason: 'shipped',
      detail: { amount: 6540, currency: 'USD', status: 'cancelled' },
    });
  });

  test('that throws has an unknown outcome, with the error', async () => {
    const id = unique('pay');
    const work = () => Promise.reject(new Error('the connection was lost'));
    await expect(recordAttempt(db, intent(id), work)).rejects.toThrow('the connection was lost');
    expect((await entriesOf('payment', id))[0]).toMatchObject({
      result: 'unknown',
      detail: { error: 'the connection was lost' },
    });
  });

  test('is open until its result is recorded, which happens once', async () => {
    const id = unique('pay');
    const isOpen = async () => {
      const open = await readAuditRows(db, { ...EVERYTHING, isOpen: true });
      const named = {
        olderThanMs: -1,
        withinMs: 60_000,
        limit: 1_000,
        actions: ['authorization.capture'],
      } as const;
      const forDoctor = await readOpenAttempts(db, named);
      const both = [open, forDoctor].map((rows) => rows.some((row) => row.subjectId === id));
      expect(both[0]).toBe(both[1]);
      return both[0];
    };
    await recordAttempt(db, intent(id), async () => {
      expect(await isOpen()).toBe(true);
      return { value: undefined, result: 'done' };
    });
    expect(await isOpen()).toBe(false);
    const second = db.query(
      `insert into audit (actor_kind, actor_name, actor_role, actor_origin, action, subject_kind,
                          subject_id, result, attempt)
       select 'cli', 'ada', 'admin', '', action, subject_kind, subject_id, 'failed', id
         from audit where subject_id = $1 and result = 'requested'`,
      [id],
    );
    await expect(second).rejects.toThrow('audit_attempt');
  });
});

test('a token that is refused the same again and again has one entry a minute', async () => {
  const token: Actor = { kind: 'token', name: unique('shop'), role: 'shop', origin: '192.0.2.7' };
  const refused = denialOf(token, { subject: 'POST /api/v1/pause', permission: 'operate' });
  let isOver = false;
  const second = await db.transaction(async (tx) => {
    await recordRefusal({ ...db, transaction: (work) => work(tx) }, refused);
    const other = recordRefusal(db, refused).finally(() => {
      isOver = true;
    });
    await waitFor('the second to wait for the first', async () => {
      const waiting = await db.query(
        `select pid from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`,
      );
      return isOver || waiting.length > 0;
    });
    return { other };
  });
  expect(await second.other).toBe(false);
  expect(await recordRefusal(db, refused)).toBe(false);
  const mine = () => readAuditRows(db, { ...EVERYTHING, actor: token.name });
  expect(await mine()).toEqual([
    expect.objectContaining({
      action: 'access.denied',
      result: 'refused',
      subjectKind: 'request',
      subjectId: 'POST /api/v1/pause',
      actorOrigin: '192.0.2.7',
      detail: { permission: 'operate', attempts: 1 },
    }),
  ]);
});

test('a refusal reads the newest entries, however many the actor has', async () => {
  const token: Actor = { kind: 'token', name: unique('shop'), role: 'shop', origin: '192.0.2.7' };
  await db.query(
    `insert into audit (recorded_at, actor_kind, actor_name, actor_role, actor_origin, action, subject_kind,
                        subject_id, result)
     select now() - interval '1 day', 'token', $1, 'shop', '', 'access.denied', 'request', 'x', 'refused'
       from generate_series(1, 5000)`,
    [token.name],
  );
  const { read } = await countRead(db, 'audit', async (tx) => {
    const within = { ...db, transaction: <T>(work: (one: typeof tx) => Promise<T>) => work(tx) };
    await recordRefusal(
      within,
      denialOf(token, { subject: 'POST /api/v1/pause', permission: 'operate' }),
    );
    return [];
  });
  expect(read).toBeLessThanOrEqual(1_000);
});

describe('what is refused', () => {
  /** A recorder in a time of its own. */
  const recorder = () => {
    let nowMs = 0;
    let wake: () => void = () => undefined;
    const refusals = createRefusals({
      db,
      clock: { nowMs: () => nowMs },
      log: silentLog,
      sleep: (_delayMs, signal) =>
        new Promise((resolve) => {
          wake = resolve;
          signal.addEventListener('abort', () => resolve());
        }),
    });
    return {
      ...refusals,
      pass: (delayMs: number) => {
        nowMs += delayMs;
        wake();
      },
    };
  };
  const holder = (): Actor => ({
    kind: 'token',
    name: unique('viewer'),
    role: 'viewer',
    origin: '',
  });
  const denied = (actor: Actor, subject: string) =>
    denialOf(actor, { subject, permission: 'move_money' });
  const entriesOf = async ({ name }: Actor) =>
    (await readAuditRows(db, { ...EVERYTHING, actor: name }))
      .map(({ subjectId, detail }) => [subjectId, detail.attempts])
      .toReversed();
  /** The entries of the actor are of the minute before. */
  const passInDatabase = ({ name }: Actor) =>
    db.query(
      `insert into audit (recorded_at, actor_kind, actor_name, actor_role, actor_origin, action,
                          subject_kind, subject_id, result, detail)
       select now() - interval '2 minutes', actor_kind, actor_name, actor_role, '', action,
              subject_kind, subject_id, 'refused', '{"attempts": 0}'
         from audit where actor_name = $1`,
      [name],
    );

  test('has an entry for each thing: one that was refused before hides nothing', async () => {
    const actor = holder();
    const refusals = recorder();
    refusals.note(denied(actor, 'GET /api/v1/audit'));
    refusals.note(denied(actor, 'POST /api/v1/payments/{payment_id}/refund'));
    refusals.note(denied(actor, 'GET /api/v1/audit'));
    await refusals.close();
    expect((await entriesOf(actor)).toSorted()).toEqual([
      ['GET /api/v1/audit', 1],
      ['GET /api/v1/audit', 1],
      ['POST /api/v1/payments/{payment_id}/refund', 1],
    ]);
  });

  test('is counted at the end of the minute, also if nothing more is refused', async () => {
    const actor = holder();
    const refusals = recorder();
    for (let n = 0; n < 5; n += 1) refusals.note(denied(actor, 'GET /api/v1/audit'));
    await waitFor('the first entry', async () => (await entriesOf(actor)).length > 0);
    await passInDatabase(actor);
    refusals.pass(61_000);
    await waitFor('the others', async () => (await entriesOf(actor)).length > 2);
    expect(await entriesOf(actor)).toEqual([
      ['GET /api/v1/audit', 1],
      ['GET /api/v1/audit', 0],
      ['GET /api/v1/audit', 4],
    ]);
    await refusals.close();
  });

  test('is counted in the next entry if another process recorded one within the minute', async () => {
    const actor = holder();
    const [one, other] = [recorder(), recorder()];
    one.note(denied(actor, 'GET /api/v1/audit'));
    await waitFor('the first entry', async () => (await entriesOf(actor)).length > 0);
    other.note(denied(actor, 'GET /api/v1/audit'));
    other.note(denied(actor, 'GET /api/v1/audit'));
    await one.close();
    // A process that stops waits for no minute.
    await other.close();
    expect(await entriesOf(actor)).toEqual([
      ['GET /api/v1/audit', 1],
      ['GET /api/v1/audit', 2],
    ]);
  });
});

test('entries are found by person, action, object, order and time', async () => {
  const name = unique('bob');
  const bob: Actor = { kind: 'token', name, role: 'operator', origin: '192.0.2.8' };
  const orderKey = `order:${unique('ord')}`;
  const [row] = await db.query<{ now: Date }>('select clock_timestamp() as now');
  const since = row?.now ?? new Date(0);
  const record = (action: 'alert.snooze' | 'finding.accept', kind: string, id: string) =>
    recordAudit(db, { actor: bob, action, subject: { kind, id }, orderKey });
  await record('alert.snooze', 'alert', '1000001');
  await record('finding.accept', 'finding', '1000002');
  const ids = async (filter: Partial<AuditFilter>) =>
    (await readAuditRows(db, { ...EVERYTHING, ...filter })).map(({ subjectId }) => subjectId);
  expect(await ids({ actor: name })).toEqual(['1000002', '1000001']);
  expect(await ids({ actor: name, action: 'alert.snooze' })).toEqual(['1000001']);
  expect(await ids({ subject: { kind: 'finding', id: '1000002' } })).toEqual(['1000002']);
  expect(await ids({ orderKeys: [orderKey] })).toEqual(['1000002', '1000001']);
  expect(await ids({ since })).toEqual(['1000002', '1000001']);
  expect(await ids({ since: new Date(since.getTime() + 60_000) })).toEqual([]);
});
