/** One table of all sizes, printed at the end of a run. */
import { median } from '../quantiles.ts';
import type { Figures, LoadFigures, RetentionFigures } from './measure.ts';
import { totalBytes } from './sizes.ts';

/** What was measured of one ledger. */
export interface Measured extends Omit<Figures, 'load'> {
  readonly events: number;
  /** One for each round. */
  readonly loads: readonly LoadFigures[];
}

interface Row {
  readonly name: string;
  /** Undefined: its part was not run. */
  readonly of: (measured: Measured) => number | undefined;
  readonly digits: number;
}

const ROWS: readonly Row[] = [
  {
    name: 'bytes per event',
    of: ({ sizes, events }) => per(sizes && totalBytes(sizes), events),
    digits: 0,
  },
  {
    name: 'after retention, files',
    of: ({ aging, events }) => per(aging?.fileBytes, events),
    digits: 0,
  },
  {
    name: 'after retention, live',
    of: ({ aging, events }) => per(aging?.liveBytes, events),
    digits: 0,
  },
  { name: 'order by id, p99 ms', of: (measured) => slowestP99Ms(measured, 'order'), digits: 1 },
  {
    name: 'list by status, worst p99 ms',
    of: (measured) => slowestP99Ms(measured, 'newest'),
    digits: 1,
  },
  {
    name: '100 changes, p99 ms',
    of: (measured) => slowestP99Ms(measured, '100 changes'),
    digits: 1,
  },
  { name: 'accepted/s', of: (measured) => ofLoads(measured, 'acceptedPerSecond'), digits: 0 },
  { name: 'applied/s', of: (measured) => ofLoads(measured, 'appliedPerSecond'), digits: 0 },
  { name: 'accepted / bare', of: (measured) => ofLoads(measured, 'acceptedOfBare'), digits: 2 },
  {
    name: 'reply under load, p99 ms',
    of: (measured) => ofLoads(measured, 'replyP99Ms'),
    digits: 1,
  },
  {
    name: 'before retention, p99 ms',
    of: (measured) => besideRetention(measured, 'before'),
    digits: 1,
  },
  {
    name: 'in retention, p99 ms',
    of: (measured) => besideRetention(measured, 'during'),
    digits: 1,
  },
  {
    name: 'after retention, p99 ms',
    of: (measured) => besideRetention(measured, 'after'),
    digits: 1,
  },
  { name: 'in retention / before', of: retentionRatio, digits: 2 },
];

const NAME_WIDTH = 30;
const CELL_WIDTH = 14;

export function printSummary(measured: readonly Measured[]): void {
  const cell = (text: string) => text.padStart(CELL_WIDTH);
  const head = measured.map(({ events }) => cell(events.toLocaleString('en'))).join('');
  console.log(`\n${'events'.padEnd(NAME_WIDTH)}${head}`);
  for (const { name, of, digits } of ROWS) {
    const values = measured.map(of);
    if (values.every((value) => value === undefined)) continue;
    const cells = values.map((value) => cell(value === undefined ? '' : value.toFixed(digits)));
    console.log(`${name.padEnd(NAME_WIDTH)}${cells.join('')}`);
  }
}

/** The median of all rounds. */
function ofLoads({ loads }: Measured, field: keyof LoadFigures): number | undefined {
  return loads.length === 0 ? undefined : median(loads.map((load) => load[field]));
}

function per(bytes: number | undefined, events: number): number | undefined {
  return bytes === undefined ? undefined : bytes / events;
}

/** Of the reads with names that begin so. */
function slowestP99Ms({ reads }: Measured, beginning: string): number | undefined {
  const times = reads?.filter(({ name }) => name.startsWith(beginning)).map(({ p99Ms }) => p99Ms);
  return times && Math.max(...times);
}

/** The median of all windows. */
function besideRetention(
  { retention }: Measured,
  phase: keyof RetentionFigures['replyP99Ms'],
): number | undefined {
  return retention && median(retention.replyP99Ms[phase]);
}

function retentionRatio(measured: Measured): number | undefined {
  const before = besideRetention(measured, 'before');
  const during = besideRetention(measured, 'during');
  return before === undefined || during === undefined ? undefined : during / before;
}
