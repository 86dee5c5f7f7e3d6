/** Array parameters reach the server unchanged, for any content of their elements. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** Sends an array and reads its elements as rows, so that the driver's reading of arrays plays no part. */
async function elementsOf(type: string, values: readonly unknown[]): Promise<readonly unknown[]> {
  const rows = await db.query<{ element: unknown }>(
    `select element from unnest($1::${type}[]) with ordinality as u (element, place) order by place`,
    [values],
  );
  return rows.map(({ element }) => element);
}

/** PostgreSQL stores no NUL, and the wire holds no lone surrogates. */
const text = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom('"', '\\', ',', '{', '}', ' ', '\n', "'", 'é', '\u{1F600}'),
    }),
    fc.constantFrom('', 'NULL', 'null', '\\x', '"', '{}', '\u2028', '\uFEFF'),
  )
  .map((value) => value.replaceAll('\u0000', '').toWellFormed());

test('text', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(text), { maxLength: 40 }), async (values) => {
      expect(await elementsOf('text', values)).toEqual(values);
    }),
    { numRuns: 300 },
  );
});

test('JSON', async () => {
  const document = fc.dictionary(text, fc.oneof(text, fc.integer(), fc.boolean()));
  await fc.assert(
    fc.asyncProperty(fc.array(document, { maxLength: 20 }), async (documents) => {
      const sent = documents.map((one) => JSON.stringify(one));
      expect(await elementsOf('text', sent)).toEqual(sent);
      expect(await elementsOf('text', documents)).toEqual(sent);
    }),
    { numRuns: 100 },
  );
});

test('exact integers and booleans', async () => {
  const values = [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, null];
  expect(await elementsOf('bigint', values)).toEqual(values);
  expect(await elementsOf('boolean', [true, null, false])).toEqual([true, null, false]);
});

test('instants and bytes', async () => {
  const instants = [new Date('2026-03-29T01:30:00.123Z'), null, new Date(0)];
  expect(await elementsOf('timestamptz', instants)).toEqual(instants);
  const bytes = [Buffer.from([0, 255, 92, 34]), Buffer.alloc(0), null];
  expect(await elementsOf('bytea', bytes)).toEqual(bytes);
});

test('arrays of arrays', async () => {
  expect(
    await elementsOf('text', [
      ['a', '"'],
      [null, '\\'],
    ]),
  ).toEqual(['a', '"', null, '\\']);
});

test('an empty array', async () => {
  expect(await elementsOf('text', [])).toEqual([]);
});
