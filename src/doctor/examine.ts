/** Checks everything that an installation needs, one check after the other, and changes nothing. */
import { createClient, type PaymentServiceClient, PaymentServiceError } from '../client/index.ts';
import { secretWeakness } from '../config/secretStrength.ts';
import { readCopyState } from '../ledger/bodies/store/copy.ts';
import { readBodyDaysAhead } from '../ledger/bodies/store/days.ts';
import { measureInbox } from '../ledger/gauges.ts';
import { PENDING_LIMIT_MS } from '../ledger/inbox/pendingLimit.ts';
import { readPendingAgeMs } from '../ledger/inbox/store/arrivals.ts';
import { findEvent } from '../ledger/read/store/parts.ts';
import { readChainHead } from '../ledger/store/chain.ts';
import { readInstallation } from '../ledger/store/installation.ts';
import { readEnds, readProof } from '../ledger/store/verifyRounds.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { openDatabaseClock } from '../platform/db/databaseClock.ts';
import {
  lastMigration,
  pendingMigrations,
  readRequiredMigration,
} from '../platform/db/pendingMigrations.ts';
import { problemOf, readPrimary, readStandby } from '../platform/db/reads.ts';
import { readReplication } from '../platform/db/replication.ts';
import { readRoleRights, readUserRights } from '../platform/db/rights.ts';
import { oldServerText, readIdsLeft, readServerVersion } from '../platform/db/serverVersion.ts';
import { readSessionSettings } from '../platform/db/sessionSettings.ts';
import { SQLSTATES } from '../platform/db/sqlStates.ts';
import { errorCode, OperatorError, toError } from '../platform/errors.ts';
import type { QueueProblem } from '../platform/queue/index.ts';
import { serversOfRedisUrl } from '../platform/queue/redisAddress.ts';
import { formatFingerprint, secretFingerprint } from '../platform/secretFingerprint.ts';
import { DAY_MS } from '../platform/time.ts';
import {
  type ExpiringTokenFacts,
  failed,
  type Judgment,
  judgeAccount,
  judgeArchive,
  judgeBodyCopy,
  judgeBodyDays,
  judgeChain,
  judgeClock,
  judgeDatabaseClock,
  judgeIdsLeft,
  judgeKey,
  judgeKeyKind,
  judgeMissingService,
  judgeOpenAttempts,
  judgePause,
  judgePending,
  judgeProof,
  judgeQueue,
  judgeTokens,
  judgeWatermarks,
  notChecked,
  type OpenAttempt,
  ok,
  type PauseFacts,
  type PendingFacts,
  type ServiceSettings,
  TOKEN_WARNING_DAYS,
  type WatermarkFacts,
} from './domain/judge.ts';
import { judgeDeliveries, type SentDelivery } from './domain/judgeDeliveries.ts';
import {
  type ConnectionSettings,
  judgeConnections,
  judgePorts,
  judgeSecretFiles,
  type PortSettings,
  type SecretFileFacts,
} from './domain/judgeExposure.ts';
import { judgePooling, type SessionSettings } from './domain/judgePooling.ts';
import {
  chooseProfiles,
  judgeAddresses,
  judgeEvents,
  judgeSecrets,
  type OurReceiver,
  type ProfileFacts,
  type ProfilesResult,
} from './domain/judgeProfiles.ts';
import { judgeReplication } from './domain/judgeReplication.ts';
import { judgeRights } from './domain/judgeRights.ts';
import { judgeSession } from './domain/judgeSession.ts';
import { judgeStandby } from './domain/judgeStandby.ts';
import { listProfiles } from './listProfiles.ts';

export interface Check extends Judgment {
  readonly name: string;
}

/** What is checked. A part that is an Error is unavailable; its message has the reason. */
export interface Installation {
  readonly settings: Omit<ConnectionSettings, 'redis'> &
    PortSettings &
    SessionSettings &
    ServiceSettings;
  readonly database: Database | Error;
  /** The standby of DATABASE_READ_URL; undefined if it is not set. */
  readonly standby: Queryable | undefined;
  /** Adds, claims and finishes a job. @returns why that failed; undefined if it did not */
  readonly checkQueue: () => Promise<QueueProblem | undefined>;
  /** Undefined if nothing is archived. */
  readonly archive: { readonly description: string; probe(): Promise<void> } | undefined;
  readonly merchantId: string | Error;
  readonly webhookSecrets: readonly string[] | Error;
  readonly adminTokens: readonly string[] | Error;
  /** Undefined if its address or key is not set. */
  readonly service: { readonly baseUrl: string; readonly apiKey: string } | undefined;
  /** Whether that service is the sandbox of this process. */
  readonly isSandbox: boolean;
  /**
   * Reads what the sandbox sent last, newest first, if it is the payment service; undefined where payments
   * may be real.
   */
  readonly readSandboxDeliveries: (() => Promise<readonly SentDelivery[]>) | undefined;
  /** Where the service should send webhooks. */
  readonly receiver: OurReceiver;
  /** The files that secrets are read from. */
  readonly secretFiles: readonly SecretFileFacts[];
  /** Undefined: every profile of the account is checked. */
  readonly profileId: string | undefined;
  readonly readPause: (db: Database) => Promise<PauseFacts | undefined>;
  /** Days in which every row of the ledger is to be proven. */
  readonly verifyFullDays: number;
  /** The public key of CHAIN_KEY; undefined if there is none. */
  readonly chainKey: string | undefined;
  readonly readOpenAttempts: (db: Database) => Promise<readonly OpenAttempt[]>;
  readonly readExpiringTokens: (
    db: Database,
    withinMs: number,
  ) => Promise<readonly ExpiringTokenFacts[]>;
  /** Reads whether a process applies events. */
  readonly readApplier: (db: Database) => Promise<PendingFacts['applier']>;
  readonly readWatermarks: (db: Database) => Promise<readonly WatermarkFacts[]>;
  readonly clock: Clock;
}

const NO_DATABASE = notChecked('not checked: no database', 'Fix the database check first.');

const REQUEST_TIMEOUT_MS = 5_000;

/** @param onCheck receives each check as soon as it has a result */
export async function examine(
  installation: Installation,
  onCheck: (check: Check) => void = () => undefined,
): Promise<readonly Check[]> {
  const checks: Check[] = [];
  const note = async (name: string, check: () => Judgment | Promise<Judgment>) => {
    const judgment = await Promise.resolve()
      .then(check)
      .catch((error: unknown) =>
        failed(
          `the check failed to run: ${toError(error).message}`,
          'Fix the error in the message; then try again.',
        ),
      );
    const checked = { name, ...judgment };
    checks.push(checked);
    onCheck(checked);
    return judgment.state;
  };
  const database = await note('database', () => checkDatabase(installation.database));
  const readable = await examineDatabase(installation, database === 'ok', note);
  await note('queue', async () => judgeQueue(await installation.checkQueue()));
  const { archive } = installation;
  if (archive) {
    await note('archive', () =>
      archive.probe().then(
        () => judgeArchive(archive.description, undefined),
        (error: unknown) => judgeArchive(archive.description, toError(error)),
      ),
    );
  }
  await note('webhook secrets', () => checkSecrets(installation.webhookSecrets));
  await note('admin token', () => measured(installation.adminTokens, 'token', 'ADMIN_TOKEN'));
  await note('secret files', () => judgeSecretFiles(installation.secretFiles));
  await note('encryption', () => {
    const redis = serversOfRedisUrl(installation.settings.redisUrl);
    return judgeConnections({ ...installation.settings, redis });
  });
  await note('private ports', () => judgePorts(installation.settings));
  const skewMs = await examineService(installation, note);
  await note('watermarks', () => examineWatermarks(installation, readable, skewMs));
  await examineProfiles(installation, note);
  await examineDeliveries(installation, readable, note);
  return checks;
}

type Note = (name: string, check: () => Judgment | Promise<Judgment>) => Promise<Judgment['state']>;

async function checkDatabase(database: Database | Error): Promise<Judgment> {
  const remedy =
    database instanceof OperatorError
      ? 'Do what the result states, then run the command again.'
      : 'Check DATABASE_URL, that the server is running, and that it accepts connections from this machine.';
  if (database instanceof Error) return judgeUnusable(database, remedy);
  try {
    await database.probe();
    const version = await readServerVersion(database);
    return version.isSupported
      ? ok(`reachable, PostgreSQL ${version.text}`)
      : failed(oldServerText(version), 'Before you upgrade Tallyhook, move to a newer PostgreSQL.');
  } catch (error) {
    return judgeUnusable(toError(error), remedy);
  }
}

/** A server that is only read-only responds: its address and its network are in order. */
function judgeUnusable(error: Error, remedy: string): Judgment {
  return errorCode(error) === SQLSTATES.read_only_sql_transaction
    ? failed(`accepts no writes (${error.message})`, 'Do what the result states.')
    : failed(`unreachable (${error.message})`, remedy);
}

/** @returns the database, if it can be read */
async function examineDatabase(
  installation: Installation,
  isReached: boolean,
  note: Note,
): Promise<Database | undefined> {
  const { clock, database, merchantId, readPause, readOpenAttempts } = installation;
  const open = isReached && !(database instanceof Error) ? database : undefined;
  await note('pooler', async () =>
    open ? judgePooling(await open.examinePooling(), installation.settings) : NO_DATABASE,
  );
  await note('replication', async () =>
    open ? judgeReplication(await readReplication(open)) : NO_DATABASE,
  );
  await note('session settings', async () =>
    open ? judgeSession(await readSessionSettings(open)) : NO_DATABASE,
  );
  await note('transaction ids', async () =>
    open ? judgeIdsLeft(await readIdsLeft(open)) : NO_DATABASE,
  );
  await examineStandby(open, installation, note);
  await note('database clock', async () =>
    open ? judgeDatabaseClock(await readDatabaseSkewMs(open, clock)) : NO_DATABASE,
  );
  const migrations = await note('migrations', async () =>
    open ? await examineMigrations(open) : NO_DATABASE,
  );
  const ofSchema = async (judge: (db: Database) => Promise<Judgment>): Promise<Judgment> => {
    if (!open) return NO_DATABASE;
    return migrations === 'ok'
      ? await judge(open)
      : notChecked('migrations are not applied', 'Run: npx tallyhook migrate');
  };
  await note('database rights', () => ofSchema(examineRights));
  await note('account', () =>
    merchantId instanceof Error
      ? failed(merchantId.message, 'Set PAYMENTS_MERCHANT_ID.')
      : ofSchema(async (db) => judgeAccount(await readInstallation(db), merchantId)),
  );
  await note('reconciliation', () => ofSchema(async (db) => judgePause(await readPause(db))));
  await note('pending events', () =>
    ofSchema(async (db) => judgePending(await readPending(db, installation), PENDING_LIMIT_MS)),
  );
  await note('days of bodies', () =>
    ofSchema(async (db) => judgeBodyDays(await readBodyDaysAhead(db))),
  );
  await note('copy of bodies', () =>
    ofSchema(async (db) => judgeBodyCopy(await readCopyState(db))),
  );
  await note('verify', () =>
    ofSchema(async (db) =>
      judgeProof(await readProof(db), (await readEnds(db)).nowMs, installation.verifyFullDays),
    ),
  );
  await note('chain', () =>
    ofSchema(async (db) => judgeChain(await readChainHead(db), installation.chainKey)),
  );
  await note('attempts', () =>
    ofSchema(async (db) => judgeOpenAttempts(await readOpenAttempts(db))),
  );
  await note('tokens', () =>
    ofSchema(async (db) =>
      judgeTokens(await installation.readExpiringTokens(db, TOKEN_WARNING_DAYS * DAY_MS)),
    ),
  );
  return migrations === 'ok' ? open : undefined;
}

async function readPending(db: Database, { readApplier }: Installation): Promise<PendingFacts> {
  const { pending, oldestAgeSeconds } = await measureInbox(db);
  return {
    events: pending,
    oldestAgeSeconds,
    untriedAgeMs: await readPendingAgeMs(db),
    applier: await readApplier(db),
  };
}

async function examineMigrations(db: Database): Promise<Judgment> {
  const pending = await pendingMigrations(db);
  if (pending.length > 0) {
    return failed(
      `${pending.length} not applied: ${pending.join(', ')}`,
      'Run: npx tallyhook migrate',
    );
  }
  const required = await readRequiredMigration(db);
  return required > (await lastMigration())
    ? failed(
        `the schema needs migration ${required}, which this version does not have`,
        'Start the newer version that the database was upgraded for.',
      )
    : ok('the schema is up to date');
}

/** Checks the standby that the console reads from, if there is one. */
async function examineStandby(
  primary: Database | undefined,
  { standby }: Installation,
  note: Note,
): Promise<void> {
  if (standby === undefined) return;
  await note('standby for reads', async () => {
    if (!primary) return NO_DATABASE;
    const ofPrimary = await readPrimary(primary);
    const ofStandby = await readStandby(standby).catch(toError);
    if (ofStandby instanceof Error) return judgeStandby(ofStandby);
    return judgeStandby({
      problem: problemOf(ofPrimary, ofStandby),
      behindBytes: (ofPrimary.position ?? 0) - (ofStandby.position ?? 0),
    });
  });
}

async function examineRights(db: Database): Promise<Judgment> {
  const { user, missing } = await readUserRights(db);
  const roles = (await readRoleRights(db)).filter(({ exists }) => exists);
  return judgeRights({ user, missingOfUser: missing, roles });
}

function measured(list: readonly string[] | Error, what: string, setting: string): Judgment {
  if (list instanceof Error) return failed(list.message, `Set ${setting}.`);
  const isOne = list.length === 1;
  const count = `${list.length} ${what}${isOne ? '' : 's'}`;
  return list.every((secret) => secretWeakness(secret) === undefined)
    ? ok(`${count}, ${isOne ? '' : 'each '}strong enough`)
    : failed(`${count}, ${isOne ? '' : 'at least one '}too weak`, `Set ${setting}.`);
}

/** With the fingerprint of each, in their order: events are marked with that of the one that verified them. */
function checkSecrets(given: readonly string[] | Error): Judgment {
  // WEBHOOK_SECRETS and SANDBOX_WEBHOOK_SECRET may have the same one.
  const secrets = given instanceof Error ? given : [...new Set(given)];
  const judgment = measured(secrets, 'secret', 'WEBHOOK_SECRETS');
  if (judgment.state !== 'ok' || secrets instanceof Error) return judgment;
  const fingerprints = secrets.map((secret) => formatFingerprint(secretFingerprint(secret)));
  return ok(`${judgment.result}: ${fingerprints.join(', ')}`);
}

const NO_SERVICE = 'no payment service is configured';

/** @returns this machine's clock minus the service's; undefined if unknown */
async function examineService(
  { settings, service, isSandbox, clock }: Installation,
  note: Note,
): Promise<number | undefined> {
  if (!service) {
    const missing = judgeMissingService(settings);
    const { remedy } = missing;
    await note('API key', () => missing);
    await note('key and address', () => notChecked(NO_SERVICE, remedy));
    await note('clock', () => notChecked(NO_SERVICE, remedy));
    return undefined;
  }
  await note('API key', async () => judgeKey(await requestHealth(service), service.baseUrl));
  await note('key and address', () => judgeKeyKind(service.apiKey, service.baseUrl));
  const skewMs = await readSkewMs(service.baseUrl, clock);
  await note('clock', () =>
    skewMs === undefined
      ? notChecked(
          'the service did not respond, or sent no Date header',
          'Compare `date -u` with a clock you trust.',
        )
      : judgeClock(skewMs, isSandbox),
  );
  return skewMs;
}

/** Watermarks follow the service's clock; if that is unknown, they are compared with this machine's. */
async function examineWatermarks(
  { clock, readWatermarks }: Installation,
  readable: Database | undefined,
  skewMs = 0,
): Promise<Judgment> {
  if (!readable) return notChecked('the database cannot be read', 'Fix the database check first.');
  return judgeWatermarks(await readWatermarks(readable), clock.nowMs() - skewMs);
}

async function examineProfiles(installation: Installation, note: Note): Promise<void> {
  let profiles: readonly ProfileFacts[] | undefined;
  await note('business profile', async () => {
    const { chosen, judgment } = chooseProfiles(
      await profilesOf(installation),
      installation.profileId,
      installation.receiver,
    );
    profiles = chosen;
    return judgment;
  });
  const ofProfiles = (judge: (profiles: readonly ProfileFacts[]) => Judgment) => () =>
    profiles === undefined
      ? notChecked('the business profile is unknown', 'Fix the business profile check first.')
      : judge(profiles);
  await note(
    'webhook address',
    ofProfiles((known) => judgeAddresses(known, installation.receiver)),
  );
  await note('signing secret', () =>
    installation.webhookSecrets instanceof Error
      ? notChecked('there is no secret to compare with', 'Set WEBHOOK_SECRETS.')
      : ofProfiles((known) =>
          judgeSecrets(known, installation.readSandboxDeliveries ? 'sandbox' : 'service'),
        )(),
  );
  await note('webhook events', ofProfiles(judgeEvents));
}

/** Checks whether webhooks of the sandbox arrive. Of a real service, alerts watch this. */
async function examineDeliveries(
  { readSandboxDeliveries: read }: Installation,
  readable: Database | undefined,
  note: Note,
): Promise<void> {
  if (!read) return;
  await note('webhook arrival', async () => {
    const last = await read().catch(toError);
    if (last instanceof Error) {
      return notChecked(
        `the sandbox does not show its deliveries (${last.message})`,
        'Fix the API key check first.',
      );
    }
    const [newest] = last;
    const isInInbox =
      newest && readable && (await findEvent(readable, newest.eventId)) !== undefined;
    return judgeDeliveries(last, isInInbox);
  });
}

async function profilesOf({
  settings,
  service,
  merchantId,
  webhookSecrets,
}: Installation): Promise<ProfilesResult> {
  if (!service) {
    const { remedy } = judgeMissingService(settings);
    return { kind: 'not_requested', reason: NO_SERVICE, remedy };
  }
  if (merchantId instanceof Error) {
    return {
      kind: 'not_requested',
      reason: merchantId.message,
      remedy: 'Set PAYMENTS_MERCHANT_ID.',
    };
  }
  const secrets = webhookSecrets instanceof Error ? [] : webhookSecrets;
  return await listProfiles(clientOf(service), merchantId, secrets);
}

function clientOf(service: NonNullable<Installation['service']>): PaymentServiceClient {
  const retry = {
    maxAttempts: 2,
    attemptTimeoutMs: REQUEST_TIMEOUT_MS,
    totalTimeoutMs: 3 * REQUEST_TIMEOUT_MS,
  };
  return createClient({ ...service, retry });
}

async function requestHealth(service: NonNullable<Installation['service']>) {
  try {
    await clientOf(service).health();
    return 'healthy';
  } catch (error) {
    if (error instanceof PaymentServiceError) return error;
    return { httpStatus: undefined, code: undefined, message: toError(error).message };
  }
}

/** Several, because the first may include the time to connect. */
const MEASUREMENTS = 3;

/** This machine's clock minus the database's. */
async function readDatabaseSkewMs(db: Database, clock: Clock): Promise<number> {
  const databaseClock = await openDatabaseClock(db, clock);
  for (let more = 1; more < MEASUREMENTS; more += 1) await databaseClock.measure();
  return databaseClock.skewMs() ?? 0;
}

/**
 * This machine's clock minus the service's, from the `Date` header of any response. The API key is not
 * needed and not sent. @returns undefined without such a header
 */
async function readSkewMs(baseUrl: string, clock: Clock): Promise<number | undefined> {
  try {
    const sentMs = clock.nowMs();
    const response = await fetch(baseUrl, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const middleMs = (sentMs + clock.nowMs()) / 2;
    const serviceMs = Date.parse(response.headers.get('date') ?? '');
    return Number.isNaN(serviceMs) ? undefined : middleMs - serviceMs;
  } catch {
    return undefined;
  }
}
