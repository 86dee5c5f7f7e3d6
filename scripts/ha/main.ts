/** The command line of scripts/ha.sh. */
import { parseArgs } from 'node:util';
import { createCleanup } from '../../bench/cleanup.ts';
import { quantile } from '../../bench/quantiles.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { down, up } from './cluster.ts';
import { type Drilled, drill } from './drill.ts';
import { FAULTS, type Fault } from './faults.ts';
import { startInstallation } from './installation.ts';
import { startLoad } from './load.ts';
import { ADDRESSES, LOGS, MODES, type Mode, type Way } from './nodes.ts';

const USAGE = `usage: scripts/ha.sh up [--mode MODE]
       scripts/ha.sh drill N [--mode MODE] [--faults A,B] [--seed N] [--rate ORDERS] [--pgbouncer]
       scripts/ha.sh down
modes: ${MODES.join(', ')} (default: synchronous); faults: ${FAULTS.join(', ')} (default: all)
`;

/** A drill takes about a minute, and less than this. */
const MOST_MINUTES_OF_A_DRILL = 10;

interface DrillOptions {
  readonly drills: number;
  readonly mode: Mode;
  readonly faults: readonly Fault[];
  readonly seed: number;
  readonly rate: number;
  readonly ways: readonly Way[];
}

/** @returns the exit code: 0 done, 1 something does not hold, 2 usage */
export async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      mode: { type: 'string', default: 'synchronous' },
      faults: { type: 'string', default: FAULTS.join(',') },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      rate: { type: 'string', default: '8' },
      pgbouncer: { type: 'boolean', default: false },
    },
  });
  const [command, count = '1'] = positionals;
  const mode = MODES.find((one) => one === values.mode);
  const faults = FAULTS.filter((fault) => values.faults.split(',').includes(fault));
  const [drills, seed, rate] = [Number(count), Number(values.seed), Number(values.rate)];
  if (!mode || faults.length === 0 || !(drills > 0) || !(rate > 0) || !Number.isInteger(seed)) {
    process.stderr.write(USAGE);
    return 2;
  }
  switch (command) {
    case 'up':
      await up(mode);
      print(`The leader is behind ${ADDRESSES.haproxy} and one of ${ADDRESSES.hosts}`);
      return 0;
    case 'down':
      await down();
      return 0;
    case 'drill': {
      const ways: readonly Way[] = [
        'hosts',
        'haproxy',
        ...(values.pgbouncer ? (['pgbouncer'] as const) : []),
      ];
      return await drillAll({ drills, mode, faults, seed, rate, ways });
    }
    default:
      process.stderr.write(USAGE);
      return 2;
  }
}

async function drillAll(options: DrillOptions): Promise<number> {
  const { drills, mode, faults, seed, rate, ways } = options;
  const cleanup = createCleanup();
  const timer = setTimeout(
    () => void cleanup.run().finally(() => process.exit(1)),
    (5 + drills * MOST_MINUTES_OF_A_DRILL) * 60_000,
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cleanup.run().finally(() => process.exit(130)));
  }
  print(`${drills} drills, ${mode}, seed ${seed}`);
  const drilled: Drilled[] = [];
  try {
    cleanup.add(down);
    await up(mode);
    const load = await startLoad(seed);
    cleanup.add(load.close);
    const installation = await startInstallation(load, ways);
    cleanup.add(installation.stop);
    load.deliverTo(installation.doors);
    const random = seededRandom(seed);
    let turn: Fault[] = [];
    for (let number = 1; number <= drills; number += 1) {
      if (turn.length === 0) turn = shuffled(faults, random);
      const fault = turn.pop() ?? 'kill';
      const one = await drill({ load, installation, mode, ordersPerSecond: rate }, fault);
      drilled.push(one);
      print(lineOf(number, one));
      for (const failure of one.failures) print(`    ${failure}`);
    }
    const { deliveries, refused, failedOrders } = load.counts;
    print(`deliveries ${deliveries}, refused ${refused}, orders that failed ${failedOrders}`);
  } finally {
    clearTimeout(timer);
    await cleanup.run();
  }
  printSummary(drilled, ways);
  print(`The logs are in ${LOGS}`);
  return drilled.every(({ failures }) => failures.length === 0) ? 0 : 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

function lineOf(
  number: number,
  { fault, leaders, acknowledged, lost, putBack, reinitialized, outageMs, failures }: Drilled,
): string {
  const outages = [...outageMs].map(([way, ms]) => `${way} ${seconds(ms)} s`).join(', ');
  const state = failures.length === 0 ? 'equal' : `${failures.length} FAILURES`;
  const copied =
    reinitialized.length === 0 ? '' : `, reinitialized: ${reinitialized.join(' and ')}`;
  return `${number} ${fault} (${leaders}): acknowledged ${acknowledged}, lost ${lost}, put back ${putBack}, without acceptance ${outages}${copied}, ${state}`;
}

function printSummary(drilled: readonly Drilled[], ways: readonly Way[]): void {
  const header = [
    'fault',
    'drills',
    'acknowledged',
    'lost',
    'put back',
    'reinitialized',
    ...ways.flatMap((way) => [`${way} p50 s`, `p99 s`]),
  ];
  const row = (name: string, some: readonly Drilled[]): readonly string[] => [
    name,
    String(some.length),
    String(some.reduce((sum, { acknowledged }) => sum + acknowledged, 0)),
    String(some.reduce((sum, { lost }) => sum + lost, 0)),
    String(some.reduce((sum, { putBack }) => sum + putBack, 0)),
    String(some.reduce((sum, { reinitialized }) => sum + reinitialized.length, 0)),
    ...ways.flatMap((way) => {
      const ascending = some
        .map(({ outageMs }) => outageMs.get(way) ?? 0)
        .toSorted((a, b) => a - b);
      return [seconds(quantile(ascending, 0.5)), seconds(quantile(ascending, 0.99))];
    }),
  ];
  const rows = FAULTS.map((fault) =>
    row(
      fault,
      drilled.filter((one) => one.fault === fault),
    ),
  );
  const table = [header, ...rows.filter(([, count]) => count !== '0'), row('all', drilled)];
  for (const cells of table) print(`| ${cells.join(' | ')} |`);
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
