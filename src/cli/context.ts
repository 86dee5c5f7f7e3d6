/** What commands share: settings, the database, and output. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { openDatabase } from '../assembly/database.ts';
import { type Config, type Environment, loadConfig, readEnvironment } from '../config/config.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { createDatabase, type Database } from '../platform/db/database.ts';
import { openDatabaseClock } from '../platform/db/databaseClock.ts';
import { isDatabaseUnavailable, isForbidden } from '../platform/db/failures.ts';
import { refuseNewerSchema, refusePendingMigrations } from '../platform/db/pendingMigrations.ts';
import { refuseSharedSessions } from '../platform/db/pooler.ts';
import { SQLSTATES } from '../platform/db/sqlStates.ts';
import {
  errorCode,
  fullDisk,
  OperatorError,
  toError,
  UnavailableError,
  UsageError,
} from '../platform/errors.ts';
import { createLog } from '../platform/log.ts';
import { printableJson } from '../platform/printableJson.ts';
import { formatTime } from '../representation/time.ts';
import { invocation, printEscaped, printNote, terminal } from './invocation.ts';

/** The settings as text, not yet validated. */
export function readSettings(): Environment {
  return invocation().env ?? readEnvironment();
}

export function readConfig(): Config {
  return loadConfig(readSettings());
}

/** Commands print their own output to standard output; only errors are logged, and to standard error. */
export const quiet = createLog('error', 'stderr');

/**
 * Opens the database for one command. Starts the embedded one if it is not running.
 * @param needsSession what needs a session of its own, if anything; the address is then one without a pooler
 */
export async function withDatabase<T>(
  config: Config,
  work: (db: Database, databaseUrl: string) => Promise<T>,
  needsSession?: string,
): Promise<T> {
  const isNew = config.databaseUrl === undefined && !existsSync(embeddedFolder(config));
  const opened = await openDatabase(config, quiet, printNote).catch((error: unknown) =>
    explainDatabase(error, config),
  );
  if (isNew) printNote(newDatabaseNote(config));
  const url = (needsSession === undefined ? undefined : config.queueDatabaseUrl) ?? opened.url;
  const db = createDatabase({
    connectionString: url,
    log: quiet,
    applicationName: 'tallyhook-cli',
    maxConnections: 2,
    responseTimeoutMs: 60_000,
    plans: 'any',
  });
  try {
    if (needsSession !== undefined) {
      refuseSharedSessions(await db.examinePooling(), directly(needsSession));
    }
    return await work(db, url);
  } catch (error) {
    if (isOfSchema(error)) {
      await refusePendingMigrations(db);
      await refuseNewerSchema(db);
    }
    return explainDatabase(error, config);
  } finally {
    await db.close();
    await opened.close();
  }
}

const embeddedFolder = ({ dataDir }: Config): string => path.resolve(dataDir, 'postgres');

/** In another folder than that of the installation, every id is unknown and nothing is wrong. */
function newDatabaseNote(config: Config): string {
  return (
    `There was no installation here, so this command created an empty database in ${embeddedFolder(config)}. ` +
    'If you look for an installation, run the command in its folder, or with its DATABASE_URL or DATA_DIR.'
  );
}

function directly(work: string) {
  return { work, remedy: 'Set QUEUE_DATABASE_URL to the PostgreSQL server itself.' };
}

/** The database's clock: what a command stores must not depend on the machine that runs it. */
export function clockOf(db: Database): Promise<Clock> {
  return openDatabaseClock(db, systemClock);
}

const SCHEMA_CODES: ReadonlySet<string> = new Set([
  SQLSTATES.undefined_column,
  SQLSTATES.undefined_function,
  SQLSTATES.undefined_table,
]);

/** Whether a column, function or table does not exist, which suggests that migrations are pending. */
function isOfSchema(error: unknown): boolean {
  return SCHEMA_CODES.has(errorCode(error));
}

/**
 * Turns the error of an unusable database into advice; rethrows everything else.
 * @param setting the setting that names the database
 */
export function explainDatabase(
  error: unknown,
  { databaseUrl, dataDir }: Config,
  setting = 'DATABASE_URL',
): never {
  if (error instanceof OperatorError) throw error;
  const { message } = toError(error);
  if (errorCode(error) === SQLSTATES.disk_full) throw fullDisk(toError(error));
  if (isDatabaseUnavailable(error)) {
    if (databaseUrl === undefined && setting === 'DATABASE_URL') {
      throw new UnavailableError(
        `The embedded PostgreSQL stopped (${message}). Start again. If it stops again, see the end of ` +
          `${path.join(dataDir, 'postgres.log')}.`,
      );
    }
    throw new UnavailableError(
      errorCode(error) === SQLSTATES.read_only_sql_transaction
        ? `The database accepts no writes (${message}). ` +
            '`npx tallyhook doctor` shows why, and what to do.'
        : `The database cannot be reached (${message}). Check ${setting} and that the server is running.`,
    );
  }
  if (isForbidden(error)) {
    throw new OperatorError(
      `The database user may not do this (${message}). Commands need the role tallyhook_app: ` +
        `check ${setting}, and run \`npx tallyhook doctor\` to see the rights of each role.`,
    );
  }
  switch (errorCode(error)) {
    case SQLSTATES.invalid_authorization_specification:
    case SQLSTATES.invalid_password:
      throw new UnavailableError(
        `The database refused the login (${message}). Check the user and the password in ${setting}.`,
      );
    case SQLSTATES.invalid_catalog_name:
      throw new UnavailableError(
        `The database does not exist (${message}). Create it with \`createdb\`, or check ${setting}.`,
      );
    default:
      throw error;
  }
}

/** The error of a command that sends requests to the payment service. */
export function noApiKey(): UsageError {
  return new UsageError(
    'No API key of the payment service is set. Set PAYMENTS_BASE_URL and PAYMENTS_API_KEY.',
  );
}

/** Reads a file named by an argument; `-` is standard input. */
export async function readInput(file: string): Promise<Buffer> {
  try {
    return file === '-' ? await buffer(terminal().stdin) : await readFile(file);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`The file ${file} cannot be read: ${why}`);
  }
}

export function printJson(value: unknown): void {
  printEscaped(printableJson(JSON.stringify(value, null, 2)));
}

/** Prints one of several values, each in a line of its own. */
export function printJsonLine(value: unknown): void {
  printEscaped(printableJson(JSON.stringify(value)));
}

/** A time for people, of microseconds since 1970. */
export function formatMicros(instantMicros: number): string {
  return formatTime(new Date(Math.floor(instantMicros / 1_000)));
}
