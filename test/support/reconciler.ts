/** Reconciliation of a test database with a service, assembled as in the program. */
import {
  type ClientOptions,
  createClient,
  type PaymentServiceClient,
} from '../../src/client/index.ts';
import type { Account } from '../../src/ledger/domain/account.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics, type Metrics } from '../../src/platform/metrics.ts';
import { sleep } from '../../src/platform/sleep.ts';
import { createReconcileMetrics } from '../../src/reconcile/metrics.ts';
import { createRetrieve } from '../../src/reconcile/retrieve.ts';
import { createReconcile, type RunReport } from '../../src/reconcile/run.ts';
import type { RunProgress, RunRequest } from '../../src/reconcile/runContext.ts';
import { STREAMS } from '../../src/reconcile/streams.ts';

export interface TestReconciler {
  run(
    request?: Partial<RunRequest>,
    options?: { signal?: AbortSignal; onProgress?: (progress: RunProgress) => void },
  ): Promise<RunReport>;
  /** A full run over every list. */
  runAll(request?: Partial<RunRequest>): Promise<readonly RunReport[]>;
  readonly retrieve: ReturnType<typeof createRetrieve>;
  readonly metrics: Metrics;
  /** The warnings and errors that were logged. */
  readonly logged: readonly object[];
}

export interface TestReconcilerParts {
  readonly db: Database;
  readonly service: { readonly baseUrl: string; readonly apiKey: string };
  readonly clock?: { readonly nowMs: () => number };
  readonly client?: Partial<ClientOptions>;
  /** By default, nothing is compared with it. */
  readonly account?: Account;
  /** Replaces the client that would be created. */
  readonly use?: PaymentServiceClient;
}

export function testReconciler(parts: TestReconcilerParts): TestReconciler {
  const { db, service, clock = systemClock } = parts;
  const client =
    parts.use ??
    createClient({
      ...service,
      retry: { maxAttempts: 3, baseDelayMs: 1, maxDelayMs: 5 },
      ...parts.client,
    });
  const metrics = createMetrics();
  const logged: object[] = [];
  const account = parts.account ?? { merchantId: undefined, profileId: undefined };
  const retrieve = createRetrieve({ db, client, clock, account });
  const reconcile = createReconcile({
    db,
    client,
    retrieve,
    account,
    clock,
    metrics: createReconcileMetrics(metrics),
    log: createLog('warn', (line) => logged.push(JSON.parse(line) as object)),
    sleep,
  });
  const run: TestReconciler['run'] = (request = {}, options = {}) =>
    reconcile(
      {
        stream: 'payments',
        mode: 'full',
        cause: 'operator',
        isDryRun: false,
        lane: 'operator',
        ...request,
      },
      { signal: new AbortController().signal, ...options },
    );
  return {
    run,
    runAll: async (request = {}) => {
      const reports: RunReport[] = [];
      for (const stream of STREAMS) reports.push(await run({ ...request, stream }));
      return reports;
    },
    retrieve,
    metrics,
    logged,
  };
}
