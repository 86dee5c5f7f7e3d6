/**
 * `npm run bench:statements`: how long the statement of a month takes over two years of transfers, and how much
 * memory the command holds, for a closed month and an open one, in every format.
 */
import { join } from 'node:path';
import { settings } from '../api.ts';
import { type BenchDatabase, startPostgres } from '../database.ts';
import { runWatched } from '../ledger/memory.ts';
import { type BenchParts, readCount, runBench } from '../runBench.ts';
import { fill, filledMonths } from './fill.ts';

const HELP = `npm run bench:statements -- [flags]

  --transfers LIST  sizes of the journal, separated by commas (1000000,10000000)
  --data-dir DIR    where to make the temporary database (the system's)

Runs \`tallyhook statement\` on each journal, and compares the time and the memory of the largest with those of the
first. Takes about 1 kB of disk for each transfer.
Exit code: 0 every target was reached, 1 not.`;

const MAX_SECONDS = 10;
const MAX_GROWTH_MIB = 16;
const FORMATS = ['text', 'csv', 'json', 'html'] as const;
const DEADLINE_MS = 3 * 3_600_000;
const MINIMUM = 100_000;

async function measureAll(
  sizes: readonly number[],
  { folder, cleanup }: BenchParts,
): Promise<boolean> {
  const months = filledMonths(Date.now());
  const [closed = '', open = ''] = months.slice(-2);
  const peaks: number[] = [];
  let areReached = true;
  for (const [place, transfers] of sizes.entries()) {
    const dataDir = join(folder, `data_${place}`);
    const database = 'bench_statements';
    const startMs = performance.now();
    await fill({ dataDir, database, transfers, months, closed }, cleanup);
    const postgres = await startPostgres(dataDir, cleanup);
    const bench = postgres.openDatabase(database);
    await printSize(bench, (performance.now() - startMs) / 1_000);
    const measured = await measure(bench.url, { closed, open });
    peaks.push(Math.max(...measured.map(({ peakMib }) => peakMib)));
    areReached &&= measured.every(({ seconds }) => seconds <= MAX_SECONDS);
  }
  const grownMib = (peaks.at(-1) ?? 0) - (peaks[0] ?? 0);
  areReached &&= grownMib <= MAX_GROWTH_MIB;
  console.log(
    `\n  target: at most ${MAX_SECONDS} s, and ${MAX_GROWTH_MIB} MiB more for the largest journal than for the ` +
      `first (${grownMib.toFixed(0)}): ${areReached ? 'reached' : 'MISSED'}`,
  );
  return areReached;
}

async function printSize(bench: BenchDatabase, filledSeconds: number): Promise<void> {
  const [row] = await bench.query<Record<'transfers' | 'lines' | 'bytes', number>>(
    `select (select count(*) from transfers) as transfers, (select count(*) from settlement_lines) as lines,
            pg_database_size(current_database()) as bytes`,
  );
  const { transfers = 0, lines = 0, bytes = 0 } = row ?? {};
  console.log(
    `\n  ${transfers.toLocaleString('en')} transfers, ${lines.toLocaleString('en')} lines of reports and bank ` +
      `statements, ${(bytes / 1e9).toFixed(1)} GB, filled in ${filledSeconds.toFixed(0)} s`,
  );
}

interface Measured {
  readonly seconds: number;
  readonly peakMib: number;
}

/** Each twice: the first run of a month may read from the disk. */
async function measure(
  url: string,
  months: Readonly<Record<'closed' | 'open', string>>,
): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  console.log(
    `  ${'month'.padEnd(8)} ${'format'.padEnd(6)}   first s  second s   peak MiB      kB`,
  );
  for (const [state, month] of Object.entries(months)) {
    for (const format of FORMATS) {
      const runs = [];
      for (let n = 0; n < 2; n += 1) {
        const args = ['statement', '--month', month, '--format', format];
        const run = await runWatched(args, settings(url));
        if (run.exitCode !== 0) throw new Error(`${args.join(' ')} exited with ${run.exitCode}`);
        runs.push(run);
      }
      measured.push(...runs);
      const seconds = runs.map((run) => run.seconds.toFixed(2).padStart(9)).join(' ');
      const peakMib = Math.max(...runs.map((run) => run.peakMib))
        .toFixed(0)
        .padStart(10);
      const size = ((runs[0]?.output.length ?? 0) / 1_000).toFixed(0).padStart(7);
      console.log(`  ${state.padEnd(8)} ${format.padEnd(6)} ${seconds} ${peakMib} ${size}`);
    }
  }
  return measured;
}

await runBench({
  help: HELP,
  flags: { transfers: '1000000,10000000' },
  deadlineMs: DEADLINE_MS,
  run: ({ transfers }, parts) =>
    measureAll(
      transfers.split(',').map((size) => readCount('--transfers', size, MINIMUM)),
      parts,
    ),
});
