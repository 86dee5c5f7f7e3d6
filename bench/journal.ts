/**
 * What the journal costs: workers apply the same backlog with it and without it, in alternating
 * pairs. Without it the database drops each transfer on arrival, so the difference is what storing
 * and checking the journal costs; both sides make and send the transfers.
 */
import { type Accounts, account, type Bench } from './bench.ts';
import { type BenchDatabase, countKept, countPending } from './database.ts';
import { drain } from './endToEnd.ts';
import { nowMs } from './loadProtocol.ts';
import { startEventsWorker, startTallyhook } from './tallyhook.ts';

export interface JournalReport {
  readonly pairs: readonly JournalPair[];
  /** Median over the pairs of the rate with the journal by the rate without it. */
  readonly medianRatio: number;
  readonly accounts: readonly Accounts[];
}

interface JournalPair {
  readonly withPerSecond: number;
  readonly withoutPerSecond: number;
  readonly transfersPerEvent: number;
}

const SEED = 4;
const PAIRS = 3;
const FILL_SECONDS = 4;
/** More than a receiver was ever seen to accept. */
const EVENTS_PER_SECOND = 16_000;

export async function runJournal(bench: Bench): Promise<JournalReport> {
  const pairs: JournalPair[] = [];
  const accounts: Accounts[] = [];
  for (let n = 0; n < PAIRS; n += 1) {
    const sides = n % 2 === 0 ? [true, false] : [false, true];
    const runs = new Map<boolean, Drained>();
    for (const hasJournal of sides) runs.set(hasJournal, await applyBacklog(bench, hasJournal));
    const [kept, dropped] = [runs.get(true), runs.get(false)];
    if (!kept || !dropped) throw new Error('a side of the pair is missing');
    pairs.push({
      withPerSecond: kept.perSecond,
      withoutPerSecond: dropped.perSecond,
      transfersPerEvent: kept.transfersPerEvent,
    });
    accounts.push(kept.accounts, dropped.accounts);
  }
  const ratios = pairs
    .map((pair) => pair.withPerSecond / pair.withoutPerSecond)
    .sort((a, b) => a - b);
  return { pairs, medianRatio: ratios[Math.floor(ratios.length / 2)] ?? 0, accounts };
}

interface Drained {
  readonly perSecond: number;
  readonly transfersPerEvent: number;
  readonly accounts: Accounts;
}

async function applyBacklog(bench: Bench, hasJournal: boolean): Promise<Drained> {
  const { load, postgres } = bench;
  const db = await postgres.createDatabase(hasJournal ? 'bench_journal' : 'bench_no_journal');
  if (!hasJournal) {
    await db.query('create rule drop_transfers as on insert to transfers do instead nothing');
  }
  const receiver = await startTallyhook(bench, 'receiver', db.url);
  await load.openStream(SEED);
  await load.prepare(EVENTS_PER_SECOND * FILL_SECONDS);
  const filled = await load.run({ port: receiver.port, seconds: FILL_SECONDS });
  const waiting = await countPending(db);
  const worker = await startEventsWorker(bench, db.url);
  const startMs = nowMs();
  await drain(db);
  const seconds = (nowMs() - startMs) / 1_000;
  const transfers = await countTransfers(db);
  const accounts = account([filled], await countKept(db), true);
  await worker.stop();
  await receiver.stop();
  await db.drop();
  return { perSecond: waiting / seconds, transfersPerEvent: transfers / waiting, accounts };
}

async function countTransfers(db: BenchDatabase): Promise<number> {
  const [row] = await db.query<{ count: number }>('select count(*) as count from transfers');
  return row?.count ?? 0;
}
