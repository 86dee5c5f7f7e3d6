/** The invariants of src/sandbox/store/store.ts, with the data in a database and in memory. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CustomerState } from '../../src/sandbox/domain/customer.ts';
import { createMemoryStore } from '../../src/sandbox/store/memory/store.ts';
import { createPostgresStore } from '../../src/sandbox/store/postgres/store.ts';
import type { Store } from '../../src/sandbox/store/store.ts';
import { createSandboxDatabase, type TestDatabase } from '../support/database.ts';
import { isInMemory } from '../support/sandbox.ts';

let db: TestDatabase | undefined;
let store: Store;
beforeAll(async () => {
  db = isInMemory ? undefined : await createSandboxDatabase();
  store = db ? createPostgresStore(db) : createMemoryStore();
});
afterAll(() => db?.drop());

const customer = (id: string, name = 'Ada'): CustomerState => ({
  customer_id: id,
  created: '2026-11-23T09:00:00.000Z',
  name,
});

/** A promise with the function that resolves it. */
function signal(): { readonly given: Promise<void>; give(): void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}

test('1: a transaction that throws leaves nothing, and the next one works', async () => {
  await store.insertCustomer(customer('kept'));
  const failed = store.transaction(async (tx) => {
    await tx.insertCustomer(customer('lost'));
    await tx.updateCustomer(customer('kept', 'Grace'));
    await tx.updateCustomer(customer('kept', 'Grace H.'), '2026-11-23T10:00:00.000Z');
    throw new Error('the work failed');
  });
  await expect(failed).rejects.toThrow('the work failed');
  expect(await store.readCustomer('lost')).toBeUndefined();
  expect(await store.readCustomer('kept')).toMatchObject({ name: 'Ada' });
  expect(await store.listCustomers({ customerId: undefined, limit: 10, offset: 0 })).toHaveLength(
    1,
  );
  expect(await store.insertCustomer(customer('lost'))).toBe(true);
});

test('1: a statement that fails leaves nothing of what it wrote before it failed', async () => {
  const dueAt = '2026-11-23T09:00:00.000Z';
  const eventSeq = await store.insertEvent({
    eventId: 'evt_1',
    kind: 'payment',
    objectId: 'pay_1',
    eventType: 'payment_succeeded',
    onceKey: 'once',
    body: '{}',
    signature: 'ab',
    createdAt: dueAt,
  });
  const known = { eventSeq: eventSeq ?? 0, reason: 'first', dueAt };
  const unknown = { ...known, eventSeq: 1_000_000 };
  await expect(store.insertDeliveries([known, unknown])).rejects.toThrow();
  expect(await store.readDeliveries(known.eventSeq)).toEqual([]);
  expect((await store.nextDue([])).deliveryAt).toBeNull();
});

test('2: a statement sees what its own transaction wrote, and nothing of another that is open', async () => {
  const [written, seen] = [signal(), signal()];
  const open = store.transaction(async (tx) => {
    await tx.insertCustomer(customer('open'));
    written.give();
    if (!isInMemory) await seen.given;
    return await tx.readCustomer('open');
  });
  await written.given;
  const outside = store.readCustomer('open');
  // In memory it waits for the transaction, and sees what was committed.
  expect((await outside) === undefined).toBe(!isInMemory);
  seen.give();
  expect(await open).toMatchObject({ customer_id: 'open' });
  expect(await store.readCustomer('open')).toMatchObject({ customer_id: 'open' });
});

test('2: of a transaction that fails, a statement that runs meanwhile sees nothing', async () => {
  const written = signal();
  const failing = store.transaction(async (tx) => {
    await tx.insertCustomer(customer('withdrawn'));
    written.give();
    await Promise.resolve();
    throw new Error('withdrawn');
  });
  await written.given;
  const outside = store.readCustomer('withdrawn');
  await expect(failing).rejects.toThrow('withdrawn');
  expect(await outside).toBeUndefined();
});

test('3: what a transaction locked is changed by no other one until it ends', async () => {
  await store.insertCustomer(customer('counted', '0'));
  const add = () =>
    store.transaction(async (tx) => {
      const locked = await tx.lockCustomer('counted');
      await Promise.resolve();
      await tx.updateCustomer(customer('counted', String(Number(locked?.name) + 1)));
    });
  await Promise.all(Array.from({ length: 20 }, add));
  expect(await store.readCustomer('counted')).toMatchObject({ name: '20' });
});

test('what was read is a copy: neither the writer nor a reader changes what is stored', async () => {
  const mutable = { ...customer('copied'), metadata: { tier: 'gold' } };
  await store.insertCustomer(mutable);
  mutable.metadata.tier = 'silver';
  const found = (await store.readCustomer('copied')) as unknown as typeof mutable;
  expect(found.metadata).toEqual({ tier: 'gold' });
  const change = (): void => {
    found.metadata.tier = 'bronze';
  };
  if (isInMemory) expect(change).toThrow(TypeError);
  else change();
  expect(await store.readCustomer('copied')).toMatchObject({ metadata: { tier: 'gold' } });
});
