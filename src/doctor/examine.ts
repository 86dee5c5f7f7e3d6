/** Looks at everything that an installation needs, one check after the other, and changes nothing. */
import { createClient, type PaymentServiceClient, PaymentServiceError } from '../client/index.ts';
import { MIN_SECRET_BYTES } from '../config/config.ts';
import { readInstallation } from '../ledger/store/installation.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { openDatabaseClock } from '../platform/db/databaseClock.ts';
import { pendingMigrations } from '../platform/db/pendingMigrations.ts';
import { toError } from '../platform/errors.ts';
import { askProfiles } from './askProfiles.ts';
import {
  bad,
  type Judgement,
  judgeAccount,
  judgeClock,
  judgeDatabaseClock,
  judgeKey,
  judgeKeyKind,
  judgePause,
  judgeWatermarks,
  ok,
  type PauseFacts,
  type WatermarkFacts,
} from './domain/judge.ts';
import {
  chooseProfiles,
  judgeAddresses,
  judgeEvents,
  judgeSecrets,
  type OurReceiver,
  type ProfileFacts,
  type ProfilesAnswer,
} from './domain/judgeProfiles.ts';

export interface Check extends Judgement {
  readonly name: string;
}

/** What is examined. A part that is an Error could not be had, and its message says why. */
export interface Patient {
  readonly database: Database | Error;
  readonly probeQueue: () => Promise<void>;
  readonly merchantId: string | Error;
  readonly webhookSecrets: readonly string[] | Error;
  readonly adminTokens: readonly string[] | Error;
  /** Undefined: no key is set. */
  readonly service: { readonly baseUrl: string; readonly apiKey: string } | undefined;
  /** Whether that service is the sandbox beside us. */
  readonly isSandbox: boolean;
  /** Where the service's webhooks are to go. */
  readonly receiver: OurReceiver;
  /** Undefined: all of the account's are looked at. */
  readonly profileId: string | undefined;
  readonly readPause: (db: Database) => Promise<PauseFacts | undefined>;
  readonly readWatermarks: (db: Database) => Promise<readonly WatermarkFacts[]>;
  readonly clock: Clock;
}

const failed = bad('failed');
const warning = bad('warning');
const notChecked = bad('not_checked');

const REQUEST_TIMEOUT_MS = 5_000;

export async function examine(patient: Patient): Promise<readonly Check[]> {
  const checks: Check[] = [];
  const note = async (name: string, check: () => Judgement | Promise<Judgement>) => {
    const judgement = await Promise.resolve()
      .then(check)
      .catch((error: unknown) =>
        failed(
          `it could not be checked: ${toError(error).message}`,
          'Read the message; then try again.',
        ),
      );
    checks.push({ name, ...judgement });
    return judgement.state;
  };
  const database = await note('database', () => checkDatabase(patient.database));
  const readable = await examineDatabase(patient, database === 'ok', note);
  await note('queue', () => checkQueue(patient.probeQueue));
  await note('webhook secrets', () =>
    measured(patient.webhookSecrets, 'secret', 'WEBHOOK_SECRETS'),
  );
  await note('admin token', () => measured(patient.adminTokens, 'token', 'ADMIN_TOKEN'));
  const skewMs = await examineService(patient, note);
  await note('watermarks', () => examineWatermarks(patient, readable, skewMs));
  await examineProfiles(patient, note);
  return checks;
}

type Note = (
  name: string,
  check: () => Judgement | Promise<Judgement>,
) => Promise<Judgement['state']>;

async function checkDatabase(database: Database | Error): Promise<Judgement> {
  const remedy = 'Check DATABASE_URL, that the server runs, and that it lets this machine in.';
  if (database instanceof Error)
    return failed(`it cannot be reached (${database.message})`, remedy);
  try {
    await database.probe();
    return ok('it answers');
  } catch (error) {
    return failed(`it cannot be reached (${toError(error).message})`, remedy);
  }
}

/** @returns the database, where it can be read */
async function examineDatabase(
  { clock, database, merchantId, readPause }: Patient,
  isReached: boolean,
  note: Note,
): Promise<Database | undefined> {
  const unreached = notChecked('the database cannot be reached', 'Mend the database first.');
  const open = isReached && !(database instanceof Error) ? database : undefined;
  await note('database clock', async () =>
    open ? judgeDatabaseClock(await readDatabaseSkewMs(open, clock)) : unreached,
  );
  const migrations = await note('migrations', async () => {
    if (!open) return unreached;
    const pending = await pendingMigrations(open);
    return pending.length === 0
      ? ok('the schema is up to date')
      : failed(
          `${pending.length} are missing: ${pending.join(', ')}`,
          'Run: npx tallyhook migrate',
        );
  });
  const ofSchema = async (judge: (db: Database) => Promise<Judgement>): Promise<Judgement> => {
    if (!open) return unreached;
    return migrations === 'ok'
      ? await judge(open)
      : notChecked('migrations are missing', 'Run: npx tallyhook migrate');
  };
  await note('account', () =>
    merchantId instanceof Error
      ? failed(merchantId.message, 'Set PAYMENTS_MERCHANT_ID.')
      : ofSchema(async (db) => judgeAccount(await readInstallation(db), merchantId)),
  );
  await note('reconciliation', () => ofSchema(async (db) => judgePause(await readPause(db))));
  return migrations === 'ok' ? open : undefined;
}

async function checkQueue(probe: () => Promise<void>): Promise<Judgement> {
  try {
    await probe();
    return ok('it answers');
  } catch (error) {
    return failed(
      `it cannot be reached (${toError(error).message})`,
      'Check REDIS_URL, or leave it out to have the database carry the queue. Nothing is lost meanwhile: events wait in the database.',
    );
  }
}

function measured(list: readonly string[] | Error, what: string, setting: string): Judgement {
  if (list instanceof Error) return failed(list.message, `Set ${setting}.`);
  const count = `${list.length} ${what}${list.length === 1 ? '' : 's'}`;
  return list.every((secret) => Buffer.byteLength(secret) >= MIN_SECRET_BYTES)
    ? ok(`${count}, each long enough`)
    : failed(`${count}, not each long enough`, `Set ${setting}.`);
}

/** @returns this machine's clock less the service's; undefined where that is not known */
async function examineService(
  { service, isSandbox, clock }: Patient,
  note: Note,
): Promise<number | undefined> {
  if (!service) {
    const remedy = 'Set PAYMENTS_BASE_URL and PAYMENTS_API_KEY to have the service asked.';
    await note('API key', () =>
      warning('none is set: webhooks are applied, and nothing is reconciled', remedy),
    );
    await note('key and address', () => notChecked('no key is set', remedy));
    await note('clock', () => notChecked('no service is named that could tell the time', remedy));
    return undefined;
  }
  await note('API key', async () => judgeKey(await askHealth(service), service.baseUrl));
  await note('key and address', () => judgeKeyKind(service.apiKey, service.baseUrl));
  const skewMs = await readSkewMs(service.baseUrl, clock);
  await note('clock', () =>
    skewMs === undefined
      ? notChecked('the service did not tell its time', 'Compare `date -u` with a clock you trust.')
      : judgeClock(skewMs, isSandbox),
  );
  return skewMs;
}

/** Watermarks are times of the service; without its clock they are held against this machine's. */
async function examineWatermarks(
  { clock, readWatermarks }: Patient,
  readable: Database | undefined,
  skewMs = 0,
): Promise<Judgement> {
  if (!readable) return notChecked('the database cannot be read', 'Mend the database first.');
  return judgeWatermarks(await readWatermarks(readable), clock.nowMs() - skewMs);
}

async function examineProfiles(patient: Patient, note: Note): Promise<void> {
  let profiles: readonly ProfileFacts[] | undefined;
  await note('business profile', async () => {
    const { chosen, judgement } = chooseProfiles(
      await profilesOf(patient),
      patient.profileId,
      patient.receiver,
    );
    profiles = chosen;
    return judgement;
  });
  const ofProfiles = (judge: (profiles: readonly ProfileFacts[]) => Judgement) => () =>
    profiles === undefined
      ? notChecked('it is part of the business profile', 'See what is said of that.')
      : judge(profiles);
  await note(
    'webhook address',
    ofProfiles((known) => judgeAddresses(known, patient.receiver)),
  );
  await note('signing secret', () =>
    patient.webhookSecrets instanceof Error
      ? notChecked('there is no secret to compare it with', 'Set WEBHOOK_SECRETS.')
      : ofProfiles(judgeSecrets)(),
  );
  await note('webhook events', ofProfiles(judgeEvents));
}

async function profilesOf({
  service,
  merchantId,
  webhookSecrets,
}: Patient): Promise<ProfilesAnswer> {
  if (!service) {
    const remedy = 'Set PAYMENTS_BASE_URL and PAYMENTS_API_KEY to have the service asked.';
    return { kind: 'unasked', reason: 'no key is set', remedy };
  }
  if (merchantId instanceof Error) {
    return { kind: 'unasked', reason: merchantId.message, remedy: 'Set PAYMENTS_MERCHANT_ID.' };
  }
  const secrets = webhookSecrets instanceof Error ? [] : webhookSecrets;
  return await askProfiles(clientOf(service), merchantId, secrets);
}

function clientOf(service: NonNullable<Patient['service']>): PaymentServiceClient {
  const retry = {
    maxAttempts: 2,
    attemptTimeoutMs: REQUEST_TIMEOUT_MS,
    totalTimeoutMs: 3 * REQUEST_TIMEOUT_MS,
  };
  return createClient({ ...service, retry });
}

async function askHealth(service: NonNullable<Patient['service']>) {
  try {
    await clientOf(service).health();
    return 'healthy';
  } catch (error) {
    if (error instanceof PaymentServiceError) return error;
    return { httpStatus: undefined, code: undefined, message: toError(error).message };
  }
}

/** Of several measurements, since the first may have met a connection that was still to be made. */
const MEASUREMENTS = 3;

/** Our clock less the database's. */
async function readDatabaseSkewMs(db: Database, clock: Clock): Promise<number> {
  const databaseClock = await openDatabaseClock(db, clock);
  for (let more = 1; more < MEASUREMENTS; more += 1) await databaseClock.measure();
  return databaseClock.skewMs() ?? 0;
}

/**
 * Our clock less the service's, which it tells in the `Date` of any answer: the key is not needed for
 * that and is not sent. @returns undefined when it tells none
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
