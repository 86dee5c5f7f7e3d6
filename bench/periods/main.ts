/**
 * `npm run bench:periods`: the journal and the snapshots as one table each, and partitioned by month.
 * Both hold the same year. The statements of the worker, of `explain` and of the export run on both
 * in turn. docs/decisions/0086-journal-in-one-table.md has what was decided.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { ResourceRef } from '../../src/ledger/domain/snapshot.ts';
import { readEntries, readEvidence } from '../../src/ledger/read/store/explain.ts';
import { readJournalBounds, readJournalChunk } from '../../src/ledger/read/store/journal.ts';
import { insertTransfers, type NewTransfer } from '../../src/ledger/store/journal.ts';
import {
  insertSnapshots,
  type NewSnapshot,
  readSnapshots,
} from '../../src/ledger/store/snapshots.ts';
import { createDatabase, type Database, type Queryable } from '../../src/platform/db/database.ts';
import { createLog } from '../../src/platform/log.ts';
import type { Cleanup } from '../cleanup.ts';
import { startPostgres } from '../database.ts';
import { blocksOf } from '../ledger/plans.ts';
import { quantile } from '../quantiles.ts';
import { type BenchParts, readCount, runBench } from '../runBench.ts';
import { contentOf, createTables, idOf, LAYOUTS, type Layout, START_MS } from './tables.ts';

const HELP = `npm run bench:periods -- [flags]

  --resources N   resources of the year (400000)
  --data-dir DIR  where to make the temporary database (the system's)`;

const DEADLINE_MS = 2 * 3_600_000;
const ROUNDS = 5;
const TRANSACTIONS = 40;
const REFS_PER_TRANSACTION = 100;
const READS = 100;
const PARTS_PER_ORDER = 2;
const CHUNK_ROWS = 1_000;
const DAY_MICROS = 86_400_000_000;

interface Side {
  readonly layout: Layout;
  readonly db: Database;
  readonly times: Map<string, number[]>;
  readonly blocks: Map<string, number[]>;
}

async function measureAll(resources: number, { folder, cleanup }: BenchParts): Promise<boolean> {
  const postgres = await startPostgres(join(folder, 'data'), cleanup);
  const { url } = await postgres.createDatabase('bench_periods');
  const sides = LAYOUTS.map((layout) => openSide(url, layout, cleanup));
  for (const { layout, db } of sides) await createTables(db, layout, resources);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      await measure(side, round, resources);
    }
  }
  report(sides);
  for (const side of sides) await repeatTransfer(side);
  return true;
}

function openSide(url: string, layout: Layout, cleanup: Cleanup): Side {
  const own = new URL(url);
  own.searchParams.set('options', `-c search_path=${layout},public`);
  const db = createDatabase({
    connectionString: own.href,
    log: createLog('silent'),
    applicationName: 'tallyhook-bench-periods',
    maxConnections: 1,
    responseTimeoutMs: 1_800_000,
    plans: 'by_key',
  });
  cleanup.add(() => db.close());
  return { layout, db, times: new Map(), blocks: new Map() };
}

async function measure(side: Side, round: number, resources: number): Promise<void> {
  for (let n = 0; n < TRANSACTIONS; n += 1) {
    const batch = round * TRANSACTIONS + n;
    const { refs, snapshots, transfers } = batchOf(batch, resources);
    await timed(side, 'apply 100 resources', (db) =>
      db.transaction(async (tx) => {
        await readSnapshots(tx, refs);
        await insertSnapshots(tx, snapshots);
        await insertTransfers(tx, transfers);
      }),
    );
  }
  for (let n = 0; n < READS; n += 1) {
    const first = 1 + ((n * 7_919 + round * 104_729) % (resources - PARTS_PER_ORDER));
    const refs = Array.from({ length: PARTS_PER_ORDER }, (_, part) => refOf(first + part));
    await timed(side, 'explain an order', async (db) => {
      await readEvidence(db, refs, CHUNK_ROWS);
      await readEntries(db, refs, CHUNK_ROWS);
    });
  }
  const fromMicros = START_MS * 1_000 + 31 * DAY_MICROS;
  const range = { fromMicros, toMicros: fromMicros + 28 * DAY_MICROS };
  await timed(side, 'bounds of a month', async (db) => {
    await readJournalBounds(db, range);
  });
  const bounds = await readJournalBounds(side.db, range);
  if (!bounds) throw new Error('the month has no transfers');
  await timed(side, 'first 1,000 of a month', async (db) => {
    await readJournalChunk(db, {
      ...range,
      afterId: bounds.firstId - 1,
      lastId: bounds.lastId,
      limit: CHUNK_ROWS,
    });
  });
}

/** Half of the resources are new, half go on from their first transfer. */
function batchOf(batch: number, resources: number) {
  const numbers = Array.from({ length: REFS_PER_TRANSACTION }, (_, n) =>
    n % 2 === 0
      ? resources + 1 + batch * REFS_PER_TRANSACTION + n
      : resources - batch * REFS_PER_TRANSACTION - n,
  );
  return {
    refs: numbers.map(refOf),
    snapshots: numbers.map((number): NewSnapshot => {
      const content = contentOf(number, 'again');
      return {
        ref: refOf(number),
        epoch: 0,
        contentHash: createHash('sha256').update(content).digest('hex'),
        content: JSON.parse(content),
        source: 'webhook',
        observedMicros: START_MS * 1_000,
        webhookEventId: undefined,
      };
    }),
    transfers: numbers.map((number, n): NewTransfer => {
      const seq = n % 2 === 0 ? 1 : 2;
      return {
        ref: refOf(number),
        leg: 'captured',
        currency: 'USD',
        seq,
        debit: 'psp.clearing',
        credit: 'order.due',
        amountMinor: 500,
        previousMinor: seq === 1 ? 0 : 500,
        cumulativeMinor: seq === 1 ? 500 : 1_000,
        headHash: createHash('sha256').update(contentOf(number, 'again')).digest('hex'),
        webhookEventId: undefined,
        effectiveMicros: START_MS * 1_000,
        source: 'version',
      };
    }),
  };
}

function refOf(number: number): ResourceRef {
  return { kind: 'payment', id: idOf(number) };
}

/** Runs `work` for its time, and reads again with the blocks counted. */
async function timed(
  side: Side,
  name: string,
  work: (db: Database) => Promise<void>,
): Promise<void> {
  const startMs = performance.now();
  await work(side.db);
  push(side.times, name, performance.now() - startMs);
  if (name.startsWith('apply')) return;
  let blocks = 0;
  const counting: Queryable = {
    query: async (text, values) => {
      const lines = await side.db.query<{ 'QUERY PLAN': string }>(
        `explain (analyze, buffers, timing off) ${text}`,
        values,
      );
      blocks += blocksOf(lines.map((line) => line['QUERY PLAN']).join('\n'));
      return [];
    },
  };
  await work({ ...side.db, ...counting });
  push(side.blocks, name, blocks);
}

function push(map: Map<string, number[]>, name: string, value: number): void {
  map.set(name, [...(map.get(name) ?? []), value]);
}

function report(sides: readonly Side[]): void {
  console.log(`\n  ${''.padEnd(24)} ${sides.map(({ layout }) => layout.padStart(38)).join('')}`);
  for (const name of sides[0]?.times.keys() ?? []) {
    const cells = sides.map(({ times, blocks }) => {
      const ascending = (times.get(name) ?? []).toSorted((a, b) => a - b);
      const touched = (blocks.get(name) ?? []).toSorted((a, b) => a - b);
      const millis = (share: number) => `${quantile(ascending, share).toFixed(2)} ms`;
      const counted = touched.length === 0 ? '' : `, ${quantile(touched, 0.5)} blocks`;
      return `p50 ${millis(0.5)}, p99 ${millis(0.99)}${counted}`.padStart(38);
    });
    console.log(`  ${name.padEnd(24)} ${cells.join('')}`);
  }
}

/** Posts the first transfer of a resource a second time, as a worker with a stale view would. */
async function repeatTransfer({ layout, db }: Side): Promise<void> {
  const { transfers } = batchOf(0, 1_000);
  const again = transfers
    .filter(({ seq }) => seq === 2)
    .map((one) => ({ ...one, seq: 1, previousMinor: 0, cumulativeMinor: 500 }));
  try {
    await insertTransfers(db, again.slice(0, 1));
    console.log(`  ${layout}: a transfer that was posted before is ACCEPTED`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    console.log(`  ${layout}: a transfer that was posted before is rejected (${reason})`);
  }
}

await runBench({
  help: HELP,
  flags: { resources: '400000' },
  deadlineMs: DEADLINE_MS,
  run: ({ resources }, parts) => measureAll(readCount('--resources', resources, 50_000), parts),
});
