/** What the schedule `chain` does, in a process of its own. It is due more often, so that a short run has its share. */
import { setTimeout as sleep } from 'node:timers/promises';
import { chainKeyOf } from '../../src/ledger/chain/chainKey.ts';
import { createChainJob } from '../../src/ledger/chain/publishChain.ts';
import { measureUnchained } from '../../src/ledger/read/chain.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { createLog } from '../../src/platform/log.ts';
import type { FromPublisher, ToPublisher } from './protocol.ts';

const EVERY_MS = 2_000;
const KEY = chainKeyOf('a-secret-of-the-bench-0123456789abcdef');

const log = createLog('silent');
let db: Database | undefined;
let ending = new AbortController();
let publishing: Promise<void> = Promise.resolve();

process.on('message', (message: ToPublisher) => {
  handle(message).then(
    () => send({ type: 'done' }),
    (error: unknown) => {
      console.error('publisher:', error);
      process.exitCode = 1;
      process.disconnect();
    },
  );
});
process.on('disconnect', () => {
  ending.abort();
  void db?.close();
});
send({ type: 'started' });

async function handle(message: ToPublisher): Promise<void> {
  switch (message.type) {
    case 'catch_up': {
      const database = open(message.url);
      const append = jobOf(database, new AbortController().signal);
      while ((await measureUnchained(database)).transfers > 0) await append();
      return;
    }
    case 'begin':
      ending = new AbortController();
      publishing = publish(open(message.url), ending.signal);
      return;
    case 'end':
      ending.abort();
      await publishing;
      return;
    default:
      message satisfies never;
  }
}

function open(url: string): Database {
  db ??= createDatabase({
    connectionString: url,
    log,
    applicationName: 'bench-publisher',
    maxConnections: 1,
    responseTimeoutMs: 60_000,
    plans: 'any',
  });
  return db;
}

const jobOf = (database: Database, signal: AbortSignal) =>
  createChainJob({ db: database, log, key: KEY, signal });

async function publish(database: Database, signal: AbortSignal): Promise<void> {
  const append = jobOf(database, signal);
  while (!signal.aborted) {
    await append();
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

function send(message: FromPublisher): void {
  process.send?.(message);
}
