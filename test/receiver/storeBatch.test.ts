import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/platform/db/database.ts';
import { readEnvelope } from '../../src/receiver/envelope.ts';
import { storeBatch } from '../../src/receiver/storeBatch.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

interface Kept {
  readonly outcomes: readonly string[];
  /** Each statement outside a transaction is a commit. */
  readonly statements: readonly string[];
}

async function store(...bodies: readonly Buffer[]): Promise<Kept> {
  const statements: string[] = [];
  const noting: Database = {
    ...db,
    query: (text, values) => {
      statements.push(text);
      return db.query(text, values);
    },
    prepared: (text, values) => {
      statements.push(text);
      return db.prepared(text, values);
    },
  };
  const events = bodies.map((body) => ({
    ...readEnvelope(body),
    body,
    bodyHash: createHash('sha256').update(body).digest(),
    secretFingerprint: 1,
  }));
  const { outcomes } = await storeBatch(noting, events, new Date());
  return { outcomes: outcomes.map(({ outcome }) => outcome), statements };
}

const emitsMessage = (text: string) => text.includes('pg_logical_emit_message');

test('a batch makes a commit of its own for what it read only if it stored nothing after that', async () => {
  const eventId = unique('evt');
  const first = eventBody(paymentObject(), { eventId });
  const other = eventBody(paymentObject(), { eventId });

  const stored = await store(first);
  expect(stored.outcomes).toEqual(['accepted']);
  expect(stored.statements).toHaveLength(1);

  const again = await store(first);
  expect(again.outcomes).toEqual(['duplicate']);
  expect(again.statements.filter(emitsMessage)).toHaveLength(1);

  // The insert of the other body is committed after the row of the duplicate was read.
  const mixed = await store(first, other);
  expect(mixed.outcomes).toEqual(['duplicate', 'id_reused']);
  expect(mixed.statements.filter(emitsMessage)).toEqual([]);

  // The insert of the new event is committed before the row of the duplicate is read.
  const beside = await store(first, eventBody(paymentObject()));
  expect(beside.outcomes).toEqual(['duplicate', 'accepted']);
  expect(beside.statements.filter(emitsMessage)).toHaveLength(1);

  const otherAgain = await store(other);
  expect(otherAgain.outcomes).toEqual(['id_reused']);
  expect(otherAgain.statements.filter(emitsMessage)).toHaveLength(1);
});
