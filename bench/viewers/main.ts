/**
 * `npm run bench:viewers`: what open pages of the console cost the worker that applies events. Applies as
 * fast as it can, without viewers and with them, in alternating pairs. Checkpoints are made between the
 * runs: one in a single run of a pair would decide its ratio.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { settings } from '../api.ts';
import type { Cleanup } from '../cleanup.ts';
import type { BenchDatabase } from '../database.ts';
import { drain } from '../endToEnd.ts';
import { isCheap, startPairs, whole } from '../pairs.ts';
import { compiled, type Started, startLogging, startModule } from '../processes.ts';
import { type BenchParts, readCount, runBench } from '../runBench.ts';
import type { FromViewers, Seen, ToViewers } from './protocol.ts';

const HELP = `npm run bench:viewers -- [flags]

  --viewers N     open pages (200)
  --pairs N       runs with viewers, each beside one without (9)
  --seconds N     counted time of a run (20)
  --rate N        events a second (as many as the machine takes)
  --data-dir DIR  where to make the temporary database (the system's)

Exit code 1: viewers cost more than 3 % of the applied rate, at the median of the pairs.`;

const MAX_COST = 0.03;
const SEED = 8;
const FILL_SECONDS = 10;
/** Opening the pages uses up their allowance (invariant 5 of watcher.ts), which is back after this. */
const SETTLE_MS = 15_000;
const DEADLINE_MS = 30 * 60_000;

interface Options {
  readonly viewers: number;
  readonly pairs: number;
  readonly seconds: number;
  readonly ratePerSecond: number | undefined;
}

async function compare(options: Options, { folder, cleanup }: BenchParts): Promise<boolean> {
  const pairs = await startPairs({
    ...{ name: 'bench_viewers', seed: SEED, folder, cleanup },
    ratePerSecond: options.ratePerSecond,
  });
  const { db } = pairs;
  const desk = await openDesk(db.url, folder, cleanup);

  const run = (seconds: number) => pairs.run(seconds, [desk.console, desk.tabs]);
  await run(FILL_SECONDS);
  await drain(db);
  const paths = await pathsOf(db, options.viewers);
  console.log('without/s    with/s   ratio   pages/s   console   viewers    events  postgres');
  const ratios: number[] = [];
  for (let n = 0; n < options.pairs; n += 1) {
    const withViewers = async () => {
      await desk.watch(paths);
      await sleep(SETTLE_MS);
      const startMs = performance.now();
      const report = await run(options.seconds);
      const seconds = (performance.now() - startMs) / 1_000;
      return { report, seconds, seen: await desk.end() };
    };
    const isWithFirst = n % 2 === 1;
    const first = isWithFirst ? await withViewers() : undefined;
    const without = await run(options.seconds);
    const { report, seconds, seen } = first ?? (await withViewers());
    if (seen.failed > 0) throw new Error(`${seen.failed} requests of the viewers failed`);
    const ratio = report.appliedPerSecond / without.appliedPerSecond;
    ratios.push(ratio);
    const cores = (name: string) => (report.cpu.processes[name] ?? 0).toFixed(2).padStart(10);
    console.log(
      [
        whole(without.appliedPerSecond).padStart(9),
        whole(report.appliedPerSecond).padStart(10),
        ratio.toFixed(3).padStart(8),
        (seen.fetched / seconds).toFixed(1).padStart(10),
        cores('console'),
        cores('viewers'),
        cores('events'),
        cores('postgres'),
      ].join(''),
    );
  }
  return isCheap(ratios, `${options.viewers} viewers`, MAX_COST);
}

/** What people have open: half of them lists that move all the time, the rest one order. */
async function pathsOf(db: BenchDatabase, count: number): Promise<readonly string[]> {
  const orders = await db.query<{ id: string }>(
    'select order_id as id from orders where order_id is not null order by order_key limit $1',
    [count],
  );
  const lists = ['/', '/orders', '/payments', '/inbox', '/alerts'];
  return Array.from({ length: count }, (_, n) =>
    n % 2 === 0
      ? (lists[(n / 2) % lists.length] ?? '/')
      : `/orders/${encodeURIComponent(orders[n % orders.length]?.id ?? '')}`,
  );
}

interface Desk {
  readonly console: Started;
  readonly tabs: Started;
  watch(paths: readonly string[]): Promise<void>;
  end(): Promise<Seen>;
}

/** A console, and a process that opens its pages. */
async function openDesk(url: string, cwd: string, cleanup: Cleanup): Promise<Desk> {
  const token = randomBytes(24).toString('hex');
  const env = { ...settings(url), ADMIN_PORT: '0', ADMIN_TOKEN: token };
  const file = compiled('workers/console.js');
  const started = await startLogging(
    { name: 'console', file, env, cwd, cleanup },
    'console.listening',
  );
  let listen: (message: FromViewers) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const next = (message: ToViewers | undefined): Promise<FromViewers> =>
    new Promise((resolve, reject) => {
      listen = resolve;
      fail = reject;
      if (message) module.send(message);
    });
  const module = startModule(
    { name: 'viewers', file: compiled('bench/viewers/viewers.js'), env: {}, cwd, cleanup },
    (message) => listen(message as FromViewers),
    () => fail(new Error('the process of the viewers ended')),
  );
  await next(undefined);
  const port = started.ready?.port ?? 0;
  return {
    console: started,
    tabs: module.started,
    watch: async (paths) => {
      await next({ type: 'watch', watch: { port, token, paths } });
    },
    end: async () => {
      const message = await next({ type: 'end' });
      return message.type === 'ended' ? message.seen : { fetched: 0, failed: 0 };
    },
  };
}

await runBench({
  help: HELP,
  flags: { viewers: '200', pairs: '9', seconds: '20', rate: undefined },
  deadlineMs: DEADLINE_MS,
  run: ({ viewers, pairs, seconds, rate }, parts) =>
    compare(
      {
        viewers: readCount('--viewers', viewers),
        pairs: readCount('--pairs', pairs),
        seconds: readCount('--seconds', seconds),
        ratePerSecond: rate === undefined ? undefined : readCount('--rate', rate),
      },
      parts,
    ),
});
