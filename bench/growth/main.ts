/**
 * `npm run bench:growth`: what a ledger costs as it grows. Fills it to each size with the rows that
 * Tallyhook writes, and measures disk for each event, reads, and the rates of intake and worker.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  type BenchParts,
  FlagError,
  type Given,
  readCount,
  readNames,
  runBench,
} from '../runBench.ts';
import { fill, type Plan } from './fill.ts';
import { type LoadFigures, type Measuring, measurePart, PARTS, type Part } from './measure.ts';
import { type Measured, printSummary } from './summary.ts';
import { TEMPLATE_EVENTS } from './template.ts';

const HELP = `npm run bench:growth -- [flags]

  --events N,N,...   sizes of the ledger, ascending (1e6,5e6,20e6)
  --body-bytes N     bytes of a body (1500)
  --per-day N        events a day, which decides how old the rows are (1e6)
  --days N           spread the events over N days up to now instead, and run the parts "sizes" and
                     "aging": what default retention removes, and what is left; takes one size
  --retained         leave out what default retention has removed by then, so that a ledger of years fits
                     on a disk: 65 GB for 1e6, 5e6 and 20e6 events at 5e4 a day. Each size is a ledger
                     of its own, with its last event now
  --rounds N         loads of each ledger, with --retained in turn, so that all meet the same changes of
                     the machine's speed (5)
  --only PART        only this part, can be repeated: ${PARTS.join(', ')}
  --seconds N        counted time of the load (20)
  --keep-days N      the part "retention": what it keeps of bodies and messages (4)
  --json FILE        also write all figures to FILE
  --data-dir DIR     where to make the temporary folder of the database (the system's)
  --keep DIR         a folder that keeps the ledger; the next run goes on with it

Needs about 6 kB of disk for each event, and 2 GB more. Exit code 1: an acknowledged event was lost.`;

const DEADLINE_MS = 6 * 3_600_000;

const FLAGS = {
  events: '1e6,5e6,20e6',
  'body-bytes': '1500',
  'per-day': '1e6',
  days: undefined,
  retained: false,
  only: [],
  rounds: '5',
  seconds: '20',
  'keep-days': '4',
  json: undefined,
  keep: undefined,
} as const;

interface Options extends Omit<Plan, 'dataDir' | 'finalEvents'>, Measuring {
  readonly sizes: readonly number[];
  readonly parts: readonly Part[];
  readonly rounds: number;
  readonly jsonFile: string | undefined;
  /** Holds the ledger from one run to the next; undefined: it is removed at the end. */
  readonly keptDir: string | undefined;
}

interface Filled {
  readonly figures: Measured & { readonly loads: LoadFigures[] };
  readonly dataDir: string;
}

async function measureSizes(options: Options, bench: BenchParts): Promise<boolean> {
  const measured: Measured[] = [];
  const secret = randomBytes(32).toString('hex');
  const measure = async (part: Part, { figures, dataDir }: Filled, title?: string) => {
    if (!options.parts.includes(part)) return;
    if (title) console.log(`\n${figures.events.toLocaleString('en')} events, ${title}`);
    const ledger = { ...options, ...bench, events: figures.events, dataDir, secret };
    const { load, ...others } = await measurePart(part, ledger, bench.cleanup);
    if (load) figures.loads.push(load);
    Object.assign(figures, others);
    writeJson(options, measured);
  };
  for (const group of options.isRetained ? [options.sizes] : options.sizes.map((size) => [size])) {
    const ledgers: Filled[] = [];
    for (const size of group) {
      const filled = await fillTo(size, options, bench);
      ledgers.push(filled);
      measured.push(filled.figures);
      for (const part of ['sizes', 'aging', 'reads'] as const) await measure(part, filled);
    }
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const filled of ledgers) await measure('load', filled, `load ${round}`);
    }
    for (const filled of ledgers) await measure('retention', filled, 'retention');
  }
  printSummary(measured);
  return measured.every(({ loads, retention }) =>
    [...loads, ...(retention ? [retention] : [])].every(
      ({ stored, acknowledged }) => stored >= acknowledged,
    ),
  );
}

async function fillTo(
  size: number,
  options: Options,
  { folder, cleanup }: BenchParts,
): Promise<Filled> {
  const startMs = performance.now();
  const dataDirs = options.keptDir ?? join(folder, 'data');
  // A ledger without its old rows cannot grow into a larger one: its rows do not become older.
  const dataDir = options.isRetained ? join(dataDirs, String(size)) : dataDirs;
  const finalEvents = options.isRetained ? size : (options.sizes.at(-1) ?? 0);
  const events = await fill({ ...options, dataDir, finalEvents }, size, cleanup);
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(0);
  console.log(`\n${events.toLocaleString('en')} events (made in ${seconds} s)`);
  return { figures: { events, loads: [] }, dataDir };
}

function writeJson({ jsonFile }: Options, measured: readonly Measured[]): void {
  if (jsonFile === undefined) return;
  writeFileSync(jsonFile, `${JSON.stringify(measured, undefined, 2)}\n`);
}

function readOptions(given: Given<typeof FLAGS>): Options {
  const sizes = given.events
    .split(',')
    .map((text) => readCount('--events', text, TEMPLATE_EVENTS))
    .sort((a, b) => a - b);
  const perDay = readCount('--per-day', given['per-day']);
  const days = given.days === undefined ? undefined : readCount('--days', given.days);
  if (days !== undefined && sizes.length > 1) throw new FlagError('--days takes one size');
  if (days !== undefined && given.retained) {
    throw new FlagError('--days removes by itself what --retained leaves out');
  }
  const only = readNames('--only', given.only, PARTS);
  return {
    sizes,
    bodyBytes: readCount('--body-bytes', given['body-bytes']),
    isRetained: given.retained,
    eventsPerDay: days === undefined ? perDay : Math.ceil((sizes[0] ?? 0) / days),
    parts: only.length > 0 ? only : days === undefined ? GROWING_PARTS : AGING_PARTS,
    rounds: readCount('--rounds', given.rounds),
    seconds: readCount('--seconds', given.seconds),
    keepDays: readCount('--keep-days', given['keep-days'], 4),
    jsonFile: given.json,
    keptDir: given.keep === undefined ? undefined : resolve(given.keep),
  };
}

const GROWING_PARTS: readonly Part[] = ['sizes', 'reads', 'load', 'retention'];
const AGING_PARTS: readonly Part[] = ['sizes', 'aging'];

await runBench({
  help: HELP,
  flags: FLAGS,
  deadlineMs: DEADLINE_MS,
  run: (given, parts) => measureSizes(readOptions(given), parts),
});
