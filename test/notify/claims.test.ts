/**
 * Several workers at the same time, and a worker that continues after its lease expired: each message is
 * claimed by one worker, and its first outcome is kept.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claimDispatch, setNextDispatch } from '../../src/alerts/store/outbox.ts';
import { syncAlerts } from '../../src/alerts/syncAlerts.ts';
import type { Channel } from '../../src/notify/channels/channel.ts';
import { createDeliverer } from '../../src/notify/deliver.ts';
import type { AttemptResult } from '../../src/notify/domain/retry.ts';
import {
  type ClaimedMessage,
  claimMessages,
  insertMessages,
  postponeMessage,
  settleMessages,
} from '../../src/notify/store/messages.ts';
import { HOUR_MS, SECOND_MS } from '../../src/platform/time.ts';
import { alertOf } from '../support/alerts.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { readMessages } from '../support/notifier.ts';
import { beginTransaction, runUntilBlocked } from '../support/transactions.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

const NOW_MS = Date.UTC(2030, 0, 1);
const LEASE_MS = 60 * SECOND_MS;
const at = (ms: number): Date => new Date(NOW_MS + ms);

describe('the outbox', () => {
  const dispatchAt = (ms: number) => ({ now: at(ms), latest: at(ms + HOUR_MS) });

  test('is dispatched by one worker at a time, and others do not wait for it', async () => {
    const first = await beginTransaction(db);
    expect(await claimDispatch(first.tx, dispatchAt(0))).toBe(true);
    const second = await beginTransaction(db);
    const { outcome, result } = await runUntilBlocked(db, second, (tx) =>
      claimDispatch(tx, dispatchAt(0)),
    );
    await setNextDispatch(first.tx, at(SECOND_MS));
    await first.commit();
    const isClaimed = await result;
    await second.commit();
    expect(outcome).toBe('ended');
    expect(isClaimed).toBe(false);
  });

  test('is not dispatched before its time', async () => {
    await setNextDispatch(db, at(SECOND_MS));
    expect(await claimDispatch(db, dispatchAt(SECOND_MS - 1))).toBe(false);
    expect(await claimDispatch(db, dispatchAt(SECOND_MS))).toBe(true);
  });

  test('is dispatched at once if its time lies further ahead than it can', async () => {
    await setNextDispatch(db, at(HOUR_MS));
    expect(await claimDispatch(db, dispatchAt(0))).toBe(false);
    expect(await claimDispatch(db, dispatchAt(-1))).toBe(true);
  });
});

test('of more messages than one claim takes, those that have been due for longest come first', async () => {
  const content = { kind: 'digest' } as never;
  const insert = (id: string, ms: number) =>
    insertMessages(db, [{ id, channel: 'log', content, stream: undefined }], at(ms));
  for (const [id, ms] of [
    ['msg_2', 2],
    ['msg_3', 3],
    ['msg_1', 1],
  ] as const)
    await insert(id, ms);
  const leaseUntil = at(LEASE_MS);
  const claimed = await claimMessages(db, { channel: 'log', now: at(3), leaseUntil, limit: 2 });
  expect(claimed.map(({ id }) => id).sort()).toEqual(['msg_1', 'msg_2']);
});

describe('a message with a first attempt that outlives its lease', () => {
  const claimAt = async (ms: number): Promise<ClaimedMessage | undefined> => {
    const leaseUntil = at(ms + LEASE_MS);
    const claimed = await claimMessages(db, { channel: 'log', now: at(ms), leaseUntil, limit: 5 });
    expect(claimed.length).toBeLessThan(2);
    return claimed[0];
  };

  /** Claims one message twice: the first attempt hangs until its lease expires, then a second one begins. */
  async function claimTwice(): Promise<readonly [ClaimedMessage, ClaimedMessage]> {
    const content = { kind: 'digest' } as never;
    await insertMessages(db, [{ id: 'msg_1', channel: 'log', content, stream: undefined }], at(0));
    const first = await claimAt(0);
    expect(await claimAt(LEASE_MS - 1)).toBeUndefined();
    const second = await claimAt(LEASE_MS);
    if (!first || !second) throw new Error('nothing was due');
    expect([first.attempts, second.attempts]).toEqual([1, 2]);
    return [first, second];
  }

  test('is not postponed by the first attempt while the second one is in progress', async () => {
    const [first] = await claimTwice();
    await postponeMessage(db, first, { until: at(LEASE_MS + 5), error: 'HTTP 503' });
    // The second attempt owns the message until its own lease expires.
    expect(await claimAt(2 * LEASE_MS - 1)).toBeUndefined();
    expect(await readMessages(db)).toMatchObject([{ state: 'due', attempts: 2, lastError: null }]);
    expect(await claimAt(2 * LEASE_MS)).toMatchObject({ id: 'msg_1', attempts: 3 });
  });

  test.each([
    ['delivered', 'failed'],
    ['failed', 'delivered'],
    ['delivered', 'delivered'],
  ] as const)('stays %s when a later outcome is %s', async (kept, late) => {
    const [, { attempts }] = await claimTwice();
    const end = { id: 'msg_1', attempts };
    expect(await settleMessages(db, [{ ...end, state: kept, at: at(1), error: null }])).toBe(1);
    expect(await settleMessages(db, [{ ...end, state: late, at: at(2), error: 'HTTP 410' }])).toBe(
      0,
    );
    expect(await db.query('select state, settled_at, last_error from messages')).toEqual([
      { state: kept, settled_at: at(1), last_error: null },
    ]);
  });

  test.each(['delivered', 'failed'] as const)(
    'is not retried by the first attempt once it is %s',
    async (state) => {
      const [, second] = await claimTwice();
      const end = { id: 'msg_1', attempts: second.attempts, at: at(1), error: null };
      await settleMessages(db, [{ ...end, state }]);
      await postponeMessage(db, second, { until: at(2), error: 'HTTP 503' });
      expect(await claimAt(99 * LEASE_MS)).toBeUndefined();
    },
  );
});

describe('an order webhook with a first attempt that outlives its lease', () => {
  /** A process with one attempt, which ends with the result that it is given. */
  function startAttempt(nowMs: number) {
    let end = (_result: AttemptResult): void => undefined;
    let isSending = false;
    const channel: Channel = {
      name: 'shop',
      slots: 1,
      send: () => {
        isSending = true;
        return new Promise((resolve) => {
          end = resolve;
        });
      },
    };
    const clock = { nowMs: () => nowMs };
    const parts = { db, clock, log: silentLog, channels: [channel], random: () => 0.5 };
    const running = createDeliverer(parts, new AbortController().signal).run('shop');
    return {
      isSending: () => isSending,
      end: async (result: AttemptResult) => {
        end(result);
        await running;
      },
    };
  }

  test('is delivered, without an alert, if the first attempt fails while the second one is in progress', async () => {
    const content = {
      kind: 'order',
      type: 'order.paid',
      orderId: 'ord_1',
      at: '',
      data: {},
    } as const;
    const message = { id: 'msg_1', channel: 'shop', content, stream: undefined } as const;
    await insertMessages(db, [message], at(0));
    const first = startAttempt(NOW_MS);
    await waitFor('the first attempt', first.isSending);
    const second = startAttempt(NOW_MS + LEASE_MS);
    await waitFor('the second attempt', second.isSending);
    await first.end({ outcome: 'gone', response: 'HTTP 410' });
    await second.end({ outcome: 'delivered', response: 'HTTP 204' });
    expect(await readMessages(db)).toMatchObject([{ state: 'delivered', attempts: 2 }]);
    expect(await db.query(`select rule from alerts where rule = 'order_webhook_failed'`)).toEqual(
      [],
    );
  });
});

describe('two transactions that sync the alerts of one subject', () => {
  const subject = 'system:queue';
  const subjectAlerts = (isActive: boolean) => ({
    subject,
    rules: ['backlog'] as const,
    active: isActive ? [alertOf({ subject, rule: 'backlog' })] : [],
  });

  test.each([
    ['resolves it, then the other finds it active', [false, true], ['resolved', 'open']],
    ['keeps it, then the other resolves it', [true, false], ['resolved']],
    ['resolves it, and so does the other', [false, false], ['resolved']],
  ])('run one after the other: the first one %s', async (_what, [first, second], states) => {
    await db.transaction((tx) => syncAlerts(tx, [subjectAlerts(true)]));
    const one = await beginTransaction(db);
    await syncAlerts(one.tx, [subjectAlerts(first ?? false)]);
    const other = await beginTransaction(db);
    const { result } = await runUntilBlocked(db, other, (tx) =>
      syncAlerts(tx, [subjectAlerts(second ?? false)]),
    );
    await one.commit();
    await result;
    await other.commit();
    const rows = await db.query<{ state: string }>('select state from alerts order by id');
    expect(rows.map(({ state }) => state)).toEqual(states);
    const sent = await db.query(
      `select count(*) filter (where type = 'resolved') as ends from alert_outbox`,
    );
    expect(sent).toEqual([{ ends: 1 }]);
  });
});
