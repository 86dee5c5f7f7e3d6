/** The inbox on the command line: the filters of the console and of the admin API. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { paymentEvent, refundEvent } from '../support/payments.ts';

let db: TestDatabase;
/** Inbox numbers. */
let dead: number;
let old: number;

beforeAll(async () => {
  db = await createTestDatabase();
  const applier = testApplier(db);
  [old = 0] = await receive(db, [paymentEvent({})], new Date('2026-01-02T03:04:05Z'));
  await applier.applyOne(old);
  await applyEach(db, applier, [
    paymentEvent({ payment_id: 'pay_1', orderId: 'ord_1' }),
    paymentEvent({ payment_id: 'pay_2', orderId: 'ord_2' }),
    refundEvent('pay_1', { refund_id: 'ref_1' }),
  ]);
  [dead = 0] = await receive(db, [paymentEvent({})]);
  await applier.markDead(dead, 5, 'connection reset');
});
afterAll(() => db.drop());

const run = (...args: readonly string[]) => tallyhook(db.url, 'events', 'list', ...args);

async function numbers(...args: readonly string[]): Promise<readonly number[]> {
  const { events } = JSON.parse((await run(...args, '--json')).stdout);
  return events.map(({ number }: { readonly number: number }) => number);
}

test('events are listed by state, type, order and time of receipt, and by several of them', async () => {
  expect(await numbers('--state', 'dead')).toEqual([dead]);
  expect(await numbers('--type', 'refund_succeeded')).toEqual([4]);
  expect(await numbers('--order', 'ord_1')).toEqual([4, 2]);
  expect(await numbers('--order', 'ord_1', '--type', 'payment_succeeded')).toEqual([2]);
  expect(await numbers('--to', '2026-01-03')).toEqual([old]);
  expect(await numbers('--from', '2026-01-03')).toEqual([dead, 4, 3, 2]);
  expect((await run('--order', 'ord_unknown')).stdout).toBe('No such events.\n');
  expect((await run('--type', 'refund_succeeded')).stdout).toMatch(/^INBOX .*\n4 +evt_/);
});

test('a filtered list continues with its cursor, and ends', async () => {
  const first = await run('--type', 'payment_succeeded', '--limit', '3', '--json');
  const { events, next_cursor: cursor } = JSON.parse(first.stdout);
  expect(events.map(({ number }: { readonly number: number }) => number)).toEqual([dead, 3, 2]);
  const text = await run('--type', 'payment_succeeded', '--limit', '3');
  expect(text.stderr).toContain(`--cursor ${cursor}`);
  const rest = await run('--type', 'payment_succeeded', '--cursor', cursor, '--json');
  expect(JSON.parse(rest.stdout)).toMatchObject({ events: [{ number: 1 }], next_cursor: null });
});

test('a page is filled although a search reads a bounded number of events', async () => {
  await db.query(
    `insert into webhook_events (event_id, event_type, body_sha256, received_at)
     select 'other_' || n, 'other', sha256(convert_to('other' || n, 'UTF8')), now()
       from generate_series(1, 5100) n`,
  );
  expect(await numbers('--type', 'refund_succeeded')).toEqual([4]);
});

test('an empty range of time is refused', async () => {
  const { code, stderr } = await run('--from', '2026-02-01', '--to', '2026-02-01');
  expect(code).toBe(2);
  expect(stderr).toContain('--from must be before --to');
});
