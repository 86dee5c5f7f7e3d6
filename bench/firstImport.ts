/**
 * What a new installation waits for: `tallyhook reconcile` reads the past of an account for the first time, from
 * a service that limits nothing. The service is the sandbox, in the bench's process and on the same PostgreSQL,
 * beside the import and at a distance.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLog } from '../src/platform/log.ts';
import { packageRoot } from '../src/platform/packageRoot.ts';
import { DAY_MS } from '../src/platform/time.ts';
import { startSandbox } from '../src/sandbox/startSandbox.ts';
import { type Bench, postgresOf } from './bench.ts';
import { type CpuUse, watchCpu } from './cpu.ts';
import { type BenchDatabase, countKept } from './database.ts';
import { startProxy } from './distance.ts';
import { nowMs } from './loadProtocol.ts';
import { peakMemoryMib } from './memory.ts';
import { insertPayments } from './sandbox/payments.ts';
import { API_KEY } from './sandbox/start.ts';

export interface ImportReport {
  readonly payments: number;
  /** Between the import and the service. */
  readonly roundTripMs: number;
  readonly seconds: number;
  readonly requests: number;
  /** Of the process that imports, at most. */
  readonly peakMib: number;
  readonly cpu: CpuUse;
  /** Whether the ledger has every payment, and the run found it equal to the service. */
  readonly isComplete: boolean;
}

/** What `reconcile --json` prints, as far as the bench reads it. */
interface Printed {
  readonly reconciliations: readonly {
    readonly requests: number;
    readonly remaining: number;
    readonly failure: unknown;
  }[];
}

/** An ended process can be measured no more. */
const LOOK_EVERY_MS = 250;
const MAX_OUTPUT_BYTES = 2 ** 24;

/** On one machine, and to a service elsewhere. */
const ROUND_TRIPS_MS = [0, 150];

export async function runFirstImport(bench: Bench): Promise<readonly ImportReport[]> {
  const { payments, roundTripsMs } = bench.options;
  const service = await bench.postgres.createEmptyDatabase('bench_service');
  const sandbox = await startSandbox({
    databaseUrl: service.url,
    port: 0,
    apiKey: API_KEY,
    webhook: { secret: bench.secret },
    log: createLog('silent'),
    requestsPerMinute: 10_000_000,
  });
  bench.cleanup.add(() => sandbox.close());
  await insertPayments(service, { payments, endMs: Date.now() - DAY_MS });
  const reports: ImportReport[] = [];
  for (const roundTripMs of roundTripsMs.length > 0 ? roundTripsMs : ROUND_TRIPS_MS) {
    const distant =
      roundTripMs > 0 ? await startProxy(bench, sandbox.baseUrl, roundTripMs) : undefined;
    const ledger = await bench.postgres.createDatabase('bench_import');
    const { isEqual, ...figures } = await importAll(bench, ledger, {
      PAYMENTS_BASE_URL: distant?.url ?? sandbox.baseUrl,
      PAYMENTS_API_KEY: API_KEY,
      PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    });
    const isComplete = isEqual && (await countKept(ledger)).payments === payments;
    reports.push({ payments, roundTripMs, ...figures, isComplete });
    await ledger.drop();
    await distant?.stop();
  }
  await sandbox.close();
  await service.drop();
  return reports;
}

interface Imported extends Pick<ImportReport, 'seconds' | 'requests' | 'peakMib' | 'cpu'> {
  readonly isEqual: boolean;
}

async function importAll(
  bench: Bench,
  ledger: BenchDatabase,
  settings: Readonly<Record<string, string>>,
): Promise<Imported> {
  const bin = join(packageRoot(), 'bin', 'tallyhook.js');
  const { PATH } = process.env;
  const startMs = nowMs();
  const running = promisify(execFile)(process.execPath, [bin, 'reconcile', '--json'], {
    env: { PATH, DATABASE_URL: ledger.url, WEBHOOK_SECRETS: bench.secret, ...settings },
    cwd: bench.folder,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  const pid = running.child.pid ?? Number.NaN;
  bench.cleanup.add(() => void running.child.kill('SIGKILL'));
  const own = { name: 'service', pid: process.pid };
  const cpu = watchCpu([{ name: 'import', pid }, own, postgresOf(bench)]);
  let peakMib = 0;
  let use = cpu.stop();
  const looking = setInterval(() => {
    const now = peakMemoryMib(pid);
    if (now !== undefined) [peakMib, use] = [now, cpu.stop()];
  }, LOOK_EVERY_MS);
  try {
    const { stdout } = await running;
    const seconds = (nowMs() - startMs) / 1_000;
    const { reconciliations } = JSON.parse(stdout) as Printed;
    const requests = reconciliations.reduce((sum, run) => sum + run.requests, 0);
    const isEqual = reconciliations.every((run) => run.remaining === 0 && run.failure === null);
    return { seconds, requests, peakMib, cpu: use, isEqual };
  } finally {
    clearInterval(looking);
  }
}
