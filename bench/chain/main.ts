/**
 * `npm run bench:chain`: what chaining the journal costs the worker that applies events. Applies as fast as
 * it can, without the publisher and with it, in alternating pairs. What a run without it leaves is chained
 * before the next one, so each run with it chains its own transfers.
 */
import { measureUnchained, readChainHead } from '../../src/ledger/read/chain.ts';
import type { Cleanup } from '../cleanup.ts';
import { drain } from '../endToEnd.ts';
import { isCheap, type Pairs, startPairs, whole } from '../pairs.ts';
import { compiled, type Started, startModule } from '../processes.ts';
import { type BenchParts, readCount, runBench } from '../runBench.ts';
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

async function compare(options: Options, { folder, cleanup }: BenchParts): Promise<boolean> {
  const { pairs: count, seconds, ratePerSecond } = options;
  const pairs = await startPairs({
    name: 'bench_chain',
    seed: SEED,
    folder,
    cleanup,
    ratePerSecond,
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
    { name: 'publisher', file: compiled('bench/chain/publisher.js'), env: {}, cwd, cleanup },
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

await runBench({
  help: HELP,
  flags: { pairs: '9', seconds: '20', rate: undefined },
  deadlineMs: DEADLINE_MS,
  run: ({ pairs, seconds, rate }, parts) =>
    compare(
      {
        pairs: readCount('--pairs', pairs),
        seconds: readCount('--seconds', seconds),
        ratePerSecond: rate === undefined ? undefined : readCount('--rate', rate),
      },
      parts,
    ),
});
