/** The role `console`: the admin port, and what Prometheus reads. */
import { createHmac, hkdfSync } from 'node:crypto';
import { createSessions } from '../access/sessions.ts';
import { createSignInPath } from '../access/signInLink.ts';
import { ADMIN, createTokenVerifier } from '../access/verifyToken.ts';
import { planErasure } from '../actions/eraseData.ts';
import { testChannelsAs } from '../actions/testChannels.ts';
import { alertsSource } from '../alerts/gauges.ts';
import { createRefusals, type Refusals } from '../audit/refusals.ts';
import { authorizationSource } from '../authorizations/gauges.ts';
import type { Config } from '../config/config.ts';
import { type ConsoleAppParts, createConsoleApp } from '../console/app.ts';
import type { ApiParts } from '../console/endpoint.ts';
import { keepReport } from '../doctor/keepReport.ts';
import { keepPlans } from '../erasure/keepPlans.ts';
import { bodiesSource } from '../ledger/bodies/gauges.ts';
import { createChangeFeed } from '../ledger/changeFeed.ts';
import { ledgerSources } from '../ledger/gauges.ts';
import { batchJob } from '../ledger/inbox/jobs.ts';
import { createBalanceReader } from '../ledger/read/balances.ts';
import type { QueueAccess } from '../monitor/read/queues.ts';
import { channelNamesOf, targetsOf } from '../notify/channels/targets.ts';
import { channelsSource } from '../notify/gauges.ts';
import { readVersions } from '../pages/live/store/versions.ts';
import { createWatcher } from '../pages/live/watcher.ts';
import type { PeopleSignIn } from '../pages/session/signInParts.ts';
import type { SystemParts } from '../pages/system/systemParts.ts';
import { type Clock, monotonicMs } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { createReads, type Reads, readsOfPrimary } from '../platform/db/reads.ts';
import { startExpressServer } from '../platform/expressServer.ts';
import { loadedOnUse } from '../platform/loadedOnUse.ts';
import { type MeasuredQueue, queueSource } from '../platform/queue/index.ts';
import { sleep } from '../platform/sleep.ts';
import { reconcileSources } from '../reconcile/gauges.ts';
import { enqueueOperatorRuns, RECONCILE_QUEUE, type ReconcileJob } from '../reconcile/jobs.ts';
import { retentionSource } from '../retention/gauges.ts';
import { schedulerSource } from '../scheduler/gauges.ts';
import { channelsOf, newTestMessage } from './alerts.ts';
import { examineWith } from './doctor.ts';
import {
  authorizationsOf,
  disputesOf,
  payoutsOf,
  refresherOf,
  refundsOf,
  sandboxShopOf,
} from './service.ts';
import { adminTokenOf, schedulesOf } from './settings.ts';
import type { PoolOptions, Shared } from './shared.ts';

/** Balances add up the whole journal. */
const CONSOLE_POOL: PoolOptions = { maxConnections: 4, responseTimeoutMs: 30_000, plans: 'any' };

/** Of its own, so that long reads do not delay that a revoked token is refused. */
const TOKENS_POOL: PoolOptions = { maxConnections: 1, responseTimeoutMs: 2_000, plans: 'any' };

/** One scrape reads at a time, and times out long before this (platform/sources.ts). */
const METRICS_POOL: PoolOptions = { maxConnections: 2, responseTimeoutMs: 4_000, plans: 'any' };

/**
 * Adds the gauges of the database and the queues to the metrics. Only the role `console` does: once
 * per installation is enough, and other processes would export the same values again.
 */
function addSources(
  { clock, metrics, openPool }: Shared,
  depths: Readonly<Record<string, MeasuredQueue>>,
): void {
  const db = openPool('metrics', METRICS_POOL);
  const sources = [
    ...ledgerSources(db),
    bodiesSource(db),
    ...reconcileSources(db),
    authorizationSource(db),
    retentionSource(db),
    schedulerSource(db),
    alertsSource(db),
    channelsSource(db),
    queueSource(depths, clock),
  ];
  for (const source of sources) metrics.addSource(source);
}

/** How people sign in at the provider of the settings. */
async function peopleOf(config: Config, clock: Clock): Promise<PeopleSignIn | undefined> {
  const { oidc } = config;
  if (!oidc) return undefined;
  // Loaded only where a provider is set.
  const { createProvider } = await import('../access/provider.ts');
  const provider = createProvider(
    {
      ...oidc,
      redirectUrl: `${oidc.consoleUrl}/sign-in/callback`,
      signedOutUrl: `${oidc.consoleUrl}/sign-in`,
    },
    clock,
  );
  // Apart from every other key that could be made of the token. Whoever begins a sign-in has a signature to try
  // tokens against: that of the provider's client may be weak, ADMIN_TOKEN is not.
  const key = Buffer.from(hkdfSync('sha256', adminTokenOf(config), '', SIGN_IN_PURPOSE, 32));
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  return { provider, settings: oidc, sign };
}

const SIGN_IN_PURPOSE = 'tallyhook begun sign-ins';

/** What the pages of the system show beyond the ledger. */
function systemPartsOf({ clock, config, log, onClose, queues }: Shared, db: Database): SystemParts {
  const closing = new AbortController();
  onClose(() => Promise.resolve(closing.abort()));
  const { signal } = closing;
  return {
    doctor: keepReport(
      (onCheck) => examineWith(config, { database: db, checkQueue: () => queues.check() }, onCheck),
      clock,
    ),
    erasurePlans: keepPlans(
      (subjects, onProgress) =>
        planErasure({ db, signal, onProgress: ({ done }) => onProgress(done) }, subjects).then(
          ({ resources, events, values, state: { pending, dead }, unknown, running }) => ({
            resources,
            events,
            values,
            pending,
            dead,
            unknown,
            running: running?.id,
          }),
        ),
      { clock, log },
    ),
    settings: config.inForce,
    retention: config.retention,
    isArchiving: config.archive !== undefined,
  };
}

/** Sends a test message through one configured channel. */
function testerOf({ clock, config, log }: Shared, db: Database): ApiParts['testChannel'] {
  return async (name, actor) => {
    const channels = channelsOf(config, { clock, log }).filter((channel) => channel.name === name);
    const [tested] = await testChannelsAs({ db, channels }, actor, () => newTestMessage(clock));
    return tested;
  };
}

/** How pages read the queues. A problem that is known already is shown without waiting for it again. */
function queueAccessOf(
  { queues: { name }, queueWatch }: Shared,
  queues: QueueAccess['queues'],
): QueueAccess {
  const check = async () => queueWatch.latest() ?? (await queueWatch.check());
  return { backend: name, check, queues };
}

/** Where pages and lists are read: from the standby of the settings, if there is one. */
function readsOf({ config, log, onClose, openPool }: Shared, db: Database): Reads {
  const { databaseReadUrl: url } = config;
  if (url === undefined) return readsOfPrimary(db);
  const standby = openPool('console-reads', CONSOLE_POOL, url);
  const reads = createReads({ primary: db, standby, log, monotonicMs, sleep });
  onClose(() => reads.close());
  return reads;
}

/** Records what the console refuses, the last of it when the process stops. */
function refusalsOf({ clock, log, onClose }: Shared, db: Database): Refusals {
  const refusals = createRefusals({ db, clock, log, sleep });
  onClose(() => refusals.close());
  return refusals;
}

export interface RunningConsole {
  readonly port: number;
  /** Prepares a link that signs in once as the holder of ADMIN_TOKEN. @returns its path */
  readonly createSignInPath: (next?: string) => Promise<string>;
}

type Actions = Pick<ConsoleAppParts, 'authorizations' | 'refunds' | 'disputes' | 'payouts'>;

/** What a person may have the service do; undefined without its API key. */
function actionsOf(
  config: Shared['config'],
  { db, clock, log }: Pick<Shared, 'clock' | 'log'> & { readonly db: Database },
): Actions {
  const { service, check } = authorizationsOf(config, { db, clock, log, lane: 'operator' });
  const refunds = refundsOf(config, { db, clock });
  const disputes = disputesOf(config, { db, clock });
  const payouts = payoutsOf(config, { db, clock });
  return {
    authorizations: service && { db, service, check },
    refunds: refunds && { db, service: refunds },
    disputes: disputes && { db, service: disputes },
    payouts: payouts && { db, service: payouts },
  };
}

export async function startConsole(shared: Shared): Promise<RunningConsole> {
  const { clock, config, events, gate, log, metrics, openPool, onClose, onDrain, queues } = shared;
  const db = openPool('console', CONSOLE_POOL);
  const runs = queues.producer<ReconcileJob>(RECONCILE_QUEUE);
  onClose(() => runs.close());
  const depths = { events, reconcile: runs };
  addSources(shared, depths);
  const reads = readsOf(shared, db);
  const tokensDb = openPool('tokens', TOKENS_POOL);
  const tokens = createTokenVerifier({ adminToken: adminTokenOf(config), db: tokensDb, clock });
  const parts: Omit<ConsoleAppParts, 'tokens' | 'metrics' | 'pages'> = {
    refusals: refusalsOf(shared, db),
    trustedProxies: config.trustedProxies,
    db,
    reads,
    feed: createChangeFeed(db),
    balances: createBalanceReader(db),
    refresher: refresherOf(config, { db, clock }),
    ...actionsOf(config, { db, clock, log }),
    enqueueEvents: (numbers) => events.add([batchJob(numbers)]),
    channels: channelNamesOf(config.channels),
    channelTargets: targetsOf(config.channels),
    testChannel: testerOf(shared, db),
    installation: config.installation,
    sessionIdleMs: config.consoleSessions.idleMs,
    schedules: schedulesOf(config),
    queues: queueAccessOf(shared, depths),
    enqueueRuns: (request, attempt) => enqueueOperatorRuns(runs, request, attempt),
    isReady: gate.isOpen,
    clock,
    log,
  };
  const sessions = createSessions({
    db: tokensDb,
    tokens,
    ...config.consoleSessions,
    issuer: config.oidc?.issuer,
  });
  const watcher = createWatcher({
    // From where pages are read: a page that is notified must find the news there.
    read: (topics) => readVersions(reads.source().db, topics),
    onFailure: (error) => log.warn({ error }, 'console.live_failed'),
    monotonicMs,
    sleep,
  });
  const pageParts = {
    ...parts,
    sessions,
    watcher,
    probe: tokensDb.probe,
    people: await peopleOf(config, clock),
    system: systemPartsOf(shared, db),
    sandbox: sandboxShopOf(config),
  };
  const pages = loadedOnUse(async () =>
    (await import('../pages/app.ts')).createPagesApp(pageParts),
  );
  const app = createConsoleApp({ ...parts, tokens, metrics, pages });
  const server = await startExpressServer({
    host: config.adminHost,
    port: config.adminPort,
    app,
    portSetting: 'ADMIN_PORT',
    hostSetting: 'ADMIN_HOST',
    finishesRequests: true,
  });
  onDrain(() => server.drain());
  onClose(() => server.close());
  // First, because open pages wait for it.
  onClose(() => watcher.close());
  log.info({ port: server.port }, 'console.listening');
  const link = { token: adminTokenOf(config), holder: ADMIN.name };
  return { port: server.port, createSignInPath: (next) => createSignInPath(db, { ...link, next }) };
}
