/**
 * `npm run bench:viewers`: what open pages of the console cost the worker that applies events.
 *
 * The worker applies a backlog, as fast as it can, without viewers and with them. Nothing is received
 * meanwhile: else the share of the processors that the receiver gets by chance decides how much is applied,
 * and pairs differ by a quarter with nobody watching. Runs are short and alternate, because the machine
 * itself may be slower some minutes later; both of a pair are of one backlog. The pages stay open: between
 * their runs the viewers rest and the console is suspended, so that it costs nothing there.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { settings } from '../api.ts';
import type { Cleanup } from '../cleanup.ts';
import type { BenchDatabase } from '../database.ts';
import { drain } from '../endToEnd.ts';
import { nodeFlags } from '../nodeFlags.ts';
import { isCheap, startPairs, whole } from '../pairs.ts';
import {
  compiled,
  createSuspension,
  type Started,
  startLogging,
  startModule,
} from '../processes.ts';
import { type BenchParts, readCount, runBench } from '../runBench.ts';
import type { FromViewers, Seen, ToViewers } from './protocol.ts';

const HELP = `npm run bench:viewers -- [flags]

  --viewers N     open pages (200)
  --pairs N       runs with viewers, each beside one without (20)
  --seconds N     counted time of a run (10)
  --data-dir DIR  where to make the temporary database (the system's)

Exit code 1: viewers cost more than 3 % of the applied rate, at the median of the pairs.`;

const MAX_COST = 0.03;
const SEED = 8;
const FILL_SECONDS = 10;
/** Opening the pages uses up their allowance (invariant 5 of watcher.ts), which is back after this. */
const SETTLE_MS = 15_000;
/** Until everybody who rested waits for news again, and the allowance that was left is spent. */
const RESUME_MS = 5_000;
/** Until the worker is at its full speed. */
const BEGIN_MS = 1_000;
/** Of the fastest run so far, so that no backlog is over before its runs are. */
const SPARE = 1.5;
const DEADLINE_MS = 60 * 60_000;

const NOTHING_SEEN: Seen = { fetched: 0, failures: [] };

interface Options {
  readonly viewers: number;
  readonly pairs: number;
  readonly seconds: number;
}

async function compare(options: Options, { folder, cleanup }: BenchParts): Promise<boolean> {
  const pairs = await startPairs({
    name: 'bench_viewers',
    seed: SEED,
    folder,
    cleanup,
    ratePerSecond: undefined,
  });
  const { db } = pairs;
  const desk = await openDesk(db.url, folder, cleanup);

  const others = [desk.console, desk.tabs];
  const { appliedPerSecond } = await pairs.run(FILL_SECONDS, others);
  await drain(db);
  await desk.open(await pathsOf(db, options.viewers));
  await sleep(SETTLE_MS);
  await desk.rest();
  const measure = async (isWatched: boolean) => {
    if (isWatched) {
      await desk.resume();
      await sleep(RESUME_MS);
    }
    const applied = await pairs.measureApplying(options.seconds, others);
    const seen = isWatched ? await desk.rest() : NOTHING_SEEN;
    if (seen.failures.length > 0) throw new Error(`viewers: ${seen.failures.join('; ')}`);
    return { ...applied, pagesPerSecond: seen.fetched / (RESUME_MS / 1_000 + options.seconds) };
  };
  const pairSeconds = (2 * BEGIN_MS + RESUME_MS) / 1_000 + 2 * options.seconds;
  let fastest = appliedPerSecond * 2;
  console.log(
    'without/s    with/s   ratio   pages/s     console     viewers      events    postgres' +
      '   (cores without and with)',
  );
  const ratios: number[] = [];
  for (let n = 0; n < options.pairs; n += 1) {
    await pairs.fillBacklog(fastest * pairSeconds * SPARE);
    pairs.applyBacklog();
    await sleep(BEGIN_MS);
    const first = await measure(n % 2 === 1);
    const second = await measure(n % 2 === 0);
    const [without, watched] = n % 2 === 1 ? [second, first] : [first, second];
    fastest = Math.max(fastest, without.perSecond, watched.perSecond);
    const ratio = watched.perSecond / without.perSecond;
    ratios.push(ratio);
    const cores = (name: string) =>
      [without, watched]
        .map(({ cpu }) => (cpu.processes[name] ?? 0).toFixed(2))
        .join(' ')
        .padStart(12);
    console.log(
      [
        whole(without.perSecond).padStart(9),
        whole(watched.perSecond).padStart(10),
        ratio.toFixed(3).padStart(8),
        watched.pagesPerSecond.toFixed(1).padStart(10),
        ...['console', 'viewers', 'events', 'postgres'].map(cores),
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
  open(paths: readonly string[]): Promise<void>;
  /** The viewers stop, and the console is suspended. */
  rest(): Promise<Seen>;
  /** Every viewer follows its page again. */
  resume(): Promise<void>;
}

/** A console, and a process that opens its pages. */
async function openDesk(url: string, cwd: string, cleanup: Cleanup): Promise<Desk> {
  const token = randomBytes(24).toString('hex');
  const env = { ...settings(url), ADMIN_PORT: '0', ADMIN_TOKEN: token };
  const file = compiled('workers/console.js');
  const started = await startLogging(
    { name: 'console', file, env, cwd, cleanup, nodeArgs: nodeFlags('console') },
    'console.listening',
  );
  const suspension = createSuspension(started, cleanup);
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
    open: async (paths) => {
      await next({ type: 'open', watch: { port, token, paths } });
      await next({ type: 'follow' });
    },
    rest: async () => {
      const message = await next({ type: 'rest' });
      suspension.suspend();
      return message.type === 'resting' ? message.seen : NOTHING_SEEN;
    },
    resume: async () => {
      suspension.wake();
      await next({ type: 'follow' });
    },
  };
}

await runBench({
  help: HELP,
  flags: { viewers: '200', pairs: '20', seconds: '10' },
  deadlineMs: DEADLINE_MS,
  run: ({ viewers, pairs, seconds }, parts) =>
    compare(
      {
        viewers: readCount('--viewers', viewers),
        pairs: readCount('--pairs', pairs),
        seconds: readCount('--seconds', seconds),
      },
      parts,
    ),
});
