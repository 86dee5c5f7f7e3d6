/**
 * What runs compared is read in fewer rows than there are runs, and shows the same calendar.
 *
 * The production failure that it prevents: a calendar that calls a day equal which a run found different,
 * or that forgets what was compared weeks ago because there were too many runs since.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { coverageOfDay, lastDays } from '../../src/reconcile/domain/coverage.ts';
import { readStretches, type StretchRow } from '../../src/reconcile/store/runs.ts';
import { STREAMS } from '../../src/reconcile/streams.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seededRandom, testSeed } from '../support/random.ts';

const DAYS = 6;
const NOW_MS = Date.UTC(2026, 10, 20, 15, 3);

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

interface Run {
  readonly stream: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly counts: readonly [number, number, number, number];
  readonly isDryRun: boolean;
}

/** How often a run finds something, by list. */
const FOUND = [0.003, 0.02, 0.2, 0.5];

function countsOf(random: () => number, share: number): Run['counts'] {
  const rows = random() < 0.1 ? 0 : Math.ceil(random() * 50);
  const found = random() < share ? Math.ceil(random() * 3) : 0;
  return [rows, random() < 0.2 ? 1 : 0, found, random() < 0.7 ? found : 0];
}

/** Every list every ten minutes, with outages of hours, a few long runs, and differences that come and go. */
function runsOf(random: () => number): readonly Run[] {
  const steps = (DAYS * DAY_MS) / (10 * MINUTE_MS);
  const outages = Array.from({ length: 4 }, () => Math.floor(random() * steps));
  const isOut = (step: number) => outages.some((start) => step >= start && step < start + 20);
  return Array.from({ length: steps }, (_, step) => step)
    .filter((step) => !isOut(step))
    .flatMap((step) =>
      STREAMS.map((stream, place): Run => {
        const atMs = NOW_MS - (steps - step) * 10 * MINUTE_MS;
        const minutes = random() < 0.003 ? 30 * 60 : 20 + Math.floor(random() * 60);
        return {
          stream,
          fromMs: atMs - minutes * MINUTE_MS,
          toMs: atMs - Math.floor(random() * 5) * MINUTE_MS,
          counts: countsOf(random, FOUND[place] ?? 0),
          isDryRun: random() < 0.02,
        };
      }),
    );
}

function calendarOf(stretches: readonly StretchRow[]) {
  return STREAMS.map((stream) => {
    const own = stretches
      .filter((row) => row.stream === stream)
      .map(({ fromAt, toAt, comparedAt, ...counts }) => ({
        ...counts,
        fromMs: fromAt.getTime(),
        toMs: toAt.getTime(),
        comparedAtMs: comparedAt.getTime(),
      }));
    return lastDays(NOW_MS, DAYS).map((dayMs) => coverageOfDay(own, { dayMs, isEmpty: false }));
  });
}

async function insertRuns(runs: readonly Run[]): Promise<void> {
  await db.query(
    `insert into reconcile_runs (stream, mode, cause, is_dry_run, state, from_at, to_at, position_at,
                                 started_at, updated_at, finished_at, rows_compared, rows_counted, found,
                                 repaired)
     select stream, 'full', 'tail', dry, 'done', to_timestamp(from_ms / 1000.0),
            to_timestamp(to_ms / 1000.0), to_timestamp(to_ms / 1000.0), at, at, at, compared, counted,
            found, repaired
       from unnest($1::text[], $2::float8[], $3::float8[], $4::boolean[], $5::bigint[], $6::bigint[],
                   $7::bigint[], $8::bigint[]) with ordinality
            as u (stream, from_ms, to_ms, dry, compared, counted, found, repaired, n)
      cross join lateral (select timestamptz '2026-11-21' + n * interval '1 second' as at) t
      order by n`,
    [
      runs.map(({ stream }) => stream),
      runs.map(({ fromMs }) => fromMs),
      runs.map(({ toMs }) => toMs),
      runs.map(({ isDryRun }) => isDryRun),
      ...[0, 1, 2, 3].map((place) => runs.map(({ counts }) => counts[place])),
    ],
  );
}

test('what was repaired by a longer run afterwards is not called different', async () => {
  const day = Date.UTC(2026, 9, 1);
  const run = { stream: 'payouts', toMs: day + 2 * 60 * MINUTE_MS, isDryRun: false };
  await insertRuns([
    { ...run, fromMs: day + 60 * MINUTE_MS, counts: [9, 0, 1, 0] },
    { ...run, fromMs: day, counts: [9, 0, 1, 1] },
  ]);
  const stretches = await readStretches(db, { since: new Date(0), limit: 10 });
  expect(stretches.map(({ found, repaired }) => [found, repaired])).toEqual([
    [1, 1],
    [1, 0],
  ]);
  await db.query('delete from reconcile_runs');
});

test('stretches of many runs show the calendar of the runs', async () => {
  const seed = testSeed();
  const runs = runsOf(seededRandom(seed));
  await insertRuns(runs);
  const single = await db.query<StretchRow>(
    `select stream, from_at as "fromAt", position_at as "toAt", updated_at as "comparedAt",
            rows_compared as "rowsCompared", rows_counted as "rowsCounted", found, repaired
       from reconcile_runs where not is_dry_run order by id desc`,
  );
  const merged = await readStretches(db, { since: new Date(0), limit: 100_000 });
  expect(calendarOf(merged), `TEST_SEED=${seed}`).toEqual(calendarOf(single));
  expect(merged.length).toBeLessThan(single.length * 0.9);
});
