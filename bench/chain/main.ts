/**
 * `npm run bench:chain`: what chaining the journal costs the worker that applies events. Applies as fast as
 * it can, without the publisher and with it, in alternating pairs. What a run without it leaves is chained
 * before the next one, so each run with it chains its own transfers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureUnchained, readChainHead } from '../../src/ledger/read/chain.ts';
import { type Cleanup, cleanUpOnSignal, createCleanup } from '../cleanup.ts';
import { drain } from '../endToEnd.ts';
import { isCheap, type Pairs, readCount, startPairs, whole } from '../pairs.ts';
import { compiled, type Started, startModule } from '../processes.ts';
import type { FromPublisher, ToPublisher } from './protocol.ts';

const HELP = `npm run bench:chain -- [flags]

  --pairs N       runs with the publisher, each beside one without (9)
  --seconds N     counted time of a run (20)
  --rate N        events a second (as many as the machine takes)
  --data-dir DIR  where to make the temporary database (the system's)

Exit code 1: the chain costs more than 3 % of the applied rate, at the median of the pairs.`;

const MAX_COST = 0.03;
const SEED = 9;
const FILL_SECONDS = 10;
const DEADLINE_MS = 60 * 60_000;

interface Options {
  readonly pairs: number;
  readonly seconds: number;
  readonly ratePerSecond: number | undefined;
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      pairs: { type: 'string', default: '9' },
      seconds: { type: 'string', default: '20' },
      rate: { type: 'string' },
      'data-dir': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return true;
  }
  const options = {
    pairs: readCount('--pairs', values.pairs),
    seconds: readCount('--seconds', values.seconds),
    ratePerSecond: values.rate === undefined ? undefined : readCount('--rate', values.rate),
  };
  const cleanup = createCleanup();
  cleanUpOnSignal(cleanup, DEADLINE_MS);
  try {
    const folder = mkdtempSync(join(resolve(values['data-dir'] ?? tmpdir()), 'tallyhook-bench-'));
    cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
    return await compare(options, folder, cleanup);
  } finally {
    await cleanup.run();
  }
}

async function compare(options: Options, folder: string, cleanup: Cleanup): Promise<boolean> {
  const { pairs: count, seconds, ratePerSecond } = options;
  const pairs = await startPairs({
    ...{ name: 'bench_chain', seed: SEED, folder, cleanup, ratePerSecond },
  });
  const publisher = await startPublisher(pairs.db.url, folder, cleanup);
  const measure = async (isChained: boolean) => {
    await drain(pairs.db);
    await publisher.send('catch_up');
    const before = await chained(pairs);
    if (isChained) await publisher.send('begin');
    const report = await pairs.run(seconds, [publisher.started]);
    if (isChained) await publisher.send('end');
    const left = (await measureUnchained(pairs.db)).transfers;
    return { report, chained: (await chained(pairs)) - before, left };
  };
  await pairs.run(FILL_SECONDS, []);
  console.log('without/s    with/s   ratio   chained      left publisher    events  postgres');
  const ratios: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const first = await measure(n % 2 === 1);
    const second = await measure(n % 2 === 0);
    const [without, chain] = n % 2 === 1 ? [second, first] : [first, second];
    const ratio = chain.report.appliedPerSecond / without.report.appliedPerSecond;
    ratios.push(ratio);
    const { processes } = chain.report.cpu;
    const cores = (name: string) => (processes[name] ?? 0).toFixed(2).padStart(10);
    console.log(
      whole(without.report.appliedPerSecond).padStart(9) +
        whole(chain.report.appliedPerSecond).padStart(10) +
        ratio.toFixed(3).padStart(8) +
        whole(chain.chained).padStart(10) +
        whole(chain.left).padStart(10) +
        cores('publisher') +
        cores('events') +
        cores('postgres'),
    );
  }
  return isCheap(ratios, 'the chain', MAX_COST);
}

const chained = async ({ db }: Pairs) => (await readChainHead(db))?.totalTransfers ?? 0;

interface Publisher {
  readonly started: Started;
  send(type: ToPublisher['type']): Promise<void>;
}

async function startPublisher(url: string, cwd: string, cleanup: Cleanup): Promise<Publisher> {
  let listen: (message: FromPublisher) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const next = (): Promise<FromPublisher> =>
    new Promise((resolve, reject) => {
      listen = resolve;
      fail = reject;
    });
  const begun = next();
  const { started, send } = startModule(
    {
      ...{ name: 'publisher', file: compiled('bench/chain/publisher.js') },
      ...{ env: {}, cwd, cleanup },
    },
    (message) => listen(message as FromPublisher),
    () => fail(new Error('the process of the publisher ended')),
  );
  await begun;
  return {
    started,
    send: async (type) => {
      const done = next();
      send({ type, url } satisfies ToPublisher);
      await done;
    },
  };
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error('bench:', error instanceof Error ? (error.stack ?? error.message) : error);
  process.exitCode = 1;
}
