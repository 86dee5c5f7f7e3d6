/** A scan of all bodies ends between two pages of a day, because a day may have a million bodies. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { scanBodies } from '../../src/ledger/bodies/scanBodies.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { receive } from '../support/ledger.ts';

const BODIES = 250;
const PAGE = 100;

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
  const bodies = Array.from({ length: BODIES }, () => eventBody(paymentObject()));
  await receive(db, bodies);
});
afterEach(() => db.drop());

test('a scan visits every body', async () => {
  const ids = new Set<number>();
  await scanBodies(db, { since: undefined }, (bodies) => {
    for (const { id } of bodies) ids.add(id);
  });
  expect(ids.size).toBe(BODIES);
});

test('an aborted scan ends after the page that it reads', async () => {
  const stop = new AbortController();
  let visited = 0;
  const scan = scanBodies(db, { since: undefined, signal: stop.signal }, (bodies) => {
    visited += bodies.length;
    stop.abort(new Error('the process stops'));
  });
  await expect(scan).rejects.toThrow('the process stops');
  expect(visited).toBe(PAGE);
});
